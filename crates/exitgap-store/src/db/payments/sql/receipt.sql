-- DELETE_UNCOMMITTED: noting what is committed to
DELETE FROM uncommitted WHERE receipt_sha256 = :receipt_sha256;

-- INSERT_RECEIPT: writing a receipt
INSERT INTO receipt (key, signed) VALUES (:key, :signed) ON CONFLICT (key) DO NOTHING;

-- INSERT_UNCOMMITTED: writing a receipt
INSERT INTO uncommitted (id, pool, receipt_sha256)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM uncommitted), :pool, :receipt_sha256)
ON CONFLICT (receipt_sha256) DO NOTHING;

-- SELECT_RECEIPT: reading a receipt
SELECT signed FROM receipt WHERE key = :key;

-- SELECT_UNCOMMITTED: reading receipts
SELECT pool, receipt_sha256 FROM uncommitted ORDER BY id LIMIT :limit;
