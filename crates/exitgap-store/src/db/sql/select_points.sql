-- One direction of a run of slots, in the order of the table: nothing is joined.
SELECT slot, snapshot_sha256 IS NOT NULL, missing_reason IS NOT NULL,
    iif(:token = 0, depth0_usd, depth1_usd)
FROM entry
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot
ORDER BY slot;
