SELECT slot, to_block FROM fills
WHERE pool_no = :pool_no AND slot <= :at_slot
ORDER BY slot DESC
LIMIT 1;
