SELECT pool_no, pool_id, default_base_token, first_slot, retirement.slot AS retired_slot
FROM pool LEFT JOIN retirement USING (pool_no)
WHERE pool_id = :pool_id;
