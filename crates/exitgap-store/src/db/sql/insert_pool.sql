INSERT INTO pool (pool_no, pool_id, default_base_token, first_slot)
VALUES (:pool_no, :pool_id, :default_base_token, :first_slot);
