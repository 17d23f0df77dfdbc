INSERT INTO retraction (pool_no, slot, by_slot, code, orphaned_hash, canonical_hash)
VALUES (:pool_no, :slot, :by_slot, :code, :orphaned_hash, :canonical_hash);
