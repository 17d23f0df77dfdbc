SELECT slot, by_slot, orphaned_hash, canonical_hash, code FROM retraction
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot
ORDER BY slot;
