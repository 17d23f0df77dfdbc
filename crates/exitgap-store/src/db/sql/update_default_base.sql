UPDATE pool SET default_base_token = :default_base_token
WHERE pool_no = :pool_no AND default_base_token <> :default_base_token;
