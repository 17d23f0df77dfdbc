-- DELETE_DAYS: removing surplus rows
DELETE FROM day WHERE (day, pool_no) IN (
    SELECT day, pool_no FROM day
    WHERE NOT EXISTS (
        SELECT 1 FROM entry
        WHERE entry.pool_no = day.pool_no AND slot BETWEEN day * 288 AND day * 288 + 287
    )
    LIMIT :limit
);

-- DELETE_FIGURES: removing surplus rows
DELETE FROM figures WHERE (pool_no, slot) IN (
    SELECT pool_no, slot FROM figures
    WHERE NOT EXISTS (
        SELECT 1 FROM entry WHERE entry.pool_no = figures.pool_no AND entry.slot = figures.slot
    )
    LIMIT :limit
);

-- DELETE_STANDINGS: removing surplus rows
DELETE FROM standing WHERE pool_no IN (
    SELECT pool_no FROM standing
    WHERE NOT EXISTS (SELECT 1 FROM entry WHERE entry.pool_no = standing.pool_no)
    LIMIT :limit
);

-- DELETE_WEEKS: removing surplus rows
DELETE FROM week WHERE (pool_no, slot) IN (
    SELECT pool_no, slot FROM week
    WHERE NOT EXISTS (
        SELECT 1 FROM entry WHERE entry.pool_no = week.pool_no AND entry.slot = week.slot
    )
    LIMIT :limit
);

-- INSERT_DAY: writing a day
INSERT INTO day (
    day, pool_no, recorded_slots, missing_slots, retracted_slots, last_at,
    lowest0_usd, lowest0_at,
    last0_1k, worst0_1k, worst0_1k_at,
    refused0_1k_slots, least0_1k_micros, least0_1k_at,
    last0_10k, worst0_10k, worst0_10k_at,
    refused0_10k_slots, least0_10k_micros, least0_10k_at,
    last0_100k, worst0_100k, worst0_100k_at,
    refused0_100k_slots, least0_100k_micros, least0_100k_at,
    last0_1m, worst0_1m, worst0_1m_at,
    refused0_1m_slots, least0_1m_micros, least0_1m_at,
    lowest1_usd, lowest1_at,
    last1_1k, worst1_1k, worst1_1k_at,
    refused1_1k_slots, least1_1k_micros, least1_1k_at,
    last1_10k, worst1_10k, worst1_10k_at,
    refused1_10k_slots, least1_10k_micros, least1_10k_at,
    last1_100k, worst1_100k, worst1_100k_at,
    refused1_100k_slots, least1_100k_micros, least1_100k_at,
    last1_1m, worst1_1m, worst1_1m_at,
    refused1_1m_slots, least1_1m_micros, least1_1m_at,
    figures_sha256
) VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    ?, ?, ?, ?, ?, ?, ?, ?, ?
)
ON CONFLICT (day, pool_no) DO UPDATE SET
    recorded_slots = excluded.recorded_slots, missing_slots = excluded.missing_slots,
    retracted_slots = excluded.retracted_slots, last_at = excluded.last_at,
    lowest0_usd = excluded.lowest0_usd, lowest0_at = excluded.lowest0_at, last0_1k = excluded.last0_1k,
    worst0_1k = excluded.worst0_1k, worst0_1k_at = excluded.worst0_1k_at,
    refused0_1k_slots = excluded.refused0_1k_slots, least0_1k_micros = excluded.least0_1k_micros,
    least0_1k_at = excluded.least0_1k_at, last0_10k = excluded.last0_10k, worst0_10k = excluded.worst0_10k,
    worst0_10k_at = excluded.worst0_10k_at, refused0_10k_slots = excluded.refused0_10k_slots,
    least0_10k_micros = excluded.least0_10k_micros, least0_10k_at = excluded.least0_10k_at,
    last0_100k = excluded.last0_100k, worst0_100k = excluded.worst0_100k,
    worst0_100k_at = excluded.worst0_100k_at, refused0_100k_slots = excluded.refused0_100k_slots,
    least0_100k_micros = excluded.least0_100k_micros, least0_100k_at = excluded.least0_100k_at,
    last0_1m = excluded.last0_1m, worst0_1m = excluded.worst0_1m, worst0_1m_at = excluded.worst0_1m_at,
    refused0_1m_slots = excluded.refused0_1m_slots, least0_1m_micros = excluded.least0_1m_micros,
    least0_1m_at = excluded.least0_1m_at, lowest1_usd = excluded.lowest1_usd,
    lowest1_at = excluded.lowest1_at, last1_1k = excluded.last1_1k, worst1_1k = excluded.worst1_1k,
    worst1_1k_at = excluded.worst1_1k_at, refused1_1k_slots = excluded.refused1_1k_slots,
    least1_1k_micros = excluded.least1_1k_micros, least1_1k_at = excluded.least1_1k_at,
    last1_10k = excluded.last1_10k, worst1_10k = excluded.worst1_10k, worst1_10k_at = excluded.worst1_10k_at,
    refused1_10k_slots = excluded.refused1_10k_slots, least1_10k_micros = excluded.least1_10k_micros,
    least1_10k_at = excluded.least1_10k_at, last1_100k = excluded.last1_100k,
    worst1_100k = excluded.worst1_100k, worst1_100k_at = excluded.worst1_100k_at,
    refused1_100k_slots = excluded.refused1_100k_slots, least1_100k_micros = excluded.least1_100k_micros,
    least1_100k_at = excluded.least1_100k_at, last1_1m = excluded.last1_1m, worst1_1m = excluded.worst1_1m,
    worst1_1m_at = excluded.worst1_1m_at, refused1_1m_slots = excluded.refused1_1m_slots,
    least1_1m_micros = excluded.least1_1m_micros, least1_1m_at = excluded.least1_1m_at,
    figures_sha256 = excluded.figures_sha256;

