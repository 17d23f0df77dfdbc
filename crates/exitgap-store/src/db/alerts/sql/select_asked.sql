SELECT * FROM endpoint
WHERE state = 'unverified' AND challenge_ms <= :now_ms AND (leased_ms <= :now_ms OR leased_ms > :wrong_ms)
    AND EXISTS (SELECT 1 FROM alert WHERE alert.endpoint = endpoint.id AND alert.ended IS NULL)
ORDER BY challenge_ms LIMIT :most;
