UPDATE endpoint SET state = 'verified', challenge_ms = NULL, leased_ms = 0, failing_ms = NULL, said = NULL
WHERE id = :endpoint AND state = 'unverified';
