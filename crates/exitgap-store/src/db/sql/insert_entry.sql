INSERT INTO entry (
    pool_no, slot, snapshot_sha256, missing_reason, recorded_count, missing_run_slots,
    depth0_usd, depth1_usd, lowest0_7d_usd, lowest1_7d_usd, method_version, fills_sha256,
    issued_sha256, head_sha256
) VALUES (
    :pool_no, :slot, :snapshot_sha256, :missing_reason, :recorded_count, :missing_run_slots,
    :depth0_usd, :depth1_usd, :lowest0_7d_usd, :lowest1_7d_usd, :method_version, :fills_sha256,
    :issued_sha256, :head_sha256
);
