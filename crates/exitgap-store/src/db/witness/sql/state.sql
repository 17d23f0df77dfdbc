-- INSERT_CONTRADICTION
INSERT OR IGNORE INTO contradiction (origin, size, other_root, cosigned, other)
SELECT :origin, :size, :other_root, :cosigned, :other
WHERE (SELECT count(*) FROM contradiction WHERE origin = :origin) < :most;

-- SELECT_CONTRADICTIONS
SELECT cosigned, other FROM contradiction WHERE origin = :origin ORDER BY size, other_root LIMIT :most;

-- SELECT_LATEST
SELECT checkpoint FROM state WHERE origin_sha256 = :origin_sha256;

-- SELECT_STATE
SELECT size, root, checkpoint FROM state WHERE origin = :origin;

-- UPSERT_STATE
INSERT INTO state (origin, origin_sha256, size, root, checkpoint)
VALUES (:origin, :origin_sha256, :size, :root, :checkpoint)
ON CONFLICT (origin) DO UPDATE SET size = excluded.size, root = excluded.root, checkpoint = excluded.checkpoint;
