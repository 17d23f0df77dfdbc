-- The row as it is, in the order in which it is written.
SELECT * FROM day WHERE day = :day AND pool_no = :pool_no;
