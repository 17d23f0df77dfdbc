SELECT min(slot), max(slot) FROM sealed_slot;
