-- The store, schema version 2. Created in one transaction, so that a file holds
-- all of it or nothing.
--
-- Every table is append-only. Two triggers refuse UPDATE and DELETE; a third, before
-- each INSERT, refuses what INSERT OR REPLACE and UPSERT would overwrite, and what
-- would leave a hole. A slot is an instant: slot × 300 s UTC.

PRAGMA application_id = 1163413328; -- 0x45584750, "EXGP"
PRAGMA user_version = 2;

-- The pools of the series, each from the slot in which it was first recorded.
CREATE TABLE pool (
    pool_no             INTEGER PRIMARY KEY, -- stands for the pool in this file only
    pool_id             TEXT    NOT NULL UNIQUE CHECK (length(pool_id) BETWEEN 1 AND 80),
    default_base_token  INTEGER NOT NULL CHECK (default_base_token IN (0, 1)),
    first_slot          INTEGER NOT NULL CHECK (first_slot BETWEEN 5957856 AND 844674335)
) STRICT;

-- Snapshots' canonical bytes by their hash, compressed. A body of level 0 stands alone;
-- any other has the canonical bytes of a body of a lower level as its dictionary.
CREATE TABLE body (
    body_no             INTEGER PRIMARY KEY,
    snapshot_sha256     BLOB    NOT NULL UNIQUE CHECK (length(snapshot_sha256) = 32),
    level               INTEGER NOT NULL CHECK (level BETWEEN 0 AND 3),
    dictionary_body_no  INTEGER REFERENCES body (body_no),
    canonical_bytes     INTEGER NOT NULL CHECK (canonical_bytes BETWEEN 1 AND 4194304),
    zstd                BLOB    NOT NULL,
    CHECK ((level = 0) = (dictionary_body_no IS NULL))
) STRICT;

-- The one log of this store.
CREATE TABLE log (
    log_no        INTEGER PRIMARY KEY CHECK (log_no = 1),
    verifier_key  TEXT    NOT NULL, -- <origin>+<key id>+<base64>; the origin ends with the first slot
    first_slot    INTEGER NOT NULL CHECK (first_slot BETWEEN 5957856 AND 844674335)
) STRICT;

-- One entry per pool and slot, from the pool's first slot on: with the pool's row and the
-- entry before, all that the head's canonical bytes are made of.
CREATE TABLE entry (
    pool_no            INTEGER NOT NULL REFERENCES pool (pool_no),
    slot               INTEGER NOT NULL,
    snapshot_sha256    BLOB    REFERENCES body (snapshot_sha256),
    missing_reason     TEXT,              -- a code of exitgap-core's MissingReason
    recorded_count     INTEGER NOT NULL,  -- snapshots of the pool up to and with this slot
    missing_run_slots  INTEGER NOT NULL,  -- slots since the newest snapshot; 0: this is one
    depth0_usd         INTEGER,           -- selling token 0, whole dollars; NULL: none to tell
    depth1_usd         INTEGER,           -- selling token 1
    lowest0_7d_usd     INTEGER,           -- the lowest depth0_usd of 2,016 slots with this one
    lowest1_7d_usd     INTEGER,
    method_version     TEXT    NOT NULL,  -- the rules behind the depths
    head_sha256        BLOB    NOT NULL CHECK (length(head_sha256) = 32),
    PRIMARY KEY (pool_no, slot),
    CHECK ((snapshot_sha256 IS NULL) <> (missing_reason IS NULL)),
    CHECK ((snapshot_sha256 IS NULL) = (missing_run_slots > 0)),
    CHECK (snapshot_sha256 IS NOT NULL OR coalesce(depth0_usd, depth1_usd) IS NULL)
) STRICT, WITHOUT ROWID;

