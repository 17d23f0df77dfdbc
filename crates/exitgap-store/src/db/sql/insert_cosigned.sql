INSERT INTO cosigned (slot, lines, sha256) VALUES (:slot, :lines, :sha256);
