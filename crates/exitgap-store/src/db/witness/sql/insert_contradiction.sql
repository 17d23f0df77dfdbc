INSERT OR IGNORE INTO contradiction (origin, size, other_root, cosigned, other)
SELECT :origin, :size, :other_root, :cosigned, :other
WHERE (SELECT count(*) FROM contradiction WHERE origin = :origin) < :most;
