DELETE FROM figures WHERE (pool_no, slot) IN (
    SELECT pool_no, slot FROM figures
    WHERE NOT EXISTS (
        SELECT 1 FROM entry WHERE entry.pool_no = figures.pool_no AND entry.slot = figures.slot
    )
    LIMIT :limit
);
