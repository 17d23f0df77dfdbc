INSERT INTO standing (
    pool_no, slot, missing_reason, recorded_count,
    newest_slot, newer_missing, newer_retracted, missing_7d_slots, oracle_stale,
    depth0_usd, gap0_1k, gap0_10k, gap0_100k, gap0_1m, basis0, book0_usd,
    depth1_usd, gap1_1k, gap1_10k, gap1_100k, gap1_1m, basis1, book1_usd,
    median0_7d_usd, lowest0_7d_usd, lowest0_slot, lowest0_basis, lowest0_missing,
    median1_7d_usd, lowest1_7d_usd, lowest1_slot, lowest1_basis, lowest1_missing
) VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
)
ON CONFLICT (pool_no) DO UPDATE SET
    slot = excluded.slot, missing_reason = excluded.missing_reason, recorded_count = excluded.recorded_count,
    newest_slot = excluded.newest_slot, newer_missing = excluded.newer_missing,
    newer_retracted = excluded.newer_retracted, missing_7d_slots = excluded.missing_7d_slots,
    oracle_stale = excluded.oracle_stale, depth0_usd = excluded.depth0_usd, gap0_1k = excluded.gap0_1k,
    gap0_10k = excluded.gap0_10k, gap0_100k = excluded.gap0_100k, gap0_1m = excluded.gap0_1m,
    basis0 = excluded.basis0, book0_usd = excluded.book0_usd, depth1_usd = excluded.depth1_usd,
    gap1_1k = excluded.gap1_1k, gap1_10k = excluded.gap1_10k, gap1_100k = excluded.gap1_100k,
    gap1_1m = excluded.gap1_1m, basis1 = excluded.basis1, book1_usd = excluded.book1_usd,
    median0_7d_usd = excluded.median0_7d_usd, lowest0_7d_usd = excluded.lowest0_7d_usd,
    lowest0_slot = excluded.lowest0_slot, lowest0_basis = excluded.lowest0_basis,
    lowest0_missing = excluded.lowest0_missing, median1_7d_usd = excluded.median1_7d_usd,
    lowest1_7d_usd = excluded.lowest1_7d_usd, lowest1_slot = excluded.lowest1_slot,
    lowest1_basis = excluded.lowest1_basis, lowest1_missing = excluded.lowest1_missing;
