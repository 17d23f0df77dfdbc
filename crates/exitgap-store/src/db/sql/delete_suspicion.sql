DELETE FROM suspicion WHERE pool_no = :pool_no AND slot = :slot;
