-- Reads every row: for people and benches, not for requests.
SELECT
    count(*)                            AS snapshots,
    count(*) FILTER (WHERE level = 0)   AS key_records,
    coalesce(sum(snapshot_bytes + state_bytes), 0) AS canonical_bytes,
    coalesce(sum(length(zstd)), 0)      AS zstd_bytes
FROM body;
