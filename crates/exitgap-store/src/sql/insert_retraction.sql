INSERT INTO retraction (pool_no, slot, by_slot, orphaned_hash, canonical_hash)
VALUES (:pool_no, :slot, :by_slot, :orphaned_hash, :canonical_hash);
