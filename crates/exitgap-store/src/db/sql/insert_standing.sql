INSERT OR REPLACE INTO standing (
    pool_no, slot, missing_reason, recorded_count,
    newest_slot, newer_missing, newer_retracted, missing_7d_slots, oracle_stale,
    depth0_usd, gap0_1k, gap0_10k, gap0_100k, gap0_1m, basis0, book0_usd,
    depth1_usd, gap1_1k, gap1_10k, gap1_100k, gap1_1m, basis1, book1_usd,
    median0_7d_usd, lowest0_7d_usd, lowest0_slot, lowest0_basis, lowest0_missing,
    median1_7d_usd, lowest1_7d_usd, lowest1_slot, lowest1_basis, lowest1_missing
) VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
);
