DELETE FROM day WHERE (day, pool_no) IN (
    SELECT day, pool_no FROM day
    WHERE NOT EXISTS (
        SELECT 1 FROM entry
        WHERE entry.pool_no = day.pool_no AND slot BETWEEN day * 288 AND day * 288 + 287
    )
    LIMIT :limit
);
