-- SELECT_LATEST
SELECT checkpoint FROM state WHERE origin_sha256 = :origin_sha256;

-- SELECT_STATE
SELECT size, root, checkpoint FROM state WHERE origin = :origin;

-- UPSERT_STATE
INSERT INTO state (origin, origin_sha256, size, root, checkpoint)
VALUES (:origin, :origin_sha256, :size, :root, :checkpoint)
ON CONFLICT (origin) DO UPDATE SET size = excluded.size, root = excluded.root, checkpoint = excluded.checkpoint;
