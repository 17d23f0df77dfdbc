INSERT INTO issued (pool_no, slot, document_bytes, zstd)
VALUES (:pool_no, :slot, :document_bytes, :zstd);
