-- DELETE_SUSPICION: noting what was rechecked
DELETE FROM suspicion WHERE pool_no = :pool_no AND slot = :slot;

-- SELECT_RECHECK: reading how far slots were rechecked
SELECT next_slot FROM recheck WHERE chain = :chain;

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
