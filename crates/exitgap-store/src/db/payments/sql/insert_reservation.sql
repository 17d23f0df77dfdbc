INSERT OR IGNORE INTO reservation (hash, fingerprint, reserved_s) VALUES (:hash, :fingerprint, :now_s);
