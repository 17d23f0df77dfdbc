INSERT INTO body (
    body_no, slot, snapshot_sha256, state_sha256, level, dictionary_body_no, snapshot_bytes, state_bytes, zstd
)
VALUES (
    :body_no, :slot, :snapshot_sha256, :state_sha256, :level, :dictionary_body_no, :snapshot_bytes, :state_bytes, :zstd
);
