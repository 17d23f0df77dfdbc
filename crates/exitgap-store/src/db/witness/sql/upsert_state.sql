INSERT INTO state (origin, origin_sha256, size, root, checkpoint)
VALUES (:origin, :origin_sha256, :size, :root, :checkpoint)
ON CONFLICT (origin) DO UPDATE SET size = excluded.size, root = excluded.root, checkpoint = excluded.checkpoint;
