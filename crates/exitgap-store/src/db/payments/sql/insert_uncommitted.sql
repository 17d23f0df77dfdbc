INSERT INTO uncommitted (id, pool, receipt_sha256)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM uncommitted), :pool, :receipt_sha256)
ON CONFLICT (receipt_sha256) DO NOTHING;
