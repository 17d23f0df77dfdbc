-- INSERT_ENTRY: writing an entry
INSERT INTO entry (
    pool_no, slot, snapshot_sha256, missing_reason, recorded_count, missing_run_slots,
    depth0_usd, depth1_usd, lowest0_7d_usd, lowest1_7d_usd, method_version, fills_sha256,
    issued_sha256, head_sha256
) VALUES (
    :pool_no, :slot, :snapshot_sha256, :missing_reason, :recorded_count, :missing_run_slots,
    :depth0_usd, :depth1_usd, :lowest0_7d_usd, :lowest1_7d_usd, :method_version, :fills_sha256,
    :issued_sha256, :head_sha256
);

-- INSERT_POOL: writing a pool
INSERT INTO pool (pool_no, pool_id, default_base_token, first_slot)
VALUES (:pool_no, :pool_id, :default_base_token, :first_slot);

-- INSERT_RETIREMENT: writing a retirement
INSERT INTO retirement (pool_no, slot) VALUES (:pool_no, :slot);

-- INSERT_RETRACTION: writing a retraction
INSERT INTO retraction (pool_no, slot, by_slot, code, orphaned_hash, canonical_hash)
VALUES (:pool_no, :slot, :by_slot, :code, :orphaned_hash, :canonical_hash);

-- SELECT_ENTRIES: reading entries
SELECT slot, snapshot_sha256, missing_reason, recorded_count, missing_run_slots
FROM entry
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot
ORDER BY slot
LIMIT :limit;

-- SELECT_HEADS: reading heads
-- The first row may lie before the slots asked for: its hash is the next one's prev.
SELECT
    slot, snapshot_sha256, missing_reason, recorded_count, missing_run_slots,
    depth0_usd, depth1_usd, lowest0_7d_usd, lowest1_7d_usd, method_version, fills_sha256, issued_sha256,
    head_sha256
FROM entry
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot
ORDER BY slot;

-- SELECT_NEWEST_ENTRY: reading the newest entry
SELECT slot, snapshot_sha256, missing_reason, recorded_count, missing_run_slots
FROM entry
WHERE pool_no = :pool_no AND slot <= :at_slot
ORDER BY slot DESC
LIMIT 1;

-- SELECT_PLACE: counting a slot's pools
-- How many pools with a head in the slot come before this one.
SELECT count(*) FROM pool LEFT JOIN retirement USING (pool_no)
WHERE pool_id < :pool_id AND first_slot <= :slot
    AND (retirement.slot IS NULL OR retirement.slot >= :slot);

-- SELECT_POINTS: reading entries
-- One direction of a run of slots, in the order of the table: nothing is joined.
SELECT slot, snapshot_sha256 IS NOT NULL, missing_reason IS NOT NULL,
    CASE WHEN :token = 0 THEN depth0_usd ELSE depth1_usd END
FROM entry
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot
ORDER BY slot;

-- SELECT_POOL: reading a pool
SELECT pool_no, pool_id, default_base_token, first_slot, retirement.slot AS retired_slot
FROM pool LEFT JOIN retirement USING (pool_no)
WHERE pool_id = :pool_id;

-- SELECT_POOLS: reading the pools
SELECT pool_no, pool_id, default_base_token, first_slot, retirement.slot AS retired_slot
FROM pool LEFT JOIN retirement USING (pool_no)
ORDER BY pool_id;

-- SELECT_RETRACTIONS (retraction): reading retractions
SELECT slot, by_slot, orphaned_hash, canonical_hash, code FROM retraction
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot
ORDER BY slot;

-- SELECT_SEALED_ROWS: reading heads and bodies
-- Heads, each with the body of its snapshot.
SELECT
    entry.slot AS slot, entry.snapshot_sha256 AS snapshot_sha256, missing_reason,
    recorded_count, missing_run_slots, depth0_usd, depth1_usd, lowest0_7d_usd, lowest1_7d_usd,
    method_version, fills_sha256, issued_sha256, head_sha256,
    body_no, body.slot AS body_slot, NULL AS base_slot, state_sha256, level, dictionary_body_no,
    snapshot_bytes, state_bytes, body.zstd AS zstd
FROM entry LEFT JOIN body
    ON body.snapshot_sha256 = entry.snapshot_sha256 AND body.slot BETWEEN :from_slot AND :to_slot
WHERE pool_no = :pool_no AND entry.slot BETWEEN :from_slot AND :to_slot
ORDER BY entry.slot;

-- SELECT_WINDOW: reading depths
SELECT missing_reason IS NOT NULL, depth0_usd, depth1_usd, retraction.slot IS NOT NULL,
    book0_usd, book1_usd, basis0, basis1
FROM entry LEFT JOIN retraction USING (pool_no, slot) LEFT JOIN figures USING (pool_no, slot)
WHERE pool_no = :pool_no AND slot BETWEEN :from_slot AND :to_slot
ORDER BY slot;

-- UPDATE_DEFAULT_BASE: setting a pool's default base
UPDATE pool SET default_base_token = :default_base_token
WHERE pool_no = :pool_no AND default_base_token <> :default_base_token;
