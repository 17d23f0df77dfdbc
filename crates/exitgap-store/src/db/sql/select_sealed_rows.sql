-- Heads, each with the body of its snapshot.
SELECT
    entry.slot AS slot, entry.snapshot_sha256 AS snapshot_sha256, missing_reason,
    recorded_count, missing_run_slots, depth0_usd, depth1_usd, lowest0_7d_usd, lowest1_7d_usd,
    method_version, fills_sha256, issued_sha256, head_sha256,
    body_no, body.slot AS body_slot, NULL AS base_slot, state_sha256, level, dictionary_body_no,
    snapshot_bytes, state_bytes, body.zstd AS zstd
FROM entry LEFT JOIN body
    ON body.snapshot_sha256 = entry.snapshot_sha256 AND body.slot BETWEEN :from_slot AND :to_slot
WHERE pool_no = :pool_no AND entry.slot BETWEEN :from_slot AND :to_slot
ORDER BY entry.slot;
