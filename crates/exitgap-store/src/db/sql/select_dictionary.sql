SELECT
    body_no, slot, snapshot_sha256, state_sha256, level, dictionary_body_no,
    snapshot_bytes, state_bytes, zstd,
    (
        SELECT base.slot FROM body AS base
        WHERE base.body_no = body.dictionary_body_no AND base.slot BETWEEN body.slot - 288 AND body.slot
    ) AS base_slot
FROM body
WHERE body_no = :body_no AND slot BETWEEN :from_slot AND :to_slot;
