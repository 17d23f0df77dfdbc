SELECT pool_no, pool_id, default_base_token, first_slot FROM pool WHERE pool_id = :pool_id;
