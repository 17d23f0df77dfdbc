INSERT INTO pool (pool_no, pool_id, default_base_token, first_slot)
VALUES ((SELECT coalesce(max(pool_no), 0) + 1 FROM pool), :pool_id, :default_base_token, :first_slot)
RETURNING pool_no;
