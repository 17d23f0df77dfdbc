-- Rules that are kept for others, what they said, and what of it was sent. Bytes as they are; times in Unix
-- seconds (_s) or milliseconds (_ms). Events follow from rules and the log: this file may be lost and they are not.
PRAGMA application_id = 0x4558414c; -- EXAL
PRAGMA user_version = 1;

-- Where events are sent: one for each owner and address.
CREATE TABLE endpoint (
    id INTEGER NOT NULL PRIMARY KEY,
    -- SHA-256 of the owner's token.
    token BLOB NOT NULL CHECK (length(token) = 32),
    url TEXT NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
    host TEXT NOT NULL,
    -- What its keys are derived with, and how often they were changed.
    salt BLOB NOT NULL CHECK (length(salt) = 16),
    generation INTEGER NOT NULL DEFAULT 1 CHECK (generation >= 1),
    rotated_ms INTEGER,
    state TEXT NOT NULL CHECK (state IN ('unverified', 'verified', 'disabled')),
    -- When it is asked next whether it wants events; NULL: only when its owner says so.
    challenge_ms INTEGER,
    -- How often that is known to have failed.
    failures INTEGER NOT NULL DEFAULT 0,
    leased_ms INTEGER NOT NULL DEFAULT 0,
    -- Since when nothing but failures came of it, and the last of them.
    failing_ms INTEGER,
    said TEXT,
    UNIQUE (token, url)
);

CREATE INDEX endpoint_asked ON endpoint (challenge_ms) WHERE state = 'unverified';
CREATE INDEX endpoint_host ON endpoint (host);

-- When hosts were asked: so many times an hour, whoever wants it.
CREATE TABLE challenged (host TEXT NOT NULL, at_ms INTEGER NOT NULL);
CREATE INDEX challenged_host ON challenged (host, at_ms);

CREATE TABLE alert (
    no INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (length(id) BETWEEN 1 AND 40),
    token BLOB NOT NULL CHECK (length(token) = 32),
    -- Who made it, keyed and cut: for counting only.
    client BLOB NOT NULL CHECK (length(client) = 16),
    -- The caller's own name for the request that made it, and the hash of what was asked with it.
    idempotency TEXT CHECK (length(idempotency) BETWEEN 1 AND 64),
    request BLOB NOT NULL CHECK (length(request) = 32),
    rule BLOB NOT NULL,
    endpoint INTEGER REFERENCES endpoint (id),
    created_s INTEGER NOT NULL,
    expires_s INTEGER NOT NULL,
    ended TEXT CHECK (ended IN ('deleted', 'expired', 'retired')),
    ended_s INTEGER,
    -- What is kept of its run, and the last slot in it: now and then.
    run BLOB NOT NULL,
    run_slot INTEGER NOT NULL,
    -- Where it stands, whenever that changes.
    state TEXT NOT NULL,
    state_slot INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    CHECK ((ended IS NULL) = (ended_s IS NULL))
);

CREATE INDEX alert_token ON alert (token);
CREATE INDEX alert_changed ON alert (changed);
CREATE INDEX alert_endpoint ON alert (endpoint) WHERE endpoint IS NOT NULL;
CREATE INDEX alert_live ON alert (client) WHERE ended IS NULL;
CREATE INDEX alert_expires ON alert (expires_s) WHERE ended IS NULL;
CREATE UNIQUE INDEX alert_idempotency ON alert (token, idempotency) WHERE idempotency IS NOT NULL;

CREATE TABLE event (
    alert INTEGER NOT NULL,
    seq INTEGER NOT NULL CHECK (seq >= 1),
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    slot INTEGER NOT NULL,
    document BLOB NOT NULL,
    made_s INTEGER NOT NULL,
    PRIMARY KEY (alert, seq)
) WITHOUT ROWID;

CREATE INDEX event_made ON event (made_s);
CREATE INDEX event_slot ON event (alert, slot);

-- An event, once made, stays as it is: whoever makes it again makes the same.
CREATE TRIGGER event_stays BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'an event is not changed'); END;

CREATE TABLE delivery (
    alert INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'given_up')),
    due_ms INTEGER NOT NULL,
    -- How often it was taken, and how often that is known to have failed: who was ended on the way did not fail.
    attempts INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    leased_ms INTEGER NOT NULL DEFAULT 0,
    said TEXT,
    PRIMARY KEY (alert, seq)
) WITHOUT ROWID;

CREATE INDEX delivery_due ON delivery (due_ms) WHERE state = 'pending';
-- The first that waits of a rule is found at once, however many came before it.
CREATE INDEX delivery_pending ON delivery (alert, seq) WHERE state = 'pending';

CREATE TABLE counter (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counter VALUES ('changed', 0), ('evaluated_slot', 0);