-- Complete subtrees of the log's Merkle tree (RFC 6962): node i of level l is the root over
-- leaves i × 2^l up to (i + 1) × 2^l. Level 0 are the leaves' hashes.
CREATE TABLE log_node (
    level       INTEGER NOT NULL CHECK (level BETWEEN 0 AND 63),
    node_index  INTEGER NOT NULL CHECK (node_index >= 0),
    sha256      BLOB    NOT NULL CHECK (length(sha256) = 32),
    PRIMARY KEY (level, node_index)
) STRICT, WITHOUT ROWID;

-- A slot whose entries are complete: its leaf, and the first checkpoint that covers it.
-- Written last; nothing may be added to it after.
CREATE TABLE sealed_slot (
    slot        INTEGER PRIMARY KEY CHECK (slot BETWEEN 5957856 AND 844674335),
    pools       INTEGER NOT NULL CHECK (pools > 0),
    heads_root  BLOB    NOT NULL CHECK (length(heads_root) = 32), -- RFC 6962, by pool_id
    checkpoint  TEXT    NOT NULL -- the signed note, as it is published
) STRICT;

CREATE TRIGGER pool_keeps_its_name BEFORE UPDATE OF pool_no, pool_id, first_slot ON pool BEGIN
    SELECT RAISE(ABORT, 'exitgap: a pool keeps its name and its first slot');
END;
CREATE TRIGGER pool_stays BEFORE DELETE ON pool BEGIN
    SELECT RAISE(ABORT, 'exitgap: a pool is never deleted');
END;
CREATE TRIGGER pool_is_new BEFORE INSERT ON pool BEGIN
    SELECT RAISE(ABORT, 'exitgap: the pool is in the store already')
    WHERE EXISTS (SELECT 1 FROM pool WHERE pool_id = NEW.pool_id OR pool_no = NEW.pool_no);
    SELECT RAISE(ABORT, 'exitgap: a pool begins in a slot that is not sealed')
    WHERE EXISTS (SELECT 1 FROM sealed_slot WHERE slot >= NEW.first_slot);
END;

CREATE TRIGGER body_is_not_changed BEFORE UPDATE ON body BEGIN
    SELECT RAISE(ABORT, 'exitgap: a body is never changed');
END;
CREATE TRIGGER body_stays BEFORE DELETE ON body BEGIN
    SELECT RAISE(ABORT, 'exitgap: a body is never deleted');
END;
CREATE TRIGGER body_is_new BEFORE INSERT ON body BEGIN
    SELECT RAISE(ABORT, 'exitgap: the body is in the store already')
    WHERE EXISTS (
        SELECT 1 FROM body
        WHERE snapshot_sha256 = NEW.snapshot_sha256 OR body_no = NEW.body_no
    );
    SELECT RAISE(ABORT, 'exitgap: a dictionary has a lower level')
    WHERE NEW.level > 0 AND NOT EXISTS (
        SELECT 1 FROM body WHERE body_no = NEW.dictionary_body_no AND level < NEW.level
    );
END;

CREATE TRIGGER entry_is_not_changed BEFORE UPDATE ON entry BEGIN
    SELECT RAISE(ABORT, 'exitgap: an entry is never changed');
END;
CREATE TRIGGER entry_stays BEFORE DELETE ON entry BEGIN
    SELECT RAISE(ABORT, 'exitgap: an entry is never deleted');
END;
CREATE TRIGGER entry_follows BEFORE INSERT ON entry BEGIN
    SELECT RAISE(ABORT, 'exitgap: the slot is sealed')
    WHERE EXISTS (SELECT 1 FROM sealed_slot WHERE slot >= NEW.slot);
    SELECT RAISE(ABORT, 'exitgap: the pool has an entry for the slot already')
    WHERE EXISTS (SELECT 1 FROM entry WHERE pool_no = NEW.pool_no AND slot = NEW.slot);
    -- With recorded_count and missing_run_slots counted on from the entry before.
    SELECT RAISE(ABORT, 'exitgap: an entry follows the one before it')
    WHERE NOT EXISTS (
        SELECT 1 FROM entry AS before
        WHERE before.pool_no = NEW.pool_no
            AND before.slot = NEW.slot - 1
            AND NEW.recorded_count = before.recorded_count + (NEW.missing_reason IS NULL)
            AND NEW.missing_run_slots =
                iif(NEW.missing_reason IS NULL, 0, before.missing_run_slots + 1)
    ) AND NOT EXISTS (
        SELECT 1 FROM pool
        WHERE pool.pool_no = NEW.pool_no
            AND pool.first_slot = NEW.slot
            AND NEW.recorded_count = (NEW.missing_reason IS NULL)
            AND NEW.missing_run_slots = (NEW.missing_reason IS NOT NULL)
    );