-- INSERT_FIGURES: writing figures
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

-- INSERT_STANDING: writing a standing
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

-- INSERT_WEEK: writing a week
INSERT INTO week (
    pool_no, slot,
    book0_at_lowest_usd, lead0_at_lowest, lowest_book0_usd, lowest_book0_back, median_book0_usd, largest_lead0,
    largest_lead0_back, led0_slots, led0_run_slots, led0_run_back, book1_at_lowest_usd, lead1_at_lowest,
    lowest_book1_usd, lowest_book1_back, median_book1_usd, largest_lead1, largest_lead1_back, led1_slots,
    led1_run_slots, led1_run_back
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (pool_no, slot) DO UPDATE SET
    book0_at_lowest_usd = excluded.book0_at_lowest_usd, lead0_at_lowest = excluded.lead0_at_lowest,
    lowest_book0_usd = excluded.lowest_book0_usd, lowest_book0_back = excluded.lowest_book0_back,
    median_book0_usd = excluded.median_book0_usd, largest_lead0 = excluded.largest_lead0,
    largest_lead0_back = excluded.largest_lead0_back, led0_slots = excluded.led0_slots,
    led0_run_slots = excluded.led0_run_slots, led0_run_back = excluded.led0_run_back,
    book1_at_lowest_usd = excluded.book1_at_lowest_usd, lead1_at_lowest = excluded.lead1_at_lowest,
    lowest_book1_usd = excluded.lowest_book1_usd, lowest_book1_back = excluded.lowest_book1_back,
    median_book1_usd = excluded.median_book1_usd, largest_lead1 = excluded.largest_lead1,
    largest_lead1_back = excluded.largest_lead1_back, led1_slots = excluded.led1_slots,
    led1_run_slots = excluded.led1_run_slots, led1_run_back = excluded.led1_run_back;

-- SELECT_DAY (day): reading a day
SELECT
    recorded_slots, missing_slots, retracted_slots, last_at,
    lowest0_usd, lowest0_at,
    last0_1k, worst0_1k, worst0_1k_at,
    refused0_1k_slots, least0_1k_micros, least0_1k_at,
    last0_10k, worst0_10k, worst0_10k_at,
    refused0_10k_slots, least0_10k_micros, least0_10k_at,
    last0_100k, worst0_100k, worst0_100k_at,
    refused0_100k_slots, least0_100k_micros, least0_100k_at,
    last0_1m, worst0_1m, worst0_1m_at,
    refused0_1m_slots, least0_1m_micros, least0_1m_at,
    lowest1_usd, lowest1_at,
    last1_1k, worst1_1k, worst1_1k_at,
    refused1_1k_slots, least1_1k_micros, least1_1k_at,
    last1_10k, worst1_10k, worst1_10k_at,
    refused1_10k_slots, least1_10k_micros, least1_10k_at,
    last1_100k, worst1_100k, worst1_100k_at,
    refused1_100k_slots, least1_100k_micros, least1_100k_at,
    last1_1m, worst1_1m, worst1_1m_at,
    refused1_1m_slots, least1_1m_micros, least1_1m_at
FROM day WHERE day = :day AND pool_no = :pool_no;

-- SELECT_DAY_ROW: reading a day
-- The row as it is, in the order in which it is written.
SELECT * FROM day WHERE day = :day AND pool_no = :pool_no;

-- SELECT_DERIVED_COUNTS: counting rows
-- Every derived row, to be compared with what the series makes.
SELECT
    (SELECT count(*) FROM figures)  AS figures,
    (SELECT count(*) FROM day)      AS day,
    (SELECT count(*) FROM standing) AS standing,
    (SELECT count(*) FROM week)     AS week,
    (SELECT max(slot) FROM sealed_slot) AS last_slot;

-- SELECT_FIGURES (figures): reading figures
SELECT
    entry.slot, snapshot_sha256, missing_reason, recorded_count, missing_run_slots,
    depth0_usd, depth1_usd, lowest0_7d_usd, lowest1_7d_usd,
    oracle_stale,
    gap0_1k, gap0_10k, gap0_100k, gap0_1m, basis0, book0_usd,
    gap1_1k, gap1_10k, gap1_100k, gap1_1m, basis1, book1_usd,
    missing_7d_slots, median0_7d_usd, median1_7d_usd, lowest0_7d_back, lowest1_7d_back,
    by_slot, orphaned_hash, canonical_hash,
    book0_at_lowest_usd, lead0_at_lowest, lowest_book0_usd, lowest_book0_back, median_book0_usd, largest_lead0,
    largest_lead0_back, led0_slots, led0_run_slots, led0_run_back, book1_at_lowest_usd, lead1_at_lowest,
    lowest_book1_usd, lowest_book1_back, median_book1_usd, largest_lead1, largest_lead1_back, led1_slots,
    led1_run_slots, led1_run_back
FROM entry
    LEFT JOIN figures ON figures.pool_no = entry.pool_no AND figures.slot = entry.slot
    LEFT JOIN week ON week.pool_no = entry.pool_no AND week.slot = entry.slot
    LEFT JOIN retraction ON retraction.pool_no = entry.pool_no AND retraction.slot = entry.slot
WHERE entry.pool_no = :pool_no AND entry.slot BETWEEN :from_slot AND :to_slot
ORDER BY entry.slot
LIMIT :limit;

-- SELECT_FIGURES_DIGEST: reading a day
SELECT figures_sha256 FROM day WHERE day = :day AND pool_no = :pool_no;

-- SELECT_FIGURES_ROW: reading figures
-- The row as it is, in the order in which it is written.
SELECT * FROM figures WHERE pool_no = :pool_no AND slot = :slot;

-- SELECT_FIGURES_ROWS: reading figures
-- The rows as they are, in the order in which they are written.
SELECT * FROM figures WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot ORDER BY slot;

-- SELECT_GAPS (figures): reading gaps
-- One gap of a run of slots, the basis and the book: four sizes selling token 0, then four selling token 1.
SELECT slot,
    CASE :gap
        WHEN 0 THEN gap0_1k WHEN 1 THEN gap0_10k WHEN 2 THEN gap0_100k WHEN 3 THEN gap0_1m
        WHEN 4 THEN gap1_1k WHEN 5 THEN gap1_10k WHEN 6 THEN gap1_100k ELSE gap1_1m
    END,
    CASE WHEN :gap < 4 THEN basis0 ELSE basis1 END,
    CASE WHEN :gap < 4 THEN book0_usd ELSE book1_usd END
FROM figures
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot
ORDER BY slot;

-- SELECT_STANDINGS (standing): reading the board
SELECT
    pool.pool_no AS pool_no, pool_id, default_base_token, first_slot, retirement.slot AS retired_slot,
    standing.slot, missing_reason, recorded_count,
    newest_slot, newer_missing, newer_retracted, missing_7d_slots, oracle_stale,
    depth0_usd, gap0_1k, gap0_10k, gap0_100k, gap0_1m, basis0, book0_usd,
    depth1_usd, gap1_1k, gap1_10k, gap1_100k, gap1_1m, basis1, book1_usd,
    median0_7d_usd, lowest0_7d_usd, lowest0_slot, lowest0_basis, lowest0_missing,
    median1_7d_usd, lowest1_7d_usd, lowest1_slot, lowest1_basis, lowest1_missing,
    book0_at_lowest_usd, lead0_at_lowest, lowest_book0_usd, lowest_book0_back, median_book0_usd, largest_lead0,
    largest_lead0_back, led0_slots, led0_run_slots, led0_run_back, book1_at_lowest_usd, lead1_at_lowest,
    lowest_book1_usd, lowest_book1_back, median_book1_usd, largest_lead1, largest_lead1_back, led1_slots,
    led1_run_slots, led1_run_back
FROM pool JOIN standing USING (pool_no) LEFT JOIN retirement USING (pool_no)
    LEFT JOIN week ON week.pool_no = pool.pool_no AND week.slot = standing.slot
ORDER BY pool_id;

-- SELECT_STANDING_ROW: reading a standing
-- The row as it is, in the order in which it is written.
SELECT * FROM standing WHERE pool_no = :pool_no;

-- SELECT_WEEK_ROW: reading a week
-- The row as it is, in the order in which it is written.
SELECT * FROM week WHERE pool_no = :pool_no AND slot = :slot;
