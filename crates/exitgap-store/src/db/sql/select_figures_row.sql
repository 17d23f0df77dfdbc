-- The row as it is, in the order in which it is written.
SELECT * FROM figures WHERE pool_no = :pool_no AND slot = :slot;
