INSERT INTO recheck (chain, next_slot) VALUES (:chain, :next_slot)
ON CONFLICT (chain) DO UPDATE SET next_slot = excluded.next_slot;
