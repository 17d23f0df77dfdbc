SELECT slot, snapshot_sha256, missing_reason, recorded_count, missing_run_slots
FROM entry
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot
ORDER BY slot
LIMIT :limit;
