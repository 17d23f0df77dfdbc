-- Day by day. One state may be that of many snapshots.
SELECT pool_id, left_body.slot FROM left_day
JOIN left_body ON left_body.slot / 288 = left_day.day AND state_name = :name
JOIN pool ON pool.pool_no = left_body.pool_no
ORDER BY left_body.slot, pool_id LIMIT 16;
