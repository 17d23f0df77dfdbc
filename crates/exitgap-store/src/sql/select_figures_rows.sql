-- The rows as they are, in the order in which they are written.
SELECT * FROM figures WHERE pool_no = ?1 AND slot BETWEEN ?2 AND ?3 ORDER BY slot;
