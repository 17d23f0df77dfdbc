-- The store on a server, schema version 11: the tables of a file's (`sqlite/sql/schema.sql`), under the same
-- names. Run once, in one transaction, by the role that owns them and cannot log in.
--
-- Every table is append-only but the derived ones and the recorder's own at the end. Whoever records may not
-- update, delete or truncate it, and triggers refuse it to everybody: they are ALWAYS enabled, since the
-- ordinary ones are passed over where session_replication_role is replica. Another, before each INSERT,
-- refuses what would leave a hole. Every table is written with its schema, and functions look for what they call in
-- pg_catalog alone, so that nobody's search_path puts something else in its place. A slot is an instant: slot × 300 s UTC.

-- Which migrations were run.
CREATE TABLE exitgap.schema_version (
    version  bigint PRIMARY KEY
);

-- Who seals: whoever took it last, until it runs out by the server's clock. Each taking counts one up, and from
-- then on nothing that the one before writes is accepted.
CREATE TABLE exitgap.sealer (
    sealer_no  bigint      PRIMARY KEY CHECK (sealer_no = 1),
    owner      text        NOT NULL,
    epoch      bigint      NOT NULL,
    until      timestamptz NOT NULL
);
INSERT INTO exitgap.sealer VALUES (1, 'nobody', 0, '-infinity');

-- What is about to be signed, written before it is: whoever seals next after a failure seals the same. Rows of
-- sealed slots may go.
CREATE TABLE exitgap.claim (
    size        bigint PRIMARY KEY CHECK (size > 0), -- of the log, with the slot
    slot        bigint NOT NULL,
    checkpoint  text   NOT NULL, -- what is signed
    manifest    bytea  NOT NULL  -- the slot's, its checkpoint without a signature
);

-- The files that the manifest names, as they are published.
CREATE TABLE exitgap.claim_file (
    size   bigint NOT NULL,
    path   text   NOT NULL,
    bytes  bytea  NOT NULL,
    PRIMARY KEY (size, path)
);
ALTER TABLE exitgap.claim_file ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Recorders that share the reading, each until its time runs out.
CREATE TABLE exitgap.attending (
    recorder  text        PRIMARY KEY CHECK (length(recorder) BETWEEN 1 AND 400),
    until     timestamptz NOT NULL
);

-- Shards of the pools, and who reads each: as with the sealer, each taking counts one up.
CREATE TABLE exitgap.shard (
    shard  text        PRIMARY KEY CHECK (length(shard) BETWEEN 1 AND 200),
    owner  text        NOT NULL,
    epoch  bigint      NOT NULL,
    until  timestamptz NOT NULL
);

-- The newest slot of which no further reading is accepted.
CREATE TABLE exitgap.frozen (
    frozen_no  bigint PRIMARY KEY CHECK (frozen_no = 1),
    slot       bigint NOT NULL
);
INSERT INTO exitgap.frozen VALUES (1, 0);

-- What was read of a shard at a slot that is not sealed yet. Rows of sealed slots may go.
CREATE TABLE exitgap.reading (
    slot   bigint NOT NULL CHECK (slot BETWEEN 5957856 AND 844674335),
    shard  text   NOT NULL,
    epoch  bigint NOT NULL,
    bytes  bytea  NOT NULL,
    PRIMARY KEY (slot, shard)
);
ALTER TABLE exitgap.reading ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- The pools of the series, each from the slot in which it was first recorded.
CREATE TABLE exitgap.pool (
    pool_no             bigint  PRIMARY KEY, -- stands for the pool in this database only
    -- In the order of its bytes, as a file has it.
    pool_id             text    COLLATE "C" NOT NULL UNIQUE CHECK (length(pool_id) BETWEEN 1 AND 110),
    default_base_token  bigint  NOT NULL CHECK (default_base_token IN (0, 1)),
    first_slot          bigint  NOT NULL CHECK (first_slot BETWEEN 5957856 AND 844674335)
);

-- Snapshots by their hash, each with the state that it names: the canonical bytes of both, one
-- after the other, compressed. A body of level 0 stands alone; any other has the bytes of a body of
-- a lower level as its dictionary.
CREATE TABLE exitgap.body (
    body_no             bigint  NOT NULL,
    slot                bigint  NOT NULL, -- of the snapshot
    snapshot_sha256     bytea   NOT NULL CHECK (length(snapshot_sha256) = 32),
    state_sha256        bytea   NOT NULL CHECK (length(state_sha256) = 32),
    level               bigint  NOT NULL CHECK (level BETWEEN 0 AND 3),
    dictionary_body_no  bigint,
    snapshot_bytes      bigint  NOT NULL CHECK (snapshot_bytes BETWEEN 1 AND 131072),
    state_bytes         bigint  NOT NULL CHECK (state_bytes BETWEEN 1 AND 4194304),
    zstd                bytea   NOT NULL,
    CHECK ((level = 0) = (dictionary_body_no IS NULL)),
    PRIMARY KEY (body_no, slot),
    UNIQUE (snapshot_sha256, slot)
) PARTITION BY RANGE (slot); -- a UTC day each: a day's bodies refer to no other day's, and leave together

-- It is compressed already.
ALTER TABLE exitgap.body ALTER COLUMN zstd SET STORAGE EXTERNAL;

-- States are asked for by their hash, too; several snapshots may be of one.
CREATE INDEX body_by_state ON exitgap.body (state_sha256);

-- Days whose bodies left the database: they are in the day's files.
CREATE TABLE exitgap.left_day (
    day     bigint  PRIMARY KEY, -- since 1970-01-01
    bodies  bigint  NOT NULL     -- how many there were
);

-- Where snapshots of these days are, by the first eight bytes of their names and of their states'.
CREATE TABLE exitgap.left_body (
    snapshot_name  bigint  NOT NULL,
    state_name     bigint  NOT NULL,
    pool_no        bigint  NOT NULL,
    slot           bigint  NOT NULL
);
-- By the day, too, so that a day is named in one place of them.
CREATE INDEX left_body_by_snapshot ON exitgap.left_body ((slot / 288), snapshot_name);
CREATE INDEX left_body_by_state ON exitgap.left_body ((slot / 288), state_name);