END;

CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log BEGIN
    SELECT RAISE(ABORT, 'exitgap: a log keeps its name and its key');
END;
CREATE TRIGGER log_stays BEFORE DELETE ON log BEGIN
    SELECT RAISE(ABORT, 'exitgap: a log is never deleted');
END;
CREATE TRIGGER log_is_new BEFORE INSERT ON log BEGIN
    SELECT RAISE(ABORT, 'exitgap: the store has its log already')
    WHERE EXISTS (SELECT 1 FROM log) OR EXISTS (SELECT 1 FROM sealed_slot);
END;

CREATE TRIGGER log_node_is_not_changed BEFORE UPDATE ON log_node BEGIN
    SELECT RAISE(ABORT, 'exitgap: a node of the log is never changed');
END;
CREATE TRIGGER log_node_stays BEFORE DELETE ON log_node BEGIN
    SELECT RAISE(ABORT, 'exitgap: a node of the log is never deleted');
END;
CREATE TRIGGER log_node_follows BEFORE INSERT ON log_node BEGIN
    SELECT RAISE(ABORT, 'exitgap: the node is in the store already')
    WHERE EXISTS (
        SELECT 1 FROM log_node WHERE level = NEW.level AND node_index = NEW.node_index
    );
    SELECT RAISE(ABORT, 'exitgap: a leaf of the log is that of the slot to be sealed')
    WHERE NEW.level = 0 AND NEW.node_index IS NOT coalesce(
        (SELECT max(slot) FROM sealed_slot) - (SELECT first_slot FROM log) + 1, 0
    );
    SELECT RAISE(ABORT, 'exitgap: a node of the log stands over two others')
    WHERE NEW.level > 0 AND NOT EXISTS (
        SELECT 1 FROM log_node
        WHERE level = NEW.level - 1 AND node_index = 2 * NEW.node_index + 1
    );
END;

CREATE TRIGGER sealed_slot_is_not_changed BEFORE UPDATE ON sealed_slot BEGIN
    SELECT RAISE(ABORT, 'exitgap: a sealed slot is never changed');
END;
CREATE TRIGGER sealed_slot_stays BEFORE DELETE ON sealed_slot BEGIN
    SELECT RAISE(ABORT, 'exitgap: a sealed slot is never deleted');
END;
CREATE TRIGGER sealed_slot_follows BEFORE INSERT ON sealed_slot BEGIN
    SELECT RAISE(ABORT, 'exitgap: a sealed slot follows the one before it')
    WHERE NEW.slot IS NOT
        coalesce((SELECT max(slot) + 1 FROM sealed_slot), (SELECT first_slot FROM log));
    SELECT RAISE(ABORT, 'exitgap: a slot is sealed with its leaf in the log')
    WHERE NOT EXISTS (
        SELECT 1 FROM log_node
        WHERE level = 0 AND node_index = NEW.slot - (SELECT first_slot FROM log)
    );
    SELECT RAISE(ABORT, 'exitgap: a slot is sealed with one entry for every pool')
    WHERE NEW.pools <> (SELECT count(*) FROM pool) OR NEW.pools <> (
        -- CROSS JOIN fixes the order: pool by pool, not through every entry there is.
        SELECT count(*) FROM pool CROSS JOIN entry USING (pool_no) WHERE entry.slot = NEW.slot
    );
END;
