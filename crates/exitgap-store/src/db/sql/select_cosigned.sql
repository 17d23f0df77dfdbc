-- What a slot's witnesses answered; no row where none were asked, no lines while they are awaited.
SELECT cosigning.slot IS NOT NULL AS asked, cosigned.lines AS lines, cosigned.sha256 AS sha256
FROM (SELECT CAST(:slot AS bigint) AS slot) AS wanted
    LEFT JOIN cosigning ON cosigning.slot = wanted.slot
    LEFT JOIN cosigned ON cosigned.slot = wanted.slot
WHERE cosigning.slot IS NOT NULL OR cosigned.slot IS NOT NULL;
