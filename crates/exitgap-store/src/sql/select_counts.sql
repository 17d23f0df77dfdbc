-- Every row of every table that grows, to be compared with what the log commits to.
SELECT
    (SELECT count(*) FROM body)     AS bodies,
    (SELECT count(*) FROM entry)    AS entries,
    (SELECT count(*) FROM log_node) AS log_nodes,
    (SELECT max(slot) FROM sealed_slot) AS last_slot;
