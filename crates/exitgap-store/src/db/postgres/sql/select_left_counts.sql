-- Days that have left, and snapshots of pools that are named there.
SELECT (SELECT count(*) FROM left_day) AS days, (SELECT count(*) FROM left_body) AS named;
