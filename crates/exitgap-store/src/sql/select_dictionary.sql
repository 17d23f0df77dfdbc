SELECT body_no, snapshot_sha256, level, dictionary_body_no, canonical_bytes, zstd FROM body
WHERE body_no = :body_no;
