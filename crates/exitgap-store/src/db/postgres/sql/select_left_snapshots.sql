-- Day by day, by the beginning of its name and then by all of it. Pools of one contract have one snapshot.
SELECT pool_id, left_body.slot FROM left_day
JOIN left_body ON left_body.slot / 288 = left_day.day AND snapshot_name = :name
JOIN entry ON entry.pool_no = left_body.pool_no AND entry.slot = left_body.slot AND entry.snapshot_sha256 = :hash
JOIN pool ON pool.pool_no = left_body.pool_no
ORDER BY left_body.slot, pool_id LIMIT 16;
