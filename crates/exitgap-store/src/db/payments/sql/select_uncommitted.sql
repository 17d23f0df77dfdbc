SELECT pool, receipt_sha256 FROM uncommitted ORDER BY id LIMIT :limit;
