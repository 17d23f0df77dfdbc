-- COUNT_CHALLENGED: counting challenges
SELECT count(*) AS number FROM challenged WHERE host = :host AND at_ms > :since_ms;

-- FORGET_CHALLENGED: forgetting challenges
DELETE FROM challenged WHERE at_ms < :before_ms;

-- INSERT_CHALLENGED: noting a challenge
INSERT INTO challenged (host, at_ms) VALUES (:host, :now_ms);