-- The one log of this store.
CREATE TABLE exitgap.log (
    log_no        bigint  PRIMARY KEY CHECK (log_no = 1),
    verifier_key  text NOT NULL, -- <origin>+<key id>+<base64>; the origin ends with the first slot
    first_slot    bigint  NOT NULL CHECK (first_slot BETWEEN 5957856 AND 844674335)
);

-- Keys that the log got after its first one, in the order in which they came: each signed beside one
-- that the log had.
CREATE TABLE exitgap.log_key (
    key_no        bigint  PRIMARY KEY CHECK (key_no >= 2),
    verifier_key  text NOT NULL -- <origin>+<key id>+<base64>
);

-- The log that this one succeeds, where it does: its first leaf commits to the document. Known
-- before the log begins.
CREATE TABLE exitgap.predecessor (
    log_no  bigint  PRIMARY KEY CHECK (log_no = 1),
    document  text NOT NULL -- the text of the lost log's last checkpoint: origin, size, root
);

-- One entry per pool and slot, from the pool's first slot on until it retires: with the
-- pool's row, the entry before and what it retracts, all that the head's canonical bytes are
-- made of. Neither a snapshot nor a reason: the pool retires in this slot.
CREATE TABLE exitgap.entry (
    pool_no            bigint  NOT NULL,
    slot               bigint  NOT NULL,
    snapshot_sha256    bytea,
    missing_reason     text,              -- a code of exitgap-core's MissingReason
    recorded_count     bigint  NOT NULL,  -- snapshots up to and with this slot, less the retracted
    missing_run_slots  bigint  NOT NULL,  -- slots since the newest snapshot; 0: this is one
    depth0_usd         bigint ,           -- selling token 0, whole dollars; NULL: none to tell
    depth1_usd         bigint ,           -- selling token 1
    lowest0_7d_usd     bigint ,           -- the lowest depth0_usd of 2,016 slots with this one
    lowest1_7d_usd     bigint ,
    method_version     text NOT NULL,  -- the rules behind the depths
    fills_sha256       bytea   CHECK (length(fills_sha256) = 32), -- what the head commits to: a row of fills
    issued_sha256      bytea   CHECK (length(issued_sha256) = 32), -- likewise: a row of issued
    head_sha256        bytea   NOT NULL CHECK (length(head_sha256) = 32),
    PRIMARY KEY (pool_no, slot),
    CHECK (snapshot_sha256 IS NULL OR missing_reason IS NULL),
    CHECK ((snapshot_sha256 IS NULL) = (missing_run_slots > 0)),
    CHECK (snapshot_sha256 IS NOT NULL OR coalesce(depth0_usd, depth1_usd) IS NULL)
);

-- Slots taken back: their block is not on the chain that became final, or a later full reading
-- proved their ticks wrong. Named by the pool's head of by_slot, and never otherwise.
CREATE TABLE exitgap.retraction (
    pool_no        bigint  NOT NULL,
    slot           bigint  NOT NULL,
    by_slot        bigint  NOT NULL,
    code           text NOT NULL CHECK (code IN ('orphaned', 'misread')),
    orphaned_hash  bytea   CHECK (length(orphaned_hash) = 32),
    canonical_hash bytea   CHECK (length(canonical_hash) = 32),
    PRIMARY KEY (pool_no, slot),
    CHECK (by_slot - slot BETWEEN 1 AND 288),
    CHECK (orphaned_hash <> canonical_hash),
    CHECK ((code = 'orphaned') = (orphaned_hash IS NOT NULL)),
    CHECK ((code = 'orphaned') = (canonical_hash IS NOT NULL))
);

-- What pools logged in the blocks after one and up to another, each document named by the pool's head
-- of its slot, and never otherwise. A pool's documents follow each other; one of no blocks begins anew.
CREATE TABLE exitgap.fills (
    pool_no         bigint  NOT NULL,
    slot            bigint  NOT NULL,
    after_block     bigint  NOT NULL CHECK (after_block >= 0),
    to_block        bigint  NOT NULL,
    document_bytes  bigint  NOT NULL CHECK (document_bytes BETWEEN 1 AND 4194304),
    zstd            bytea   NOT NULL,
    PRIMARY KEY (pool_no, slot),
    CHECK (after_block <= to_block)
);

-- The receipts of estimates of a pool that were paid for, each document named by the pool's head of its slot, and
-- never otherwise.
CREATE TABLE exitgap.issued (
    pool_no         bigint  NOT NULL,
    slot            bigint  NOT NULL,
    document_bytes  bigint  NOT NULL CHECK (document_bytes BETWEEN 1 AND 524288),
    zstd            bytea   NOT NULL,
    PRIMARY KEY (pool_no, slot)
);

-- Pools that are monitored no longer, each with the slot of its last entry.
CREATE TABLE exitgap.retirement (
    pool_no  bigint  PRIMARY KEY,
    slot     bigint  NOT NULL
);

-- Slots whose recorded ticks are in doubt: a full reading for found_slot was not what had been
-- followed by logs since the full reading before first_slot. This store's own knowledge: no head
-- says it, and a store that is restored from the log does not have it.
CREATE TABLE exitgap.doubt (
    pool_no     bigint  NOT NULL,
    found_slot  bigint  NOT NULL,
    first_slot  bigint  NOT NULL,
    last_slot   bigint  NOT NULL,
    PRIMARY KEY (pool_no, found_slot),
    CHECK (first_slot <= last_slot AND last_slot < found_slot)
);

-- Complete subtrees of the log's Merkle tree (RFC 6962): node i of level l is the root over
-- leaves i × 2^l up to (i + 1) × 2^l. Level 0 are the leaves' hashes.
CREATE TABLE exitgap.log_node (
    level       bigint  NOT NULL CHECK (level BETWEEN 0 AND 63),
    node_index  bigint  NOT NULL CHECK (node_index >= 0),
    sha256      bytea   NOT NULL CHECK (length(sha256) = 32),
    PRIMARY KEY (level, node_index)
);

