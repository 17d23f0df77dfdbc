-- The full reading that first put the slot in doubt.
SELECT min(found_slot) FROM doubt
WHERE pool_no = :pool_no AND :slot BETWEEN first_slot AND last_slot;
