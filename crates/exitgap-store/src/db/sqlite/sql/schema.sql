-- The store, schema version 11; `migrations` has what later versions add. Created in one transaction, so that a file holds
-- all of it or nothing.
--
-- Every table is append-only but the derived ones and the recorder's own at the end. Two triggers refuse UPDATE
-- and DELETE; a third, before each INSERT, refuses what INSERT OR REPLACE and UPSERT would
-- overwrite, and what would leave a hole. A slot is an instant: slot × 300 s UTC.

PRAGMA application_id = 1163413328; -- 0x45584750, "EXGP"
PRAGMA user_version = 11;

-- The pools of the series, each from the slot in which it was first recorded.
CREATE TABLE pool (
    pool_no             INTEGER PRIMARY KEY, -- stands for the pool in this file only
    pool_id             TEXT    NOT NULL UNIQUE CHECK (length(pool_id) BETWEEN 1 AND 110),
    default_base_token  INTEGER NOT NULL CHECK (default_base_token IN (0, 1)),
    first_slot          INTEGER NOT NULL CHECK (first_slot BETWEEN 5957856 AND 844674335)
) STRICT;

-- Snapshots by their hash, each with the state that it names: the canonical bytes of both, one
-- after the other, compressed. A body of level 0 stands alone; any other has the bytes of a body of
-- a lower level as its dictionary.
CREATE TABLE body (
    body_no             INTEGER PRIMARY KEY,
    slot                INTEGER NOT NULL, -- of the snapshot
    snapshot_sha256     BLOB    NOT NULL UNIQUE CHECK (length(snapshot_sha256) = 32),
    state_sha256        BLOB    NOT NULL CHECK (length(state_sha256) = 32),
    level               INTEGER NOT NULL CHECK (level BETWEEN 0 AND 3),
    dictionary_body_no  INTEGER REFERENCES body (body_no),
    snapshot_bytes      INTEGER NOT NULL CHECK (snapshot_bytes BETWEEN 1 AND 131072),
    state_bytes         INTEGER NOT NULL CHECK (state_bytes BETWEEN 1 AND 4194304),
    zstd                BLOB    NOT NULL,
    CHECK ((level = 0) = (dictionary_body_no IS NULL))
) STRICT;

-- States are asked for by their hash, too; several snapshots may be of one.
CREATE INDEX body_by_state ON body (state_sha256);

-- The one log of this store.
CREATE TABLE log (
    log_no        INTEGER PRIMARY KEY CHECK (log_no = 1),
    verifier_key  TEXT    NOT NULL, -- <origin>+<key id>+<base64>; the origin ends with the first slot
    first_slot    INTEGER NOT NULL CHECK (first_slot BETWEEN 5957856 AND 844674335)
) STRICT;

-- Keys that the log got after its first one, in the order in which they came: each signed beside one
-- that the log had.
CREATE TABLE log_key (
    key_no        INTEGER PRIMARY KEY CHECK (key_no >= 2),
    verifier_key  TEXT    NOT NULL -- <origin>+<key id>+<base64>
) STRICT;

-- The log that this one succeeds, where it does: its first leaf commits to the document. Known
-- before the log begins.
CREATE TABLE predecessor (
    log_no  INTEGER PRIMARY KEY CHECK (log_no = 1),
    document  TEXT  NOT NULL -- the text of the lost log's last checkpoint: origin, size, root
) STRICT;

