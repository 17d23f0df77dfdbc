-- Days whose bodies the database has.
SELECT substring(relname FROM '^body_([0-9]+)$')::bigint AS day, pg_total_relation_size(oid) AS bytes
FROM pg_catalog.pg_class JOIN pg_catalog.pg_inherits ON inhrelid = oid
WHERE inhparent = 'exitgap.body'::regclass AND relname <> 'body_0'
ORDER BY 1;