-- A slot whose entries are complete: its leaf, and the first checkpoint that covers it.
-- Written last; nothing may be added to it after.
CREATE TABLE exitgap.sealed_slot (
    slot        bigint  PRIMARY KEY CHECK (slot BETWEEN 5957856 AND 844674335),
    pools       bigint  NOT NULL CHECK (pools > 0),
    heads_root  bytea   NOT NULL CHECK (length(heads_root) = 32), -- RFC 6962, by pool_id
    checkpoint  text NOT NULL -- the signed note, as it is published
);

-- The tree over a sealed slot's heads, in tiles: the hashes of 256 heads each (level 0), by pool_id,
-- and, where there is more than one tile, the roots of all of them (level 1). So that a proof of one
-- head needs no other head.
CREATE TABLE exitgap.slot_tile (
    slot        bigint  NOT NULL,
    level       bigint  NOT NULL CHECK (level IN (0, 1)),
    tile_index  bigint  NOT NULL CHECK (tile_index >= 0),
    hashes      bytea   NOT NULL CHECK (length(hashes) > 0 AND length(hashes) % 32 = 0),
    PRIMARY KEY (slot, level, tile_index)
);

-- Sealed slots whose checkpoint was shown to witnesses: until there is a row of cosigned, what they answer is
-- awaited.
CREATE TABLE exitgap.cosigning (
    slot  bigint  PRIMARY KEY
);

-- What witnesses signed beside the log's own key before the slot was published; nothing that came later.
CREATE TABLE exitgap.cosigned (
    slot    bigint  PRIMARY KEY,
    lines   text NOT NULL CHECK (length(lines) <= 16384), -- signature lines, each with its line break
    sha256  bytea NOT NULL CHECK (length(sha256) = 32)     -- over the slot's number, four bytes, and the lines
);

-- What is never done to a table, with why: to be the function of a trigger.
CREATE FUNCTION exitgap.refuse() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'exitgap: %', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;

-- Refuses who no longer seals, and keeps another from taking over until the transaction ends.
CREATE FUNCTION exitgap.seals() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM exitgap.sealer
    WHERE epoch = nullif(current_setting('exitgap.epoch', true), '')::bigint FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'exitgap: another recorder has taken over' USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    RETURN NULL;
END $$;

-- Refuses to take a lease over without counting up, and to count back.
CREATE FUNCTION exitgap.counts_up() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.epoch NOT IN (OLD.epoch, OLD.epoch + 1) OR (NEW.epoch = OLD.epoch AND NEW.owner <> OLD.owner) THEN
        RAISE EXCEPTION 'exitgap: whoever takes over counts one up' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER sealer_counts_up BEFORE UPDATE ON exitgap.sealer
    FOR EACH ROW EXECUTE FUNCTION exitgap.counts_up();
CREATE TRIGGER sealer_stays BEFORE DELETE OR TRUNCATE ON exitgap.sealer
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('who seals is never forgotten');

-- How many slots are sealed.
CREATE FUNCTION exitgap.log_size() RETURNS bigint
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce(
        (SELECT max(slot) FROM exitgap.sealed_slot) - (SELECT first_slot FROM exitgap.log) + 1, 0
    );
END $$;

CREATE FUNCTION exitgap.claim_stays() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.size > exitgap.log_size() THEN
        RAISE EXCEPTION 'exitgap: a claim stays until its slot is sealed' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER claim_stays BEFORE DELETE ON exitgap.claim FOR EACH ROW EXECUTE FUNCTION exitgap.claim_stays();
CREATE TRIGGER claim_file_stays BEFORE DELETE ON exitgap.claim_file FOR EACH ROW EXECUTE FUNCTION exitgap.claim_stays();
CREATE TRIGGER claim_is_not_changed BEFORE UPDATE OR TRUNCATE ON exitgap.claim
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a claim is never changed');
CREATE TRIGGER claim_file_is_not_changed BEFORE UPDATE OR TRUNCATE ON exitgap.claim_file
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a claim is never changed');
CREATE TRIGGER claim_file_by_who_seals BEFORE INSERT ON exitgap.claim_file
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.seals();
CREATE TRIGGER claim_by_who_seals BEFORE INSERT ON exitgap.claim
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.seals();
-- A reading is of who reads its shard, in time, and within two days of what nobody seals: whoever freezes the slot waits for those that are being written, and
-- then reads what no other comes to.
CREATE FUNCTION exitgap.reading_counts() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM exitgap.shard WHERE shard = NEW.shard AND epoch = NEW.epoch FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'exitgap: another recorder reads the shard' USING ERRCODE = 'EG001';
    END IF;
    PERFORM FROM exitgap.frozen WHERE slot < NEW.slot FOR SHARE;
    IF NOT FOUND OR EXISTS (SELECT FROM exitgap.sealed_slot WHERE slot >= NEW.slot)
        OR NEW.slot > (SELECT min(slot) FROM exitgap.reading) + 576 THEN
        RAISE EXCEPTION 'exitgap: the slot is taken as it was read before' USING ERRCODE = 'EG002';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER reading_counts BEFORE INSERT ON exitgap.reading
    FOR EACH ROW EXECUTE FUNCTION exitgap.reading_counts();
CREATE FUNCTION exitgap.reading_stays() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM exitgap.sealed_slot WHERE slot >= OLD.slot) THEN
        RAISE EXCEPTION 'exitgap: a reading stays until its slot is sealed' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER reading_stays BEFORE DELETE ON exitgap.reading
    FOR EACH ROW EXECUTE FUNCTION exitgap.reading_stays();
CREATE TRIGGER reading_is_not_changed BEFORE UPDATE OR TRUNCATE ON exitgap.reading
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a reading is never changed');
CREATE TRIGGER shard_counts_up BEFORE UPDATE ON exitgap.shard
    FOR EACH ROW EXECUTE FUNCTION exitgap.counts_up();
