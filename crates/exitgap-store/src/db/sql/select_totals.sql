-- Reads every row: for people and benches, not for requests.
SELECT
    count(*)                            AS snapshots,
    count(*) FILTER (WHERE level = 0)   AS key_records,
    CAST(coalesce(sum(snapshot_bytes + state_bytes), 0) AS bigint) AS canonical_bytes,
    CAST(coalesce(sum(length(zstd)), 0) AS bigint) AS zstd_bytes
FROM body;
