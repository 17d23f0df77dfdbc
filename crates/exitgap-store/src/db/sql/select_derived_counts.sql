-- Every derived row, to be compared with what the series makes.
SELECT
    (SELECT count(*) FROM figures)  AS figures,
    (SELECT count(*) FROM day)      AS day,
    (SELECT count(*) FROM standing) AS standing,
    (SELECT max(slot) FROM sealed_slot) AS last_slot;
