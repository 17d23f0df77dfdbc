SELECT slot FROM issued
WHERE pool_no = :pool_no
ORDER BY slot DESC
LIMIT 1;
