INSERT INTO doubt (pool_no, found_slot, first_slot, last_slot)
VALUES (:pool_no, :found_slot, :first_slot, :last_slot);