-- One entry per pool and slot, from the pool's first slot on until it retires: with the
-- pool's row, the entry before and what it retracts, all that the head's canonical bytes are
-- made of. Neither a snapshot nor a reason: the pool retires in this slot.
CREATE TABLE entry (
    pool_no            INTEGER NOT NULL REFERENCES pool (pool_no),
    slot               INTEGER NOT NULL,
    snapshot_sha256    BLOB    REFERENCES body (snapshot_sha256),
    missing_reason     TEXT,              -- a code of exitgap-core's MissingReason
    recorded_count     INTEGER NOT NULL,  -- snapshots up to and with this slot, less the retracted
    missing_run_slots  INTEGER NOT NULL,  -- slots since the newest snapshot; 0: this is one
    depth0_usd         INTEGER,           -- selling token 0, whole dollars; NULL: none to tell
    depth1_usd         INTEGER,           -- selling token 1
    lowest0_7d_usd     INTEGER,           -- the lowest depth0_usd of 2,016 slots with this one
    lowest1_7d_usd     INTEGER,
    method_version     TEXT    NOT NULL,  -- the rules behind the depths
    fills_sha256       BLOB    CHECK (length(fills_sha256) = 32), -- what the head commits to: a row of fills
    issued_sha256      BLOB    CHECK (length(issued_sha256) = 32), -- likewise: a row of issued
    head_sha256        BLOB    NOT NULL CHECK (length(head_sha256) = 32),
    PRIMARY KEY (pool_no, slot),
    CHECK (snapshot_sha256 IS NULL OR missing_reason IS NULL),
    CHECK ((snapshot_sha256 IS NULL) = (missing_run_slots > 0)),
    CHECK (snapshot_sha256 IS NOT NULL OR coalesce(depth0_usd, depth1_usd) IS NULL)
) STRICT, WITHOUT ROWID;

