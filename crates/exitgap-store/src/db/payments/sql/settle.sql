UPDATE payment SET state = 'settled', settled_by = :settled_by, block = :block, block_hash = :block_hash,
    settled_s = coalesce(settled_s, :now_s), rechecked = 0
WHERE key = :key AND state IN ('settling', 'orphaned');
