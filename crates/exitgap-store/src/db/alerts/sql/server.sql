-- The same on a server (a file's is schema.sql), under the same names. Run once, by the role that owns it and
-- cannot log in.
CREATE TABLE exitgap_alerts.schema_version (version bigint PRIMARY KEY);
INSERT INTO exitgap_alerts.schema_version VALUES (1);

CREATE TABLE exitgap_alerts.endpoint (
    id            bigint PRIMARY KEY,
    token         bytea  NOT NULL CHECK (length(token) = 32),
    url           text   COLLATE "C" NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
    host          text   COLLATE "C" NOT NULL,
    salt          bytea  NOT NULL CHECK (length(salt) = 16),
    generation    bigint NOT NULL DEFAULT 1 CHECK (generation >= 1),
    rotated_ms    bigint,
    state         text   NOT NULL CHECK (state IN ('unverified', 'verified', 'disabled')),
    challenge_ms  bigint,
    failures      bigint NOT NULL DEFAULT 0,
    leased_ms     bigint NOT NULL DEFAULT 0,
    failing_ms    bigint,
    said          text,
    UNIQUE (token, url)
);

CREATE INDEX endpoint_asked ON exitgap_alerts.endpoint (challenge_ms) WHERE state = 'unverified';
CREATE INDEX endpoint_host ON exitgap_alerts.endpoint (host);

CREATE TABLE exitgap_alerts.challenged (host text COLLATE "C" NOT NULL, at_ms bigint NOT NULL);
CREATE INDEX challenged_host ON exitgap_alerts.challenged (host, at_ms);

CREATE TABLE exitgap_alerts.alert (
    no           bigint PRIMARY KEY,
    id           text   COLLATE "C" NOT NULL UNIQUE CHECK (length(id) BETWEEN 1 AND 40),
    token        bytea  NOT NULL CHECK (length(token) = 32),
    client       bytea  NOT NULL CHECK (length(client) = 16),
    idempotency  text   COLLATE "C" CHECK (length(idempotency) BETWEEN 1 AND 64),
    request      bytea  NOT NULL CHECK (length(request) = 32),
    rule         bytea  NOT NULL,
    endpoint     bigint REFERENCES exitgap_alerts.endpoint (id),
    created_s    bigint NOT NULL,
    expires_s    bigint NOT NULL,
    ended        text   CHECK (ended IN ('deleted', 'expired', 'retired')),
    ended_s      bigint,
    run          bytea  NOT NULL,
    run_slot     bigint NOT NULL,
    state        text   NOT NULL,
    state_slot   bigint NOT NULL,
    changed      bigint NOT NULL,
    CHECK ((ended IS NULL) = (ended_s IS NULL))
);

CREATE INDEX alert_token ON exitgap_alerts.alert (token);
CREATE INDEX alert_changed ON exitgap_alerts.alert (changed);
CREATE INDEX alert_endpoint ON exitgap_alerts.alert (endpoint) WHERE endpoint IS NOT NULL;
CREATE INDEX alert_live ON exitgap_alerts.alert (client) WHERE ended IS NULL;
CREATE INDEX alert_expires ON exitgap_alerts.alert (expires_s) WHERE ended IS NULL;
CREATE UNIQUE INDEX alert_idempotency ON exitgap_alerts.alert (token, idempotency) WHERE idempotency IS NOT NULL;

CREATE TABLE exitgap_alerts.event (
    alert     bigint NOT NULL,
    seq       bigint NOT NULL CHECK (seq >= 1),
    id        text   NOT NULL,
    type      text   NOT NULL,
    slot      bigint NOT NULL,
    document  bytea  NOT NULL,
    made_s    bigint NOT NULL,
    PRIMARY KEY (alert, seq)
);

CREATE INDEX event_made ON exitgap_alerts.event (made_s);
CREATE INDEX event_slot ON exitgap_alerts.event (alert, slot);

CREATE FUNCTION exitgap_alerts.stays() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0];
END $$;

CREATE TRIGGER event_stays BEFORE UPDATE ON exitgap_alerts.event
    FOR EACH ROW EXECUTE FUNCTION exitgap_alerts.stays('an event is not changed');
ALTER TABLE exitgap_alerts.event ENABLE ALWAYS TRIGGER event_stays;

CREATE TABLE exitgap_alerts.delivery (
    alert      bigint NOT NULL,
    seq        bigint NOT NULL,
    state      text   NOT NULL CHECK (state IN ('pending', 'delivered', 'given_up')),
    due_ms     bigint NOT NULL,
    attempts   bigint NOT NULL DEFAULT 0,
    failures   bigint NOT NULL DEFAULT 0,
    leased_ms  bigint NOT NULL DEFAULT 0,
    said       text,
    PRIMARY KEY (alert, seq)
);

CREATE INDEX delivery_due ON exitgap_alerts.delivery (due_ms) WHERE state = 'pending';
CREATE INDEX delivery_pending ON exitgap_alerts.delivery (alert, seq) WHERE state = 'pending';

CREATE TABLE exitgap_alerts.counter (name text COLLATE "C" PRIMARY KEY, value bigint NOT NULL);
INSERT INTO exitgap_alerts.counter VALUES ('changed', 0), ('evaluated_slot', 0);
