-- SELECT_BODY_DAYS: looking for days of bodies
-- Days whose bodies the database has.
SELECT substring(relname FROM '^body_([0-9]+)$')::bigint AS day, pg_total_relation_size(oid) AS bytes
FROM pg_catalog.pg_class JOIN pg_catalog.pg_inherits ON inhrelid = oid
WHERE inhparent = 'exitgap.body'::regclass AND relname <> 'body_0'
ORDER BY 1;

-- SELECT_LEFT_DAY: looking for days that have left
SELECT bodies FROM left_day WHERE day = :day;

-- SELECT_LEFT_DAYS: counting days that have left
SELECT count(*) FROM left_day;

-- SELECT_LEFT_NAMED: counting what has left
SELECT count(*) FROM left_body;

-- SELECT_LEFT_SNAPSHOTS: looking for a snapshot that has left
-- Day by day, by the beginning of its name and then by all of it. Pools of one contract have one snapshot.
SELECT pool_id, left_body.slot FROM left_day
JOIN left_body ON left_body.slot / 288 = left_day.day AND snapshot_name = :name
JOIN entry ON entry.pool_no = left_body.pool_no AND entry.slot = left_body.slot AND entry.snapshot_sha256 = :hash
JOIN pool ON pool.pool_no = left_body.pool_no
ORDER BY left_body.slot, pool_id LIMIT 16;

-- SELECT_LEFT_STATES: looking for a state that has left
-- Day by day. One state may be that of many snapshots.
SELECT pool_id, left_body.slot FROM left_day
JOIN left_body ON left_body.slot / 288 = left_day.day AND state_name = :name
JOIN pool ON pool.pool_no = left_body.pool_no
ORDER BY left_body.slot, pool_id LIMIT 16;