CREATE TRIGGER shard_stays BEFORE DELETE OR TRUNCATE ON exitgap.shard
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('who reads a shard is never forgotten');
CREATE FUNCTION exitgap.frozen_goes_on() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.slot < OLD.slot OR NEW.frozen_no <> OLD.frozen_no THEN
        RAISE EXCEPTION 'exitgap: what is frozen stays so' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER frozen_goes_on BEFORE UPDATE ON exitgap.frozen
    FOR EACH ROW EXECUTE FUNCTION exitgap.frozen_goes_on();
CREATE TRIGGER frozen_by_who_seals BEFORE UPDATE ON exitgap.frozen
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.seals();
CREATE TRIGGER frozen_stays BEFORE DELETE OR TRUNCATE ON exitgap.frozen
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('what is frozen is never forgotten');

CREATE TRIGGER log_by_who_seals BEFORE INSERT ON exitgap.log
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.seals();
CREATE TRIGGER log_key_by_who_seals BEFORE INSERT ON exitgap.log_key
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.seals();
CREATE TRIGGER predecessor_by_who_seals BEFORE INSERT ON exitgap.predecessor
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.seals();
CREATE TRIGGER cosigned_by_who_seals BEFORE INSERT ON exitgap.cosigned
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.seals();
CREATE TRIGGER sealed_slot_by_who_seals BEFORE INSERT ON exitgap.sealed_slot
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.seals();
CREATE TRIGGER pool_stays BEFORE DELETE OR TRUNCATE ON exitgap.pool
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a pool is never deleted');
CREATE TRIGGER pool_keeps_its_name BEFORE UPDATE OF pool_no, pool_id, first_slot ON exitgap.pool
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a pool keeps its name and its first slot');
CREATE TRIGGER body_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.body
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a body is never changed or deleted');
CREATE TRIGGER left_day_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.left_day
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('what has left stays named');
CREATE TRIGGER left_body_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.left_body
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('what has left stays named');
CREATE TRIGGER entry_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.entry
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('an entry is never changed or deleted');
CREATE TRIGGER retraction_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.retraction
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a retraction is never changed or deleted');
CREATE TRIGGER fills_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.fills
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('fills are never changed or deleted');
CREATE TRIGGER issued_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.issued
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('issued estimates are never changed or deleted');
CREATE TRIGGER doubt_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.doubt
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a doubt is never changed or deleted');
CREATE TRIGGER retirement_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.retirement
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a retirement is final');
CREATE TRIGGER log_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.log
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a log keeps its name and its key');
CREATE TRIGGER log_key_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.log_key
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a log keeps its keys');
CREATE TRIGGER predecessor_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.predecessor
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a log keeps its predecessor');
CREATE TRIGGER log_node_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.log_node
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a node of the log is never changed or deleted');
CREATE TRIGGER cosigning_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.cosigning
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('what is shown to witnesses stays so');
CREATE TRIGGER cosigned_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.cosigned
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('cosignatures are never changed or deleted');
CREATE TRIGGER slot_tile_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.slot_tile
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a tile of a slot is never changed or deleted');
CREATE TRIGGER sealed_slot_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.sealed_slot
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse('a sealed slot is never changed or deleted');

CREATE FUNCTION exitgap.pool_is_new() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM exitgap.pool WHERE pool_id = NEW.pool_id OR pool_no = NEW.pool_no) THEN
        RAISE EXCEPTION 'exitgap: the pool is in the store already' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM exitgap.sealed_slot WHERE slot >= NEW.first_slot) THEN
        RAISE EXCEPTION 'exitgap: a pool begins in a slot that is not sealed' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER pool_is_new BEFORE INSERT ON exitgap.pool FOR EACH ROW EXECUTE FUNCTION exitgap.pool_is_new();

CREATE FUNCTION exitgap.body_is_new() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- A snapshot names its slot, so that another slot's has another name.
    IF EXISTS (
        SELECT FROM exitgap.body
        WHERE slot = NEW.slot AND (snapshot_sha256 = NEW.snapshot_sha256 OR body_no = NEW.body_no)
    ) THEN
        RAISE EXCEPTION 'exitgap: the body is in the store already' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.level > 0 AND NOT EXISTS (
        SELECT FROM exitgap.body
        WHERE body_no = NEW.dictionary_body_no AND level < NEW.level
            AND slot BETWEEN NEW.slot / 288 * 288 AND NEW.slot - 1
    ) THEN
        RAISE EXCEPTION 'exitgap: a dictionary has a lower level and is of an earlier slot of the day' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER body_is_new BEFORE INSERT ON exitgap.body FOR EACH ROW EXECUTE FUNCTION exitgap.body_is_new();

