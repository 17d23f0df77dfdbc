SELECT min(depth0_usd), min(depth1_usd) FROM entry
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot;
