-- COUNT_PROOFS
SELECT count(*) AS number FROM proofs

-- DELETE_NODE
DELETE FROM nodes WHERE no = :no

-- DELETE_PROOFS
DELETE FROM proofs WHERE chain_day = :chain_day AND forever = 0 AND slot % :every <> 0

-- INSERT_DAY
INSERT INTO chain_days (chain, day) VALUES (:chain, :day) ON CONFLICT DO NOTHING

-- INSERT_NODE
INSERT INTO nodes (chain_day, hash, bytes) VALUES (:chain_day, :hash, :bytes) RETURNING no

-- INSERT_PROOF
INSERT INTO proofs (contract, slot, reach, chain_day, body) VALUES (:contract, :slot, :reach, :chain_day, :body) ON CONFLICT DO NOTHING

-- MARK_FOREVER
UPDATE proofs SET forever = 1 WHERE contract = :contract AND slot = :slot AND reach = :reach AND forever = 0

-- MARK_PUBLISHED
UPDATE proofs SET published = 1 WHERE contract = :contract AND slot = :slot AND reach = :reach

-- MARK_THINNED
UPDATE chain_days SET thinned = :thinned WHERE no = :chain_day

-- SELECT_BODIES
SELECT body FROM proofs WHERE chain_day = :chain_day

-- SELECT_BYTES
SELECT bytes FROM nodes WHERE no = :no

-- SELECT_DAY
SELECT no FROM chain_days WHERE chain = :chain AND day = :day

-- SELECT_DAYS
SELECT no, day, thinned FROM chain_days WHERE thinned < 2 AND day < :before ORDER BY day

-- SELECT_NODE
SELECT no FROM nodes WHERE chain_day = :chain_day AND hash = :hash

-- SELECT_NODES
SELECT no FROM nodes WHERE chain_day = :chain_day

-- SELECT_PROOF
SELECT body, forever FROM proofs WHERE contract = :contract AND slot = :slot AND reach = :reach

-- SELECT_TO_PUBLISH
SELECT contract, slot, reach FROM proofs WHERE forever = 1 AND published = 0 ORDER BY slot, contract, reach LIMIT :most

-- SUM_BYTES
SELECT (SELECT coalesce(sum(length(bytes)), 0) FROM nodes) + (SELECT coalesce(sum(length(body)), 0) FROM proofs) AS number