-- Slots taken back: their block is not on the chain that became final, or a later full reading
-- proved their ticks wrong. Named by the pool's head of by_slot, and never otherwise.
CREATE TABLE retraction (
    pool_no        INTEGER NOT NULL,
    slot           INTEGER NOT NULL,
    by_slot        INTEGER NOT NULL,
    code           TEXT    NOT NULL CHECK (code IN ('orphaned', 'misread')),
    orphaned_hash  BLOB    CHECK (length(orphaned_hash) = 32),
    canonical_hash BLOB    CHECK (length(canonical_hash) = 32),
    PRIMARY KEY (pool_no, slot),
    FOREIGN KEY (pool_no, slot) REFERENCES entry (pool_no, slot),
    CHECK (by_slot - slot BETWEEN 1 AND 288),
    CHECK (orphaned_hash <> canonical_hash),
    CHECK ((code = 'orphaned') = (orphaned_hash IS NOT NULL)),
    CHECK ((code = 'orphaned') = (canonical_hash IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- What pools logged in the blocks after one and up to another, each document named by the pool's head
-- of its slot, and never otherwise. A pool's documents follow each other; one of no blocks begins anew.
CREATE TABLE fills (
    pool_no         INTEGER NOT NULL REFERENCES pool (pool_no),
    slot            INTEGER NOT NULL,
    after_block     INTEGER NOT NULL CHECK (after_block >= 0),
    to_block        INTEGER NOT NULL,
    document_bytes  INTEGER NOT NULL CHECK (document_bytes BETWEEN 1 AND 4194304),
    zstd            BLOB    NOT NULL,
    PRIMARY KEY (pool_no, slot),
    CHECK (after_block <= to_block)
) STRICT, WITHOUT ROWID;

-- The receipts of estimates of a pool that were paid for, each document named by the pool's head of its slot, and
-- never otherwise.
CREATE TABLE issued (
    pool_no         INTEGER NOT NULL REFERENCES pool (pool_no),
    slot            INTEGER NOT NULL,
    document_bytes  INTEGER NOT NULL CHECK (document_bytes BETWEEN 1 AND 524288),
    zstd            BLOB    NOT NULL,
    PRIMARY KEY (pool_no, slot)
) STRICT, WITHOUT ROWID;

-- Pools that are monitored no longer, each with the slot of its last entry.
CREATE TABLE retirement (
    pool_no  INTEGER PRIMARY KEY REFERENCES pool (pool_no),
    slot     INTEGER NOT NULL
) STRICT;

-- Slots whose recorded ticks are in doubt: a full reading for found_slot was not what had been
-- followed by logs since the full reading before first_slot. This store's own knowledge: no head
-- says it, and a store that is restored from the log does not have it.
CREATE TABLE doubt (
    pool_no     INTEGER NOT NULL REFERENCES pool (pool_no),
    found_slot  INTEGER NOT NULL,
    first_slot  INTEGER NOT NULL,
    last_slot   INTEGER NOT NULL,
    PRIMARY KEY (pool_no, found_slot),
    CHECK (first_slot <= last_slot AND last_slot < found_slot)
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

-- The tree over a sealed slot's heads, in tiles: the hashes of 256 heads each (level 0), by pool_id,
-- and, where there is more than one tile, the roots of all of them (level 1). So that a proof of one
-- head needs no other head.
CREATE TABLE slot_tile (
    slot        INTEGER NOT NULL,
    level       INTEGER NOT NULL CHECK (level IN (0, 1)),
    tile_index  INTEGER NOT NULL CHECK (tile_index >= 0),
    hashes      BLOB    NOT NULL CHECK (length(hashes) > 0 AND length(hashes) % 32 = 0),
    PRIMARY KEY (slot, level, tile_index)
) STRICT;

-- Sealed slots whose checkpoint was shown to witnesses: until there is a row of cosigned, what they answer is
-- awaited.
CREATE TABLE cosigning (
    slot  INTEGER PRIMARY KEY
) STRICT;

-- What witnesses signed beside the log's own key before the slot was published; nothing that came later.
CREATE TABLE cosigned (
    slot    INTEGER PRIMARY KEY,
    lines   TEXT NOT NULL CHECK (length(lines) <= 16384), -- signature lines, each with its line break
    sha256  BLOB NOT NULL CHECK (length(sha256) = 32)     -- over the slot's number, four bytes, and the lines
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
    SELECT RAISE(ABORT, 'exitgap: a dictionary has a lower level and is of an earlier slot of the day')
    WHERE NEW.level > 0 AND NOT EXISTS (
        SELECT 1 FROM body
        WHERE body_no = NEW.dictionary_body_no AND level < NEW.level
            AND slot BETWEEN NEW.slot - 287 AND NEW.slot - 1
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
    SELECT RAISE(ABORT, 'exitgap: a retired pool has no further entries')
    WHERE EXISTS (SELECT 1 FROM retirement WHERE pool_no = NEW.pool_no AND slot < NEW.slot);
    SELECT RAISE(ABORT, 'exitgap: a head commits to the fills that are there, and to no others')
    WHERE (NEW.fills_sha256 IS NOT NULL) <> EXISTS (
        SELECT 1 FROM fills WHERE pool_no = NEW.pool_no AND slot = NEW.slot
    );
    SELECT RAISE(ABORT, 'exitgap: a head commits to the issued estimates that are there, and to no others')
    WHERE (NEW.issued_sha256 IS NOT NULL) <> EXISTS (
        SELECT 1 FROM issued WHERE pool_no = NEW.pool_no AND slot = NEW.slot
    );
    SELECT RAISE(ABORT, 'exitgap: an entry is recorded, missing, or the last of a retired pool')
    WHERE (NEW.snapshot_sha256 IS NULL AND NEW.missing_reason IS NULL) <> EXISTS (
        SELECT 1 FROM retirement WHERE pool_no = NEW.pool_no AND slot = NEW.slot
    );
    -- With recorded_count and missing_run_slots counted on from the entry before.
    SELECT RAISE(ABORT, 'exitgap: an entry follows the one before it')
    WHERE NOT EXISTS (
        SELECT 1 FROM entry AS before
        WHERE before.pool_no = NEW.pool_no
            AND before.slot = NEW.slot - 1
            AND NEW.recorded_count = before.recorded_count + (NEW.snapshot_sha256 IS NOT NULL) - (
                SELECT count(*) FROM retraction
                WHERE pool_no = NEW.pool_no
                    AND slot BETWEEN NEW.slot - 288 AND NEW.slot - 1
                    AND by_slot = NEW.slot
            )
            AND NEW.missing_run_slots =
                iif(NEW.snapshot_sha256 IS NULL, before.missing_run_slots + 1, 0)
    ) AND NOT EXISTS (
        SELECT 1 FROM pool
        WHERE pool.pool_no = NEW.pool_no
            AND pool.first_slot = NEW.slot
            AND NEW.recorded_count = (NEW.snapshot_sha256 IS NOT NULL)
            AND NEW.missing_run_slots = (NEW.snapshot_sha256 IS NULL)
    );
END;

CREATE TRIGGER retraction_is_not_changed BEFORE UPDATE ON retraction BEGIN
    SELECT RAISE(ABORT, 'exitgap: a retraction is never changed');
END;
CREATE TRIGGER retraction_stays BEFORE DELETE ON retraction BEGIN
    SELECT RAISE(ABORT, 'exitgap: a retraction is never deleted');
END;
CREATE TRIGGER retraction_is_new BEFORE INSERT ON retraction BEGIN
    SELECT RAISE(ABORT, 'exitgap: the slot is sealed')
    WHERE EXISTS (SELECT 1 FROM sealed_slot WHERE slot >= NEW.by_slot)
        OR EXISTS (SELECT 1 FROM entry WHERE pool_no = NEW.pool_no AND slot = NEW.by_slot);
    SELECT RAISE(ABORT, 'exitgap: a slot is retracted once')
    WHERE EXISTS (SELECT 1 FROM retraction WHERE pool_no = NEW.pool_no AND slot = NEW.slot);
    SELECT RAISE(ABORT, 'exitgap: only a recorded slot is retracted')
    WHERE NOT EXISTS (
        SELECT 1 FROM entry
        WHERE pool_no = NEW.pool_no AND slot = NEW.slot AND snapshot_sha256 IS NOT NULL
    );
END;

CREATE TRIGGER fills_are_not_changed BEFORE UPDATE ON fills BEGIN
    SELECT RAISE(ABORT, 'exitgap: fills are never changed');
END;
CREATE TRIGGER fills_stay BEFORE DELETE ON fills BEGIN
    SELECT RAISE(ABORT, 'exitgap: fills are never deleted');
END;
CREATE TRIGGER fills_follow BEFORE INSERT ON fills BEGIN
    SELECT RAISE(ABORT, 'exitgap: the slot is sealed')
    WHERE EXISTS (SELECT 1 FROM sealed_slot WHERE slot >= NEW.slot)
        OR EXISTS (SELECT 1 FROM entry WHERE pool_no = NEW.pool_no AND slot = NEW.slot);
    SELECT RAISE(ABORT, 'exitgap: the fills are in the store already')
    WHERE EXISTS (SELECT 1 FROM fills WHERE pool_no = NEW.pool_no AND slot = NEW.slot);
    SELECT RAISE(ABORT, 'exitgap: fills follow those before them')
    WHERE NEW.after_block < (
        SELECT to_block FROM fills
        WHERE pool_no = NEW.pool_no AND slot < NEW.slot ORDER BY slot DESC LIMIT 1
    );
END;

CREATE TRIGGER issued_is_not_changed BEFORE UPDATE ON issued BEGIN
    SELECT RAISE(ABORT, 'exitgap: issued estimates are never changed');
END;
CREATE TRIGGER issued_stays BEFORE DELETE ON issued BEGIN
    SELECT RAISE(ABORT, 'exitgap: issued estimates are never deleted');
END;
CREATE TRIGGER issued_is_new BEFORE INSERT ON issued BEGIN
    SELECT RAISE(ABORT, 'exitgap: the slot is sealed')
    WHERE EXISTS (SELECT 1 FROM sealed_slot WHERE slot >= NEW.slot)
        OR EXISTS (SELECT 1 FROM entry WHERE pool_no = NEW.pool_no AND slot = NEW.slot);
    SELECT RAISE(ABORT, 'exitgap: the issued estimates are in the store already')
    WHERE EXISTS (SELECT 1 FROM issued WHERE pool_no = NEW.pool_no AND slot = NEW.slot);
END;

CREATE TRIGGER doubt_is_not_changed BEFORE UPDATE ON doubt BEGIN
    SELECT RAISE(ABORT, 'exitgap: a doubt is never changed');
END;
CREATE TRIGGER doubt_stays BEFORE DELETE ON doubt BEGIN
    SELECT RAISE(ABORT, 'exitgap: a doubt is never deleted');
END;
CREATE TRIGGER doubt_is_new BEFORE INSERT ON doubt BEGIN
    SELECT RAISE(ABORT, 'exitgap: the doubt is in the store already')
    WHERE EXISTS (
        SELECT 1 FROM doubt WHERE pool_no = NEW.pool_no AND found_slot = NEW.found_slot
    );
END;

CREATE TRIGGER retirement_is_not_changed BEFORE UPDATE ON retirement BEGIN
    SELECT RAISE(ABORT, 'exitgap: a retirement is final');
END;
CREATE TRIGGER retirement_stays BEFORE DELETE ON retirement BEGIN
    SELECT RAISE(ABORT, 'exitgap: a retirement is final');
END;
CREATE TRIGGER retirement_is_new BEFORE INSERT ON retirement BEGIN
    SELECT RAISE(ABORT, 'exitgap: the slot is sealed')
    WHERE EXISTS (SELECT 1 FROM sealed_slot WHERE slot >= NEW.slot)
        OR EXISTS (SELECT 1 FROM entry WHERE pool_no = NEW.pool_no AND slot = NEW.slot);
    SELECT RAISE(ABORT, 'exitgap: a pool retires once, and not before it began')
    WHERE EXISTS (SELECT 1 FROM retirement WHERE pool_no = NEW.pool_no)
        OR NOT EXISTS (SELECT 1 FROM pool WHERE pool_no = NEW.pool_no AND first_slot < NEW.slot);
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

CREATE TRIGGER log_key_is_not_changed BEFORE UPDATE ON log_key BEGIN
    SELECT RAISE(ABORT, 'exitgap: a log keeps its keys');
END;
CREATE TRIGGER log_key_stays BEFORE DELETE ON log_key BEGIN
    SELECT RAISE(ABORT, 'exitgap: a log keeps its keys');
END;
CREATE TRIGGER log_key_follows BEFORE INSERT ON log_key BEGIN
    SELECT RAISE(ABORT, 'exitgap: the keys of a log are numbered from its first one, which is 1')
    WHERE NOT EXISTS (SELECT 1 FROM log)
        OR NEW.key_no IS NOT coalesce((SELECT max(key_no) FROM log_key), 1) + 1;
END;

CREATE TRIGGER predecessor_is_not_changed BEFORE UPDATE ON predecessor BEGIN
    SELECT RAISE(ABORT, 'exitgap: a log keeps its predecessor');
END;
CREATE TRIGGER predecessor_stays BEFORE DELETE ON predecessor BEGIN
    SELECT RAISE(ABORT, 'exitgap: a log keeps its predecessor');
END;
CREATE TRIGGER predecessor_is_new BEFORE INSERT ON predecessor BEGIN
    SELECT RAISE(ABORT, 'exitgap: a log names its predecessor once, and before its first slot')
    WHERE EXISTS (SELECT 1 FROM predecessor) OR EXISTS (SELECT 1 FROM log);
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

CREATE TRIGGER cosigning_is_not_changed BEFORE UPDATE ON cosigning BEGIN
    SELECT RAISE(ABORT, 'exitgap: what is shown to witnesses stays so');
END;
CREATE TRIGGER cosigning_stays BEFORE DELETE ON cosigning BEGIN
    SELECT RAISE(ABORT, 'exitgap: what is shown to witnesses stays so');
END;
CREATE TRIGGER cosigning_begins_with_its_slot BEFORE INSERT ON cosigning BEGIN
    SELECT RAISE(ABORT, 'exitgap: a slot is shown to witnesses from when it is sealed, or never')
    WHERE EXISTS (SELECT 1 FROM sealed_slot WHERE slot >= NEW.slot)
        OR EXISTS (SELECT 1 FROM cosigning WHERE slot >= NEW.slot);
END;

CREATE TRIGGER cosigned_is_not_changed BEFORE UPDATE ON cosigned BEGIN
    SELECT RAISE(ABORT, 'exitgap: cosignatures are never changed');
END;
CREATE TRIGGER cosigned_stays BEFORE DELETE ON cosigned BEGIN
    SELECT RAISE(ABORT, 'exitgap: cosignatures are never deleted');
END;
CREATE TRIGGER cosigned_once BEFORE INSERT ON cosigned BEGIN
    SELECT RAISE(ABORT, 'exitgap: only the newest slot is cosigned, once, and only where that is awaited')
    WHERE EXISTS (SELECT 1 FROM cosigned WHERE slot >= NEW.slot)
        OR NOT EXISTS (SELECT 1 FROM cosigning WHERE slot = NEW.slot)
        OR NEW.slot IS NOT (SELECT max(slot) FROM sealed_slot);
END;

CREATE TRIGGER slot_tile_is_not_changed BEFORE UPDATE ON slot_tile BEGIN
    SELECT RAISE(ABORT, 'exitgap: a tile of a slot is never changed');
END;
CREATE TRIGGER slot_tile_stays BEFORE DELETE ON slot_tile BEGIN
    SELECT RAISE(ABORT, 'exitgap: a tile of a slot is never deleted');
END;
CREATE TRIGGER slot_tile_is_new BEFORE INSERT ON slot_tile BEGIN
    SELECT RAISE(ABORT, 'exitgap: the slot is sealed')
    WHERE EXISTS (SELECT 1 FROM sealed_slot WHERE slot >= NEW.slot);
    SELECT RAISE(ABORT, 'exitgap: the tile is in the store already')
    WHERE EXISTS (
        SELECT 1 FROM slot_tile
        WHERE slot = NEW.slot AND level = NEW.level AND tile_index = NEW.tile_index
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
    WHERE NEW.pools <> (SELECT count(*) FROM pool)
        - (SELECT count(*) FROM retirement WHERE slot < NEW.slot) OR NEW.pools <> (
        -- CROSS JOIN fixes the order: pool by pool, not through every entry there is.
        SELECT count(*) FROM pool CROSS JOIN entry USING (pool_no) WHERE entry.slot = NEW.slot
    );
END;

-- What follows from entries, retractions and bodies, kept because answers need it fast. The
-- recorder writes it in the slot's transaction; `fsck` compares it, `fsck --rebuild` makes it
-- anew. A gap is millionths of a percent, or, above 2^62, why the size has none: 2^62 rounds to no
-- input, 1 more rounds to no output, 2 more out of a percentage's range, 16 more and the most that can
-- be filled, in millionths of a dollar, where it lies beyond liquidity. 0 and 1 are the token sold; 1k
-- to 1m the size in USD. A window is the 2,016 slots up to and with the
-- row's own, retracted ones skipped.

-- Per pool and slot, also a missing one.
CREATE TABLE figures (
    pool_no           INTEGER NOT NULL,
    slot              INTEGER NOT NULL,
    oracle_stale      INTEGER, -- NULL, as all gaps and bases: no snapshot
    gap0_1k           INTEGER,
    gap0_10k          INTEGER,
    gap0_100k         INTEGER,
    gap0_1m           INTEGER,
    basis0            INTEGER, -- millionths of a percent; NULL also where out of range
    book0_usd         INTEGER, -- depth from the pool's own mid price; NULL: its search was given up
    gap1_1k           INTEGER,
    gap1_10k          INTEGER,
    gap1_100k         INTEGER,
    gap1_1m           INTEGER,
    basis1            INTEGER,
    book1_usd         INTEGER,
    missing_7d_slots  INTEGER NOT NULL,
    median0_7d_usd    INTEGER, -- of the window's depths; NULL: it has none
    median1_7d_usd    INTEGER,
    lowest0_7d_back   INTEGER, -- slots back to the earliest of the lowest depths
    lowest1_7d_back   INTEGER,
    PRIMARY KEY (pool_no, slot)
) STRICT, WITHOUT ROWID;

-- Per UTC day and pool: what is recorded and not retracted. A slot is counted within its day,
-- from 0; where several are equal it is the earliest. The worst gap is the worst number, NULL
-- where every slot refused; least is the least that could be filled, of slots where the size lies
-- beyond liquidity.
CREATE TABLE day (
    day                  INTEGER NOT NULL, -- since 1970-01-01
    pool_no              INTEGER NOT NULL,
    recorded_slots       INTEGER NOT NULL,
    missing_slots        INTEGER NOT NULL,
    retracted_slots      INTEGER NOT NULL,
    last_at              INTEGER, -- the newest recorded slot; NULL, as all below: there is none
    lowest0_usd          INTEGER,
    lowest0_at           INTEGER,
    last0_1k             INTEGER,
    worst0_1k            INTEGER,
    worst0_1k_at         INTEGER,
    refused0_1k_slots    INTEGER,
    least0_1k_micros     INTEGER,
    least0_1k_at         INTEGER,
    last0_10k            INTEGER,
    worst0_10k           INTEGER,
    worst0_10k_at        INTEGER,
    refused0_10k_slots   INTEGER,
    least0_10k_micros    INTEGER,
    least0_10k_at        INTEGER,
    last0_100k           INTEGER,
    worst0_100k          INTEGER,
    worst0_100k_at       INTEGER,
    refused0_100k_slots  INTEGER,
    least0_100k_micros   INTEGER,
    least0_100k_at       INTEGER,
    last0_1m             INTEGER,
    worst0_1m            INTEGER,
    worst0_1m_at         INTEGER,
    refused0_1m_slots    INTEGER,
    least0_1m_micros     INTEGER,
    least0_1m_at         INTEGER,
    lowest1_usd          INTEGER,
    lowest1_at           INTEGER,
    last1_1k             INTEGER,
    worst1_1k            INTEGER,
    worst1_1k_at         INTEGER,
    refused1_1k_slots    INTEGER,
    least1_1k_micros     INTEGER,
    least1_1k_at         INTEGER,
    last1_10k            INTEGER,
    worst1_10k           INTEGER,
    worst1_10k_at        INTEGER,
    refused1_10k_slots   INTEGER,
    least1_10k_micros    INTEGER,
    least1_10k_at        INTEGER,
    last1_100k           INTEGER,
    worst1_100k          INTEGER,
    worst1_100k_at       INTEGER,
    refused1_100k_slots  INTEGER,
    least1_100k_micros   INTEGER,
    least1_100k_at       INTEGER,
    last1_1m             INTEGER,
    worst1_1m            INTEGER,
    worst1_1m_at         INTEGER,
    refused1_1m_slots    INTEGER,
    least1_1m_micros     INTEGER,
    least1_1m_at         INTEGER,
    figures_sha256       BLOB NOT NULL DEFAULT (zeroblob(32)), -- a chain over the day's rows of figures
    PRIMARY KEY (day, pool_no)
) STRICT, WITHOUT ROWID;

-- Where each pool stands at its newest entry.
CREATE TABLE standing (
    pool_no           INTEGER PRIMARY KEY,
    slot              INTEGER NOT NULL, -- of the newest entry
    missing_reason    TEXT,             -- its reason; NULL: recorded, or retired
    recorded_count    INTEGER NOT NULL,
    newest_slot       INTEGER,          -- newest recorded and not retracted; NULL: none
    newer_missing     INTEGER NOT NULL, -- slots after it
    newer_retracted   INTEGER NOT NULL,
    missing_7d_slots  INTEGER NOT NULL,
    oracle_stale      INTEGER,          -- of newest_slot, as depths, gaps, bases and books
    depth0_usd        INTEGER,
    gap0_1k           INTEGER,
    gap0_10k          INTEGER,
    gap0_100k         INTEGER,
    gap0_1m           INTEGER,
    basis0            INTEGER,
    book0_usd         INTEGER,
    depth1_usd        INTEGER,
    gap1_1k           INTEGER,
    gap1_10k          INTEGER,
    gap1_100k         INTEGER,
    gap1_1m           INTEGER,
    basis1            INTEGER,
    book1_usd         INTEGER,
    median0_7d_usd    INTEGER,
    lowest0_7d_usd    INTEGER,
    lowest0_slot      INTEGER,
    lowest0_basis     INTEGER,          -- basis0 and missing_7d_slots of that slot
    lowest0_missing   INTEGER,
    median1_7d_usd    INTEGER,
    lowest1_7d_usd    INTEGER,
    lowest1_slot      INTEGER,
    lowest1_basis     INTEGER,
    lowest1_missing   INTEGER
) STRICT;

-- What the recorder has still to do about earlier slots; changed as it goes on.

-- The first slot of each chain whose blocks were not asked for again.
CREATE TABLE recheck (
    chain      TEXT    PRIMARY KEY,
    next_slot  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Slots whose block was said to be orphaned: once, or, where confirmed, twice, so that the next
-- head takes them back.
CREATE TABLE suspicion (
    pool_no         INTEGER NOT NULL REFERENCES pool (pool_no),
    slot            INTEGER NOT NULL,
    seen_by_slot    INTEGER NOT NULL, -- the newest slot when it was first said
    confirmed       INTEGER NOT NULL CHECK (confirmed IN (0, 1)),
    canonical_hash  BLOB    NOT NULL CHECK (length(canonical_hash) = 32),
    PRIMARY KEY (pool_no, slot)
) STRICT, WITHOUT ROWID;
