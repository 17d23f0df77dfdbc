INSERT INTO retirement (pool_no, slot) VALUES (:pool_no, :slot);
