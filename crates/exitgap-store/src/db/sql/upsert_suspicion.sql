INSERT INTO suspicion (pool_no, slot, seen_by_slot, confirmed, canonical_hash)
VALUES (:pool_no, :slot, :seen_by_slot, :confirmed, :canonical_hash)
ON CONFLICT (pool_no, slot) DO UPDATE
SET confirmed = excluded.confirmed, canonical_hash = excluded.canonical_hash;
