-- The first row may lie before the slots asked for: its hash is the next one's prev.
SELECT
    slot, snapshot_sha256, missing_reason, recorded_count, missing_run_slots,
    depth0_usd, depth1_usd, lowest0_7d_usd, lowest1_7d_usd, method_version, fills_sha256, issued_sha256,
    head_sha256
FROM entry
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot
ORDER BY slot;
