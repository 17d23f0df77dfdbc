-- INSERT_DAY
INSERT INTO chain_days (chain, day) VALUES (:chain, :day) ON CONFLICT DO NOTHING

-- MARK_THINNED
UPDATE chain_days SET thinned = :thinned WHERE no = :chain_day

-- SELECT_DAY
SELECT no FROM chain_days WHERE chain = :chain AND day = :day

-- SELECT_DAYS
SELECT no, day, thinned FROM chain_days WHERE thinned < 2 AND day < :before ORDER BY day
