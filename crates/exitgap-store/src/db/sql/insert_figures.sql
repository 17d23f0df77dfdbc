INSERT INTO figures (
    pool_no, slot, oracle_stale,
    gap0_1k, gap0_10k, gap0_100k, gap0_1m, basis0, book0_usd,
    gap1_1k, gap1_10k, gap1_100k, gap1_1m, basis1, book1_usd,
    missing_7d_slots, median0_7d_usd, median1_7d_usd, lowest0_7d_back, lowest1_7d_back
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (pool_no, slot) DO UPDATE SET
    oracle_stale = excluded.oracle_stale, gap0_1k = excluded.gap0_1k, gap0_10k = excluded.gap0_10k,
    gap0_100k = excluded.gap0_100k, gap0_1m = excluded.gap0_1m, basis0 = excluded.basis0,
    book0_usd = excluded.book0_usd, gap1_1k = excluded.gap1_1k, gap1_10k = excluded.gap1_10k,
    gap1_100k = excluded.gap1_100k, gap1_1m = excluded.gap1_1m, basis1 = excluded.basis1,
    book1_usd = excluded.book1_usd, missing_7d_slots = excluded.missing_7d_slots,
    median0_7d_usd = excluded.median0_7d_usd, median1_7d_usd = excluded.median1_7d_usd,
    lowest0_7d_back = excluded.lowest0_7d_back, lowest1_7d_back = excluded.lowest1_7d_back;
