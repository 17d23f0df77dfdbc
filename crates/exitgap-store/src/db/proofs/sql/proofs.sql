-- COUNT_PROOFS
SELECT count(*) AS number FROM proofs

-- DELETE_PROOFS
DELETE FROM proofs WHERE chain_day = :chain_day AND forever = 0 AND slot % :every <> 0

-- INSERT_PROOF
INSERT INTO proofs (contract, slot, reach, chain_day, body) VALUES (:contract, :slot, :reach, :chain_day, :body) ON CONFLICT DO NOTHING

-- MARK_FOREVER
UPDATE proofs SET forever = 1 WHERE contract = :contract AND slot = :slot AND reach = :reach AND forever = 0

-- MARK_PUBLISHED
UPDATE proofs SET published = 1 WHERE contract = :contract AND slot = :slot AND reach = :reach

-- SELECT_BODIES
SELECT body FROM proofs WHERE chain_day = :chain_day

-- SELECT_PROOF
SELECT body, forever FROM proofs WHERE contract = :contract AND slot = :slot AND reach = :reach

-- SELECT_TO_PUBLISH
SELECT contract, slot, reach FROM proofs WHERE forever = 1 AND published = 0 ORDER BY slot, contract, reach LIMIT :most