-- Makes the place of a day's bodies, for whoever may add some: of the next slot's day and of the one after it.
CREATE FUNCTION exitgap.make_day(of_day bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place text := format('body_%s', of_day);
    next bigint := (SELECT max(slot) + 1 FROM exitgap.sealed_slot) / 288;
BEGIN
    IF to_regclass('exitgap.' || place) IS NOT NULL THEN
        RETURN;
    END IF;
    -- Before the first slot any day may be the first one's; the one of no slot is the schema's own.
    IF of_day NOT BETWEEN next AND next + 1
        OR (next IS NULL AND of_day <> 0 AND of_day NOT BETWEEN 20687 AND 2932896) THEN
        RAISE EXCEPTION 'exitgap: no slot of the day can be next' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    -- One after the other; whoever only reads cannot take it.
    LOCK TABLE exitgap.left_day IN SHARE ROW EXCLUSIVE MODE;
    IF to_regclass('exitgap.' || place) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE exitgap.%I (LIKE exitgap.body INCLUDING ALL)', place);
    EXECUTE format(
        'CREATE TRIGGER body_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON exitgap.%I '
        'FOR EACH STATEMENT EXECUTE FUNCTION exitgap.refuse(%L)', place, 'a body is never changed or deleted'
    );
    EXECUTE format('ALTER TABLE exitgap.%I ENABLE ALWAYS TRIGGER body_stays', place);
    EXECUTE format(
        'ALTER TABLE exitgap.body ATTACH PARTITION exitgap.%I FOR VALUES FROM (%s) TO (%s)',
        place, of_day * 288, (of_day + 1) * 288
    );
END $$;

-- Has the bodies of a day leave, which are in the day's files, and tells how many there were: for the owner alone, of the log
-- with this key, whose last slot of the day has this checkpoint. The oldest day goes first. Whoever reads is kept waiting for three
-- seconds at most.
CREATE FUNCTION exitgap.leave_day(of_day bigint, verifier_key text, checkpoint text) RETURNS bigint
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place text := format('body_%s', of_day);
    gone bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM exitgap.log WHERE log.verifier_key = leave_day.verifier_key)
        OR NOT EXISTS (
            SELECT FROM exitgap.sealed_slot
            WHERE slot = of_day * 288 + 287 AND sealed_slot.checkpoint = leave_day.checkpoint
        ) THEN
        RAISE EXCEPTION 'exitgap: this is another database than the one whose day was checked' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    -- Seven days of it may be read again, and a day closes a day after its end.
    IF (of_day + 8) * 288 > (SELECT max(slot) FROM exitgap.sealed_slot) THEN
        RAISE EXCEPTION 'exitgap: the bodies of the last eight days stay' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (
        SELECT FROM pg_class JOIN pg_inherits ON inhrelid = pg_class.oid
        WHERE inhparent = 'exitgap.body'::regclass
            AND substring(relname FROM '^body_([0-9]+)$')::bigint
                BETWEEN (SELECT first_slot FROM exitgap.log) / 288 AND of_day - 1
    ) THEN
        RAISE EXCEPTION 'exitgap: days leave in their order' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    INSERT INTO exitgap.left_body
    SELECT
        ('x' || encode(substr(body.snapshot_sha256, 1, 8), 'hex'))::bit(64)::bigint,
        ('x' || encode(substr(body.state_sha256, 1, 8), 'hex'))::bit(64)::bigint,
        pool.pool_no, body.slot
    FROM exitgap.pool
    JOIN exitgap.entry ON entry.pool_no = pool.pool_no
    JOIN exitgap.body ON body.snapshot_sha256 = entry.snapshot_sha256 AND body.slot = entry.slot
    WHERE entry.slot BETWEEN of_day * 288 AND of_day * 288 + 287
        AND body.slot BETWEEN of_day * 288 AND of_day * 288 + 287;
    EXECUTE format('SELECT count(*) FROM exitgap.%I', place) INTO gone;
    IF gone <> (
        SELECT count(DISTINCT (slot, snapshot_name)) FROM exitgap.left_body WHERE slot / 288 = of_day
    ) THEN
        RAISE EXCEPTION 'exitgap: some bodies of the day are of no entry' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    -- Longer than it takes to have an automatic vacuum give way.
    PERFORM set_config('lock_timeout', '1500ms', true);
    FOR attempt IN 1..60 LOOP
        BEGIN
            LOCK TABLE exitgap.left_day IN SHARE ROW EXCLUSIVE MODE;
            INSERT INTO exitgap.left_day VALUES (of_day, gone);
            EXECUTE format('ALTER TABLE exitgap.body DETACH PARTITION exitgap.%I', place);
            EXECUTE format('DROP TABLE exitgap.%I', place);
            RETURN gone;
        EXCEPTION WHEN lock_not_available THEN
            PERFORM pg_sleep(0.5);
        END;
    END LOOP;
    RAISE EXCEPTION 'exitgap: the bodies are being read all the time' USING ERRCODE = 'lock_not_available';
END $$;

CREATE FUNCTION exitgap.entry_follows() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM exitgap.sealed_slot WHERE slot >= NEW.slot) THEN
        RAISE EXCEPTION 'exitgap: the slot is sealed' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM exitgap.entry WHERE pool_no = NEW.pool_no AND slot = NEW.slot) THEN
        RAISE EXCEPTION 'exitgap: the pool has an entry for the slot already' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM exitgap.retirement WHERE pool_no = NEW.pool_no AND slot < NEW.slot) THEN
        RAISE EXCEPTION 'exitgap: a retired pool has no further entries' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.snapshot_sha256 IS NOT NULL AND NOT EXISTS (
        SELECT FROM exitgap.body WHERE snapshot_sha256 = NEW.snapshot_sha256 AND slot = NEW.slot
    ) THEN
        RAISE EXCEPTION 'exitgap: the snapshot of an entry is in the store' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF (NEW.fills_sha256 IS NOT NULL) <> EXISTS (
        SELECT FROM exitgap.fills WHERE pool_no = NEW.pool_no AND slot = NEW.slot
    ) THEN
        RAISE EXCEPTION 'exitgap: a head commits to the fills that are there, and to no others' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF (NEW.issued_sha256 IS NOT NULL) <> EXISTS (
        SELECT FROM exitgap.issued WHERE pool_no = NEW.pool_no AND slot = NEW.slot
    ) THEN
        RAISE EXCEPTION 'exitgap: a head commits to the issued estimates that are there, and to no others' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF (NEW.snapshot_sha256 IS NULL AND NEW.missing_reason IS NULL) <> EXISTS (
        SELECT FROM exitgap.retirement WHERE pool_no = NEW.pool_no AND slot = NEW.slot
    ) THEN
        RAISE EXCEPTION 'exitgap: an entry is recorded, missing, or the last of a retired pool' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    -- With recorded_count and missing_run_slots counted on from the entry before.
    IF NOT EXISTS (
        SELECT FROM exitgap.entry AS before
        WHERE before.pool_no = NEW.pool_no
            AND before.slot = NEW.slot - 1
            AND NEW.recorded_count = before.recorded_count
                + CASE WHEN NEW.snapshot_sha256 IS NULL THEN 0 ELSE 1 END - (
                SELECT count(*) FROM exitgap.retraction
                WHERE pool_no = NEW.pool_no
                    AND slot BETWEEN NEW.slot - 288 AND NEW.slot - 1
                    AND by_slot = NEW.slot
            )
            AND NEW.missing_run_slots =
                CASE WHEN NEW.snapshot_sha256 IS NULL THEN before.missing_run_slots + 1 ELSE 0 END
    ) AND NOT EXISTS (
        SELECT FROM exitgap.pool
        WHERE pool.pool_no = NEW.pool_no
            AND pool.first_slot = NEW.slot
            AND NEW.recorded_count = CASE WHEN NEW.snapshot_sha256 IS NULL THEN 0 ELSE 1 END
            AND NEW.missing_run_slots = CASE WHEN NEW.snapshot_sha256 IS NULL THEN 1 ELSE 0 END
    ) THEN
        RAISE EXCEPTION 'exitgap: an entry follows the one before it' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER entry_follows BEFORE INSERT ON exitgap.entry FOR EACH ROW EXECUTE FUNCTION exitgap.entry_follows();

