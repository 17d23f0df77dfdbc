-- Every row of every table that grows, to be compared with what the log commits to.
SELECT
    (SELECT count(*) FROM body)       AS body,
    (SELECT count(*) FROM entry)      AS entry,
    (SELECT count(*) FROM log_node)   AS log_node,
    (SELECT count(*) FROM slot_tile)  AS slot_tile,
    (SELECT count(*) FROM retraction) AS retraction,
    (SELECT count(*) FROM retirement) AS retirement,
    (SELECT count(*) FROM fills)      AS fills,
    (SELECT count(*) FROM issued)     AS issued,
    (SELECT count(*) FROM cosigning)  AS cosigning,
    (SELECT count(*) FROM cosigned WHERE slot IS DISTINCT FROM (SELECT max(slot) FROM sealed_slot)) AS cosigned,
    (SELECT max(slot) FROM sealed_slot) AS last_slot;
