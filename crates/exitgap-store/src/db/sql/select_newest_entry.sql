SELECT slot, snapshot_sha256, missing_reason, recorded_count, missing_run_slots
FROM entry
WHERE pool_no = :pool_no AND slot <= :at_slot
ORDER BY slot DESC
LIMIT 1;
