-- Day by day. Several names may begin alike, and pools of one contract have one snapshot.
SELECT pool_id, slot FROM left_day
JOIN left_body ON left_body.slot / 288 = left_day.day AND snapshot_name = :name
JOIN pool ON pool.pool_no = left_body.pool_no
ORDER BY slot, pool_id LIMIT 16;