CREATE FUNCTION exitgap.retraction_is_new() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM exitgap.sealed_slot WHERE slot >= NEW.by_slot)
        OR EXISTS (SELECT FROM exitgap.entry WHERE pool_no = NEW.pool_no AND slot = NEW.by_slot) THEN
        RAISE EXCEPTION 'exitgap: the slot is sealed' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM exitgap.retraction WHERE pool_no = NEW.pool_no AND slot = NEW.slot) THEN
        RAISE EXCEPTION 'exitgap: a slot is retracted once' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NOT EXISTS (
        SELECT FROM exitgap.entry
        WHERE pool_no = NEW.pool_no AND slot = NEW.slot AND snapshot_sha256 IS NOT NULL
    ) THEN
        RAISE EXCEPTION 'exitgap: only a recorded slot is retracted' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER retraction_is_new BEFORE INSERT ON exitgap.retraction FOR EACH ROW EXECUTE FUNCTION exitgap.retraction_is_new();

CREATE FUNCTION exitgap.fills_follow() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM exitgap.pool WHERE pool_no = NEW.pool_no) THEN
        RAISE EXCEPTION 'exitgap: the pool is not in the store' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM exitgap.sealed_slot WHERE slot >= NEW.slot)
        OR EXISTS (SELECT FROM exitgap.entry WHERE pool_no = NEW.pool_no AND slot = NEW.slot) THEN
        RAISE EXCEPTION 'exitgap: the slot is sealed' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM exitgap.fills WHERE pool_no = NEW.pool_no AND slot = NEW.slot) THEN
        RAISE EXCEPTION 'exitgap: the fills are in the store already' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.after_block < (
        SELECT to_block FROM exitgap.fills
        WHERE pool_no = NEW.pool_no AND slot < NEW.slot ORDER BY slot DESC LIMIT 1
    ) THEN
        RAISE EXCEPTION 'exitgap: fills follow those before them' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fills_follow BEFORE INSERT ON exitgap.fills FOR EACH ROW EXECUTE FUNCTION exitgap.fills_follow();

CREATE FUNCTION exitgap.issued_is_new() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM exitgap.pool WHERE pool_no = NEW.pool_no) THEN
        RAISE EXCEPTION 'exitgap: the pool is not in the store' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM exitgap.sealed_slot WHERE slot >= NEW.slot)
        OR EXISTS (SELECT FROM exitgap.entry WHERE pool_no = NEW.pool_no AND slot = NEW.slot) THEN
        RAISE EXCEPTION 'exitgap: the slot is sealed' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM exitgap.issued WHERE pool_no = NEW.pool_no AND slot = NEW.slot) THEN
        RAISE EXCEPTION 'exitgap: the issued estimates are in the store already' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER issued_is_new BEFORE INSERT ON exitgap.issued FOR EACH ROW EXECUTE FUNCTION exitgap.issued_is_new();

CREATE FUNCTION exitgap.doubt_is_new() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM exitgap.pool WHERE pool_no = NEW.pool_no) THEN
        RAISE EXCEPTION 'exitgap: the pool is not in the store' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM exitgap.doubt WHERE pool_no = NEW.pool_no AND found_slot = NEW.found_slot) THEN
        RAISE EXCEPTION 'exitgap: the doubt is in the store already' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER doubt_is_new BEFORE INSERT ON exitgap.doubt FOR EACH ROW EXECUTE FUNCTION exitgap.doubt_is_new();

CREATE FUNCTION exitgap.retirement_is_new() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM exitgap.sealed_slot WHERE slot >= NEW.slot)
        OR EXISTS (SELECT FROM exitgap.entry WHERE pool_no = NEW.pool_no AND slot = NEW.slot) THEN
        RAISE EXCEPTION 'exitgap: the slot is sealed' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM exitgap.retirement WHERE pool_no = NEW.pool_no)
        OR NOT EXISTS (SELECT FROM exitgap.pool WHERE pool_no = NEW.pool_no AND first_slot < NEW.slot) THEN
        RAISE EXCEPTION 'exitgap: a pool retires once, and not before it began' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER retirement_is_new BEFORE INSERT ON exitgap.retirement FOR EACH ROW EXECUTE FUNCTION exitgap.retirement_is_new();

CREATE FUNCTION exitgap.log_is_new() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM exitgap.log) OR EXISTS (SELECT FROM exitgap.sealed_slot) THEN
        RAISE EXCEPTION 'exitgap: the store has its log already' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER log_is_new BEFORE INSERT ON exitgap.log FOR EACH ROW EXECUTE FUNCTION exitgap.log_is_new();

CREATE FUNCTION exitgap.log_key_follows() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM exitgap.log)
        OR NEW.key_no IS DISTINCT FROM coalesce((SELECT max(key_no) FROM exitgap.log_key), 1) + 1 THEN
        RAISE EXCEPTION 'exitgap: the keys of a log are numbered from its first one, which is 1' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER log_key_follows BEFORE INSERT ON exitgap.log_key FOR EACH ROW EXECUTE FUNCTION exitgap.log_key_follows();

CREATE FUNCTION exitgap.predecessor_is_new() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM exitgap.predecessor) OR EXISTS (SELECT FROM exitgap.log) THEN
        RAISE EXCEPTION 'exitgap: a log names its predecessor once, and before its first slot' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER predecessor_is_new BEFORE INSERT ON exitgap.predecessor FOR EACH ROW EXECUTE FUNCTION exitgap.predecessor_is_new();

