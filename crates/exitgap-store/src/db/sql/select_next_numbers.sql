SELECT
    (SELECT coalesce(max(body_no), 0) + 1 FROM body) AS body_no,
    (SELECT coalesce(max(pool_no), 0) + 1 FROM pool) AS pool_no;
