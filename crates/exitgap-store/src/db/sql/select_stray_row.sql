-- A row beside the one that a table may have. A check of the schema forbids it, but the
-- database's own look at its pages does not ask that of a primary key.
SELECT 'log' AS table_name, log_no FROM log WHERE log_no <> 1
UNION ALL
SELECT 'predecessor', log_no FROM predecessor WHERE log_no <> 1
LIMIT 1;
