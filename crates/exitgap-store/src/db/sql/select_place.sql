-- How many pools with a head in the slot come before this one.
SELECT count(*) FROM pool LEFT JOIN retirement USING (pool_no)
WHERE pool_id < :pool_id AND first_slot <= :slot
    AND (retirement.slot IS NULL OR retirement.slot >= :slot);
