-- INSERT_COSIGNED: writing cosignatures
INSERT INTO cosigned (slot, lines, sha256) VALUES (:slot, :lines, :sha256);

-- INSERT_COSIGNING: sealing a slot
INSERT INTO cosigning (slot) VALUES (:slot);

-- INSERT_DOUBT: writing a doubt
INSERT INTO doubt (pool_no, found_slot, first_slot, last_slot)
VALUES (:pool_no, :found_slot, :first_slot, :last_slot);

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

-- SELECT_SEALED_SLOT: reading a sealed slot
SELECT pools, heads_root, checkpoint FROM sealed_slot WHERE slot = :slot;

-- SELECT_SEALED_SLOTS: reading the store's slots
SELECT min(slot), max(slot) FROM sealed_slot;

-- SELECT_SLOT_TILE: reading a slot's tile
SELECT hashes FROM slot_tile
WHERE slot = :slot AND level = :level AND tile_index = :tile_index;
