-- ASK_AGAIN: asking an endpoint again
UPDATE endpoint SET state = 'unverified', challenge_ms = :now_ms, failures = 0
WHERE id = :endpoint AND state <> 'verified';

-- COUNT_CHALLENGED: counting challenges
SELECT count(*) AS number FROM challenged WHERE host = :host AND at_ms > :since_ms;

-- COUNT_OF_HOST: counting rules
SELECT count(*) AS number FROM endpoint
JOIN alert ON alert.endpoint = endpoint.id
WHERE endpoint.host = :host AND alert.ended IS NULL;

-- DISABLE_ENDPOINT: disabling an endpoint
UPDATE endpoint SET state = 'disabled', said = :said WHERE id = :endpoint;

-- ENDPOINT_ANSWERS: noting an answer
UPDATE endpoint SET failing_ms = NULL, said = NULL WHERE id = :endpoint AND failing_ms IS NOT NULL;

-- ENDPOINT_FAILS: noting a failure
UPDATE endpoint SET failing_ms = coalesce(failing_ms, :now_ms), said = :said WHERE id = :endpoint
RETURNING failing_ms;

-- FORGET_CHALLENGED: forgetting challenges
DELETE FROM challenged WHERE at_ms < :before_ms;

-- FORGET_ENDPOINTS: forgetting endpoints
DELETE FROM endpoint WHERE NOT EXISTS (SELECT 1 FROM alert WHERE alert.endpoint = endpoint.id);

-- INSERT_CHALLENGED: noting a challenge
INSERT INTO challenged (host, at_ms) VALUES (:host, :now_ms);

-- INSERT_ENDPOINT: keeping an endpoint
INSERT INTO endpoint (id, token, url, host, salt, state, challenge_ms)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM endpoint), :token, :url, :host, :salt, 'unverified', :now_ms)
ON CONFLICT (token, url) DO NOTHING;

-- LEASE_CHALLENGE: taking a challenge
UPDATE endpoint SET leased_ms = :until_ms
WHERE id = :endpoint AND state = 'unverified' AND (leased_ms <= :now_ms OR leased_ms > :wrong_ms);

-- NOT_VERIFIED: noting a challenge
UPDATE endpoint SET challenge_ms = :at_ms, leased_ms = 0, failures = failures + 1, said = :said
WHERE id = :endpoint AND state = 'unverified';

-- POSTPONE_CHALLENGE: putting off a challenge
UPDATE endpoint SET challenge_ms = :at_ms WHERE id = :endpoint;

-- ROTATE: changing keys
UPDATE endpoint SET generation = generation + 1, rotated_ms = :now_ms WHERE id = :endpoint;

-- SELECT_ASKED: reading challenges
SELECT * FROM endpoint
WHERE state = 'unverified' AND challenge_ms <= :now_ms AND (leased_ms <= :now_ms OR leased_ms > :wrong_ms)
    AND EXISTS (SELECT 1 FROM alert WHERE alert.endpoint = endpoint.id AND alert.ended IS NULL)
ORDER BY challenge_ms LIMIT :most;

-- SELECT_ENDPOINT: reading an endpoint
SELECT * FROM endpoint WHERE token = :token AND url = :url;

-- SELECT_ENDPOINT_BY_ID: reading an endpoint
SELECT * FROM endpoint WHERE id = :id;

-- VERIFIED: noting a challenge
UPDATE endpoint SET state = 'verified', challenge_ms = NULL, leased_ms = 0, failing_ms = NULL, said = NULL
WHERE id = :endpoint AND state = 'unverified';
