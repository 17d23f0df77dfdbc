-- One direction of a run of slots, in the order of the table: nothing is joined.
SELECT slot, snapshot_sha256 IS NOT NULL, missing_reason IS NOT NULL,
    CASE WHEN :token = 0 THEN depth0_usd ELSE depth1_usd END
FROM entry
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot
ORDER BY slot;
