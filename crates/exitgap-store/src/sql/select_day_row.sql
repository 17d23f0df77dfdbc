-- The row as it is, in the order in which it is written.
SELECT * FROM day WHERE day = ?1 AND pool_no = ?2;
