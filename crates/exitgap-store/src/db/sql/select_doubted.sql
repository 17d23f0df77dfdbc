SELECT CAST(coalesce(sum(last_slot - first_slot + 1), 0) AS bigint) FROM doubt;
