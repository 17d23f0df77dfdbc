-- INSERT_BODY: writing a body
INSERT INTO body (
    body_no, slot, snapshot_sha256, state_sha256, level, dictionary_body_no, snapshot_bytes, state_bytes, zstd
)
VALUES (
    :body_no, :slot, :snapshot_sha256, :state_sha256, :level, :dictionary_body_no, :snapshot_bytes, :state_bytes, :zstd
);

-- SELECT_BODY: reading a body
SELECT
    body_no, slot, snapshot_sha256, state_sha256, level, dictionary_body_no,
    snapshot_bytes, state_bytes, zstd,
    (
        SELECT base.slot FROM body AS base
        WHERE base.body_no = body.dictionary_body_no AND base.slot BETWEEN body.slot - 288 AND body.slot
    ) AS base_slot
FROM body
WHERE snapshot_sha256 = :snapshot_sha256 AND slot BETWEEN :from_slot AND :to_slot;

-- SELECT_BODY_BY_STATE: reading a state
SELECT snapshot_sha256 FROM body WHERE state_sha256 = :state_sha256 ORDER BY body_no LIMIT 1;

-- SELECT_COUNTS: counting rows
-- Every row of every table that grows, to be compared with what the log commits to.
SELECT
    (SELECT count(*) FROM body)       AS body,
    (SELECT count(*) FROM entry)      AS entry,
    (SELECT count(*) FROM log_node)   AS log_node,
    (SELECT count(*) FROM slot_tile)  AS slot_tile,
    (SELECT count(*) FROM retraction) AS retraction,
    (SELECT count(*) FROM retirement) AS retirement,
    (SELECT count(*) FROM fills)      AS fills,
    (SELECT count(*) FROM issued)     AS issued,
    (SELECT count(*) FROM cosigning)  AS cosigning,
    (SELECT count(*) FROM cosigned WHERE slot IS DISTINCT FROM (SELECT max(slot) FROM sealed_slot)) AS cosigned,
    (SELECT max(slot) FROM sealed_slot) AS last_slot;

-- SELECT_DICTIONARY: reading a body
SELECT
    body_no, slot, snapshot_sha256, state_sha256, level, dictionary_body_no,
    snapshot_bytes, state_bytes, zstd,
    (
        SELECT base.slot FROM body AS base
        WHERE base.body_no = body.dictionary_body_no AND base.slot BETWEEN body.slot - 288 AND body.slot
    ) AS base_slot
FROM body
WHERE body_no = :body_no AND slot BETWEEN :from_slot AND :to_slot;

-- SELECT_NEXT_NUMBERS: numbering what is new
SELECT
    (SELECT coalesce(max(body_no), 0) + 1 FROM body) AS body_no,
    (SELECT coalesce(max(pool_no), 0) + 1 FROM pool) AS pool_no;

-- SELECT_TOTALS: summing up the store
-- Reads every row: for people and benches, not for requests.
SELECT
    count(*)                            AS snapshots,
    count(*) FILTER (WHERE level = 0)   AS key_records,
    CAST(coalesce(sum(snapshot_bytes + state_bytes), 0) AS bigint) AS canonical_bytes,
    CAST(coalesce(sum(length(zstd)), 0) AS bigint) AS zstd_bytes
FROM body;
