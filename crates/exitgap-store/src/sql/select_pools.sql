SELECT pool_no, pool_id, default_base_token, first_slot FROM pool ORDER BY pool_id;
