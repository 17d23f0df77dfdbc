SELECT body_no, snapshot_sha256, state_sha256, level, dictionary_body_no, snapshot_bytes, state_bytes, zstd
FROM body
WHERE snapshot_sha256 = :snapshot_sha256;
