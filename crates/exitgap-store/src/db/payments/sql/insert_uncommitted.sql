INSERT OR IGNORE INTO uncommitted (pool, receipt_sha256) VALUES (:pool, :receipt_sha256);
