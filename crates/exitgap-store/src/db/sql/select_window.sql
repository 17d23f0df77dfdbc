SELECT missing_reason IS NOT NULL, depth0_usd, depth1_usd, retraction.slot IS NOT NULL
FROM entry LEFT JOIN retraction USING (pool_no, slot)
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot
ORDER BY slot;
