-- INSERT_FILLS: writing fills
INSERT INTO fills (pool_no, slot, after_block, to_block, document_bytes, zstd)
VALUES (:pool_no, :slot, :after_block, :to_block, :document_bytes, :zstd);

-- INSERT_ISSUED: writing issued estimates
INSERT INTO issued (pool_no, slot, document_bytes, zstd)
VALUES (:pool_no, :slot, :document_bytes, :zstd);

-- SELECT_FILLS (fills): reading fills
-- Fills, each with the hash that its head commits to.
SELECT fills.slot AS slot, after_block, to_block, document_bytes, zstd, fills_sha256
FROM fills JOIN entry ON entry.pool_no = fills.pool_no AND entry.slot = fills.slot
WHERE fills.pool_no = :pool_no AND fills.slot BETWEEN :from_slot AND :to_slot
ORDER BY fills.slot
LIMIT :limit;

-- SELECT_FILLS_PLACE (fills): reading fills
SELECT slot, to_block FROM fills
WHERE pool_no = :pool_no AND slot <= :at_slot
ORDER BY slot DESC
LIMIT 1;

-- SELECT_ISSUED (issued): reading issued estimates
-- Each with what its head commits to.
SELECT issued.slot AS slot, document_bytes, zstd, issued_sha256
FROM issued JOIN entry ON entry.pool_no = issued.pool_no AND entry.slot = issued.slot
WHERE issued.pool_no = :pool_no AND issued.slot BETWEEN :from_slot AND :to_slot
ORDER BY issued.slot
LIMIT :limit;

-- SELECT_ISSUED_PLACE: reading issued estimates
SELECT slot FROM issued
WHERE pool_no = :pool_no
ORDER BY slot DESC
LIMIT 1;
