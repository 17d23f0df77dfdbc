SELECT coalesce(sum(last_slot - first_slot + 1), 0) FROM doubt;
