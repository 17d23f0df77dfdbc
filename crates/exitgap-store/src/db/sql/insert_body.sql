INSERT INTO body (
    body_no, slot, snapshot_sha256, state_sha256, level, dictionary_body_no, snapshot_bytes, state_bytes, zstd
)
VALUES (
    (SELECT coalesce(max(body_no), 0) + 1 FROM body),
    :slot, :snapshot_sha256, :state_sha256, :level, :dictionary_body_no, :snapshot_bytes, :state_bytes, :zstd
)
RETURNING body_no;
