DELETE FROM uncommitted WHERE receipt_sha256 = :receipt_sha256;