CREATE FUNCTION exitgap.log_node_follows() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM exitgap.log_node WHERE level = NEW.level AND node_index = NEW.node_index
    ) THEN
        RAISE EXCEPTION 'exitgap: the node is in the store already' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.level = 0 AND NEW.node_index IS DISTINCT FROM coalesce(
        (SELECT max(slot) FROM exitgap.sealed_slot) - (SELECT first_slot FROM exitgap.log) + 1, 0
    ) THEN
        RAISE EXCEPTION 'exitgap: a leaf of the log is that of the slot to be sealed' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.level > 0 AND NOT EXISTS (
        SELECT FROM exitgap.log_node
        WHERE level = NEW.level - 1 AND node_index = 2 * NEW.node_index + 1
    ) THEN
        RAISE EXCEPTION 'exitgap: a node of the log stands over two others' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER log_node_follows BEFORE INSERT ON exitgap.log_node FOR EACH ROW EXECUTE FUNCTION exitgap.log_node_follows();

CREATE FUNCTION exitgap.cosigning_begins_with_its_slot() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM exitgap.sealed_slot WHERE slot >= NEW.slot)
        OR EXISTS (SELECT FROM exitgap.cosigning WHERE slot >= NEW.slot) THEN
        RAISE EXCEPTION 'exitgap: a slot is shown to witnesses from when it is sealed, or never' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER cosigning_begins_with_its_slot BEFORE INSERT ON exitgap.cosigning FOR EACH ROW EXECUTE FUNCTION exitgap.cosigning_begins_with_its_slot();

CREATE FUNCTION exitgap.cosigned_once() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM exitgap.cosigned WHERE slot >= NEW.slot)
        OR NOT EXISTS (SELECT FROM exitgap.cosigning WHERE slot = NEW.slot)
        OR NEW.slot IS DISTINCT FROM (SELECT max(slot) FROM exitgap.sealed_slot) THEN
        RAISE EXCEPTION 'exitgap: only the newest slot is cosigned, once, and only where that is awaited' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER cosigned_once BEFORE INSERT ON exitgap.cosigned FOR EACH ROW EXECUTE FUNCTION exitgap.cosigned_once();

CREATE FUNCTION exitgap.slot_tile_is_new() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM exitgap.sealed_slot WHERE slot >= NEW.slot) THEN
        RAISE EXCEPTION 'exitgap: the slot is sealed' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (
        SELECT FROM exitgap.slot_tile
        WHERE slot = NEW.slot AND level = NEW.level AND tile_index = NEW.tile_index
    ) THEN
        RAISE EXCEPTION 'exitgap: the tile is in the store already' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER slot_tile_is_new BEFORE INSERT ON exitgap.slot_tile FOR EACH ROW EXECUTE FUNCTION exitgap.slot_tile_is_new();

CREATE FUNCTION exitgap.sealed_slot_follows() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.slot IS DISTINCT FROM
        coalesce((SELECT max(slot) + 1 FROM exitgap.sealed_slot), (SELECT first_slot FROM exitgap.log)) THEN
        RAISE EXCEPTION 'exitgap: a sealed slot follows the one before it' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NOT EXISTS (
        SELECT FROM exitgap.log_node
        WHERE level = 0 AND node_index = NEW.slot - (SELECT first_slot FROM exitgap.log)
    ) THEN
        RAISE EXCEPTION 'exitgap: a slot is sealed with its leaf in the log' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (
        SELECT FROM exitgap.claim
        WHERE size = NEW.slot - (SELECT first_slot FROM exitgap.log) + 1
            AND NOT starts_with(NEW.checkpoint, checkpoint)
    ) THEN
        RAISE EXCEPTION 'exitgap: another checkpoint was claimed for the slot' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.pools <> (SELECT count(*) FROM exitgap.pool)
        - (SELECT count(*) FROM exitgap.retirement WHERE slot < NEW.slot)
        -- Pool by pool, not through every entry there is.
        OR NEW.pools <> (
            SELECT sum((
                SELECT count(*) FROM exitgap.entry WHERE entry.pool_no = pool.pool_no AND entry.slot = NEW.slot
            )) FROM exitgap.pool
        ) THEN
        RAISE EXCEPTION 'exitgap: a slot is sealed with one entry for every pool' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER sealed_slot_follows BEFORE INSERT ON exitgap.sealed_slot FOR EACH ROW EXECUTE FUNCTION exitgap.sealed_slot_follows();

-- What follows from entries, retractions and bodies, kept because answers need it fast. The
-- recorder writes it in the slot's transaction; `fsck` compares it, `fsck --rebuild` makes it
-- anew. A gap is millionths of a percent, or, above 2^62, why the size has none: 2^62 rounds to no
-- input, 1 more rounds to no output, 2 more out of a percentage's range, 16 more and the most that can
-- be filled, in millionths of a dollar, where it lies beyond liquidity. 0 and 1 are the token sold; 1k
-- to 1m the size in USD. A window is the 2,016 slots up to and with the
-- row's own, retracted ones skipped.

-- Per pool and slot, also a missing one.
CREATE TABLE exitgap.figures (
    pool_no           bigint  NOT NULL,
    slot              bigint  NOT NULL,
    oracle_stale      bigint , -- NULL, as all gaps and bases: no snapshot
    gap0_1k           bigint ,
    gap0_10k          bigint ,
    gap0_100k         bigint ,
    gap0_1m           bigint ,
    basis0            bigint , -- millionths of a percent; NULL also where out of range
    book0_usd         bigint , -- depth from the pool's own mid price; NULL: its search was given up
    gap1_1k           bigint ,
    gap1_10k          bigint ,
    gap1_100k         bigint ,
    gap1_1m           bigint ,
    basis1            bigint ,
    book1_usd         bigint ,
    missing_7d_slots  bigint  NOT NULL,
    median0_7d_usd    bigint , -- of the window's depths; NULL: it has none
    median1_7d_usd    bigint ,
    lowest0_7d_back   bigint , -- slots back to the earliest of the lowest depths
    lowest1_7d_back   bigint ,
    PRIMARY KEY (pool_no, slot)
);

