-- DELETE_SUSPICION: noting what was rechecked
DELETE FROM suspicion WHERE pool_no = :pool_no AND slot = :slot;

-- INSERT_COSIGNED: writing cosignatures
INSERT INTO cosigned (slot, lines, sha256) VALUES (:slot, :lines, :sha256);

-- INSERT_COSIGNING: sealing a slot
INSERT INTO cosigning (slot) VALUES (:slot);

-- INSERT_DOUBT: writing a doubt
INSERT INTO doubt (pool_no, found_slot, first_slot, last_slot)
VALUES (:pool_no, :found_slot, :first_slot, :last_slot);

-- INSERT_LOG: naming the log
INSERT INTO log (log_no, verifier_key, first_slot) VALUES (1, :verifier_key, :first_slot);

-- INSERT_LOG_KEY: naming a key
INSERT INTO log_key (key_no, verifier_key) VALUES (:key_no, :verifier_key);

-- INSERT_LOG_NODE: writing the log's tree
INSERT INTO log_node (level, node_index, sha256) VALUES (:level, :node_index, :sha256);

-- INSERT_PREDECESSOR: naming the log's predecessor
INSERT INTO predecessor (log_no, document) VALUES (1, :document);

-- INSERT_SEALED_SLOT: sealing a slot
INSERT INTO sealed_slot (slot, pools, heads_root, checkpoint)
VALUES (:slot, :pools, :heads_root, :checkpoint);

-- INSERT_SLOT_TILE: writing a slot's tiles
INSERT INTO slot_tile (slot, level, tile_index, hashes)
VALUES (:slot, :level, :tile_index, :hashes);

-- SELECT_COSIGNED (cosigned): reading cosignatures
-- What a slot's witnesses answered; no row where none were asked, no lines while they are awaited.
SELECT cosigning.slot IS NOT NULL AS asked, cosigned.lines AS lines, cosigned.sha256 AS sha256
FROM (SELECT CAST(:slot AS bigint) AS slot) AS wanted
    LEFT JOIN cosigning ON cosigning.slot = wanted.slot
    LEFT JOIN cosigned ON cosigned.slot = wanted.slot
WHERE cosigning.slot IS NOT NULL OR cosigned.slot IS NOT NULL;

-- SELECT_DOUBT: reading a doubt
-- The full reading that first put the slot in doubt.
SELECT min(found_slot) FROM doubt
WHERE pool_no = :pool_no AND :slot BETWEEN first_slot AND last_slot;

-- SELECT_DOUBTED: counting doubts
SELECT CAST(coalesce(sum(last_slot - first_slot + 1), 0) AS bigint) FROM doubt;

-- SELECT_LOG: reading the log's name
SELECT verifier_key, first_slot FROM log;

-- SELECT_LOG_KEYS: reading the log's keys
SELECT key_no, verifier_key FROM log_key ORDER BY key_no;

-- SELECT_LOG_NODE: reading the log's tree
SELECT sha256 FROM log_node WHERE level = :level AND node_index = :node_index;

-- SELECT_PREDECESSOR: reading the log's predecessor
SELECT document FROM predecessor;

-- SELECT_RECHECK: reading how far slots were rechecked
SELECT next_slot FROM recheck WHERE chain = :chain;

-- SELECT_SEALED_SLOT: reading a sealed slot
SELECT pools, heads_root, checkpoint FROM sealed_slot WHERE slot = :slot;

-- SELECT_SEALED_SLOTS: reading the store's slots
SELECT min(slot), max(slot) FROM sealed_slot;

-- SELECT_SLOT_TILE: reading a slot's tile
SELECT hashes FROM slot_tile
WHERE slot = :slot AND level = :level AND tile_index = :tile_index;

-- SELECT_STRAY_ROW: looking for stray rows
-- A row beside the one that a table may have. A check of the schema forbids it, but the
-- database's own look at its pages does not ask that of a primary key.
SELECT 'log' AS table_name, log_no FROM log WHERE log_no <> 1
UNION ALL
SELECT 'predecessor', log_no FROM predecessor WHERE log_no <> 1
LIMIT 1;

-- SELECT_SUSPICIONS: reading suspicions
-- Those that are not taken back yet.
SELECT pool_id, suspicion.slot, seen_by_slot, confirmed, suspicion.canonical_hash
FROM suspicion JOIN pool USING (pool_no)
WHERE NOT EXISTS (
    SELECT 1 FROM retraction
    WHERE retraction.pool_no = suspicion.pool_no AND retraction.slot = suspicion.slot
)
ORDER BY suspicion.slot, pool_id;

-- UPSERT_RECHECK: noting what was rechecked
INSERT INTO recheck (chain, next_slot) VALUES (:chain, :next_slot)
ON CONFLICT (chain) DO UPDATE SET next_slot = excluded.next_slot;

-- UPSERT_SUSPICION: noting what was rechecked
INSERT INTO suspicion (pool_no, slot, seen_by_slot, confirmed, canonical_hash)
VALUES (:pool_no, :slot, :seen_by_slot, :confirmed, :canonical_hash)
ON CONFLICT (pool_no, slot) DO UPDATE
SET confirmed = excluded.confirmed, canonical_hash = excluded.canonical_hash;
