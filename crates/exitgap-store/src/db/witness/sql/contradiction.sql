-- INSERT_CONTRADICTION
INSERT OR IGNORE INTO contradiction (origin, size, other_root, cosigned, other)
SELECT :origin, :size, :other_root, :cosigned, :other
WHERE (SELECT count(*) FROM contradiction WHERE origin = :origin) < :most;

-- SELECT_CONTRADICTIONS
SELECT cosigned, other FROM contradiction WHERE origin = :origin ORDER BY size, other_root LIMIT :most;
