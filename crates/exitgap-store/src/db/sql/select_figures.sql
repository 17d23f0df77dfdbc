SELECT
    entry.slot, snapshot_sha256, missing_reason, recorded_count, missing_run_slots,
    depth0_usd, depth1_usd, lowest0_7d_usd, lowest1_7d_usd,
    oracle_stale,
    gap0_1k, gap0_10k, gap0_100k, gap0_1m, basis0, book0_usd,
    gap1_1k, gap1_10k, gap1_100k, gap1_1m, basis1, book1_usd,
    missing_7d_slots, median0_7d_usd, median1_7d_usd, lowest0_7d_back, lowest1_7d_back,
    by_slot, orphaned_hash, canonical_hash
FROM entry
    LEFT JOIN figures ON figures.pool_no = entry.pool_no AND figures.slot = entry.slot
    LEFT JOIN retraction ON retraction.pool_no = entry.pool_no AND retraction.slot = entry.slot
WHERE entry.pool_no = :pool_no AND entry.slot BETWEEN :from_slot AND :to_slot
ORDER BY entry.slot
LIMIT :limit;
