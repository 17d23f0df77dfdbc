INSERT INTO cosigning (slot) VALUES (:slot);
