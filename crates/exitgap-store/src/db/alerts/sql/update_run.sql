UPDATE alert SET run = :run, run_slot = :slot WHERE no = :alert AND run_slot < :slot;
