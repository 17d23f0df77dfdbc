UPDATE alert SET state = :state, state_slot = :slot WHERE no = :alert AND state_slot < :slot;
