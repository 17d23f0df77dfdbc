-- Counts on from the pool's entry of the slot before, where there is one.
INSERT INTO entry (pool_no, slot, snapshot_sha256, missing_reason, recorded_count, missing_run_slots)
SELECT
    :pool_no, :slot, :snapshot_sha256, :missing_reason,
    coalesce(before.recorded_count, 0) + (:missing_reason IS NULL),
    iif(:missing_reason IS NULL, 0, coalesce(before.missing_run_slots, 0) + 1)
FROM (SELECT 1) LEFT JOIN entry AS before
    ON before.pool_no = :pool_no AND before.slot = :slot - 1;
