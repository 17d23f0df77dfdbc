-- Each with what its head commits to.
SELECT issued.slot AS slot, document_bytes, zstd, issued_sha256
FROM issued JOIN entry ON entry.pool_no = issued.pool_no AND entry.slot = issued.slot
WHERE issued.pool_no = :pool_no AND issued.slot BETWEEN :from_slot AND :to_slot
ORDER BY issued.slot
LIMIT :limit;
