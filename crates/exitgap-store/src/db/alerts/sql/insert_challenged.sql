INSERT INTO challenged (host, at_ms) VALUES (:host, :now_ms);
