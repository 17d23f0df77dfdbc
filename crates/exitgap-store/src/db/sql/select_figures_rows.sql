-- The rows as they are, in the order in which they are written.
SELECT * FROM figures WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot ORDER BY slot;
