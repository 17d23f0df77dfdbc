DELETE FROM standing WHERE pool_no IN (
    SELECT pool_no FROM standing
    WHERE NOT EXISTS (SELECT 1 FROM entry WHERE entry.pool_no = standing.pool_no)
    LIMIT :limit
);
