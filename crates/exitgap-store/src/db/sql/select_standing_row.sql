-- The row as it is, in the order in which it is written.
SELECT * FROM standing WHERE pool_no = :pool_no;
