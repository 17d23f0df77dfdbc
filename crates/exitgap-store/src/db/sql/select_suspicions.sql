-- Those that are not taken back yet.
SELECT pool_id, suspicion.slot, seen_by_slot, confirmed, suspicion.canonical_hash
FROM suspicion JOIN pool USING (pool_no)
WHERE NOT EXISTS (
    SELECT 1 FROM retraction
    WHERE retraction.pool_no = suspicion.pool_no AND retraction.slot = suspicion.slot
)
ORDER BY suspicion.slot, pool_id;
