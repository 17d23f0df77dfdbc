INSERT OR REPLACE INTO figures (
    pool_no, slot, oracle_stale,
    gap0_1k, gap0_10k, gap0_100k, gap0_1m, basis0, book0_usd,
    gap1_1k, gap1_10k, gap1_100k, gap1_1m, basis1, book1_usd,
    missing_7d_slots, median0_7d_usd, median1_7d_usd, lowest0_7d_back, lowest1_7d_back
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
