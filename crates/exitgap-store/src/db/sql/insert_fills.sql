INSERT INTO fills (pool_no, slot, after_block, to_block, document_bytes, zstd)
VALUES (:pool_no, :slot, :after_block, :to_block, :document_bytes, :zstd);
