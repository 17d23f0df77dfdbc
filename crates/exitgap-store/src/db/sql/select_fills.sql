-- Fills, each with the hash that its head commits to.
SELECT fills.slot AS slot, after_block, to_block, document_bytes, zstd, fills_sha256
FROM fills JOIN entry ON entry.pool_no = fills.pool_no AND entry.slot = fills.slot
WHERE fills.pool_no = :pool_no AND fills.slot BETWEEN :from_slot AND :to_slot
ORDER BY fills.slot
LIMIT :limit;