-- Per UTC day and pool: what is recorded and not retracted. A slot is counted within its day,
-- from 0; where several are equal it is the earliest. The worst gap is the worst number, NULL
-- where every slot refused; least is the least that could be filled, of slots where the size lies
-- beyond liquidity.
CREATE TABLE exitgap.day (
    day                  bigint  NOT NULL, -- since 1970-01-01
    pool_no              bigint  NOT NULL,
    recorded_slots       bigint  NOT NULL,
    missing_slots        bigint  NOT NULL,
    retracted_slots      bigint  NOT NULL,
    last_at              bigint , -- the newest recorded slot; NULL, as all below: there is none
    lowest0_usd          bigint ,
    lowest0_at           bigint ,
    last0_1k             bigint ,
    worst0_1k            bigint ,
    worst0_1k_at         bigint ,
    refused0_1k_slots    bigint ,
    least0_1k_micros     bigint ,
    least0_1k_at         bigint ,
    last0_10k            bigint ,
    worst0_10k           bigint ,
    worst0_10k_at        bigint ,
    refused0_10k_slots   bigint ,
    least0_10k_micros    bigint ,
    least0_10k_at        bigint ,
    last0_100k           bigint ,
    worst0_100k          bigint ,
    worst0_100k_at       bigint ,
    refused0_100k_slots  bigint ,
    least0_100k_micros   bigint ,
    least0_100k_at       bigint ,
    last0_1m             bigint ,
    worst0_1m            bigint ,
    worst0_1m_at         bigint ,
    refused0_1m_slots    bigint ,
    least0_1m_micros     bigint ,
    least0_1m_at         bigint ,
    lowest1_usd          bigint ,
    lowest1_at           bigint ,
    last1_1k             bigint ,
    worst1_1k            bigint ,
    worst1_1k_at         bigint ,
    refused1_1k_slots    bigint ,
    least1_1k_micros     bigint ,
    least1_1k_at         bigint ,
    last1_10k            bigint ,
    worst1_10k           bigint ,
    worst1_10k_at        bigint ,
    refused1_10k_slots   bigint ,
    least1_10k_micros    bigint ,
    least1_10k_at        bigint ,
    last1_100k           bigint ,
    worst1_100k          bigint ,
    worst1_100k_at       bigint ,
    refused1_100k_slots  bigint ,
    least1_100k_micros   bigint ,
    least1_100k_at       bigint ,
    last1_1m             bigint ,
    worst1_1m            bigint ,
    worst1_1m_at         bigint ,
    refused1_1m_slots    bigint ,
    least1_1m_micros     bigint ,
    least1_1m_at         bigint ,
    figures_sha256       bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'), -- a chain over the day's rows of figures
    PRIMARY KEY (day, pool_no)
);

-- Where each pool stands at its newest entry.
CREATE TABLE exitgap.standing (
    pool_no           bigint  PRIMARY KEY,
    slot              bigint  NOT NULL, -- of the newest entry
    missing_reason    text,             -- its reason; NULL: recorded, or retired
    recorded_count    bigint  NOT NULL,
    newest_slot       bigint ,          -- newest recorded and not retracted; NULL: none
    newer_missing     bigint  NOT NULL, -- slots after it
    newer_retracted   bigint  NOT NULL,
    missing_7d_slots  bigint  NOT NULL,
    oracle_stale      bigint ,          -- of newest_slot, as depths, gaps, bases and books
    depth0_usd        bigint ,
    gap0_1k           bigint ,
    gap0_10k          bigint ,
    gap0_100k         bigint ,
    gap0_1m           bigint ,
    basis0            bigint ,
    book0_usd         bigint ,
    depth1_usd        bigint ,
    gap1_1k           bigint ,
    gap1_10k          bigint ,
    gap1_100k         bigint ,
    gap1_1m           bigint ,
    basis1            bigint ,
    book1_usd         bigint ,
    median0_7d_usd    bigint ,
    lowest0_7d_usd    bigint ,
    lowest0_slot      bigint ,
    lowest0_basis     bigint ,          -- basis0 and missing_7d_slots of that slot
    lowest0_missing   bigint ,
    median1_7d_usd    bigint ,
    lowest1_7d_usd    bigint ,
    lowest1_slot      bigint ,
    lowest1_basis     bigint ,
    lowest1_missing   bigint
);

-- What the recorder has still to do about earlier slots; changed as it goes on.

-- The first slot of each chain whose blocks were not asked for again.
CREATE TABLE exitgap.recheck (
    chain      text    COLLATE "C" PRIMARY KEY,
    next_slot  bigint  NOT NULL
);

-- Slots whose block was said to be orphaned: once, or, where confirmed, twice, so that the next
-- head takes them back.
CREATE TABLE exitgap.suspicion (
    pool_no         bigint  NOT NULL,
    slot            bigint  NOT NULL,
    seen_by_slot    bigint  NOT NULL, -- the newest slot when it was first said
    confirmed       bigint  NOT NULL CHECK (confirmed IN (0, 1)),
    canonical_hash  bytea   NOT NULL CHECK (length(canonical_hash) = 32),
    PRIMARY KEY (pool_no, slot)
);
CREATE TRIGGER recheck_by_who_seals BEFORE INSERT OR UPDATE OR DELETE ON exitgap.recheck
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.seals();
CREATE TRIGGER suspicion_by_who_seals BEFORE INSERT OR UPDATE OR DELETE ON exitgap.suspicion
    FOR EACH STATEMENT EXECUTE FUNCTION exitgap.seals();

-- Also where session_replication_role is replica.
DO $$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT tgname, tgrelid::regclass AS of_table FROM pg_catalog.pg_trigger
        WHERE NOT tgisinternal AND tgrelid IN (
            SELECT oid FROM pg_catalog.pg_class WHERE relnamespace = 'exitgap'::regnamespace
        )
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', found.of_table, found.tgname);
    END LOOP;
END $$;

-- The day of no slot: what every day's place is made of, as the description of the schema has it.
SELECT exitgap.make_day(0);
