INSERT OR IGNORE INTO receipt (key, signed) VALUES (:key, :signed);
