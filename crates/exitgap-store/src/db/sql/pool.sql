-- INSERT_POOL: writing a pool
INSERT INTO pool (pool_no, pool_id, default_base_token, first_slot)
VALUES (:pool_no, :pool_id, :default_base_token, :first_slot);

-- INSERT_RETIREMENT: writing a retirement
INSERT INTO retirement (pool_no, slot) VALUES (:pool_no, :slot);

-- SELECT_POOL: reading a pool
SELECT pool_no, pool_id, default_base_token, first_slot, retirement.slot AS retired_slot
FROM pool LEFT JOIN retirement USING (pool_no)
WHERE pool_id = :pool_id;

-- SELECT_POOLS: reading the pools
SELECT pool_no, pool_id, default_base_token, first_slot, retirement.slot AS retired_slot
FROM pool LEFT JOIN retirement USING (pool_no)
ORDER BY pool_id;

-- UPDATE_DEFAULT_BASE: setting a pool's default base
UPDATE pool SET default_base_token = :default_base_token
WHERE pool_no = :pool_no AND default_base_token <> :default_base_token;
