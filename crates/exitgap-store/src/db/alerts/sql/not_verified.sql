UPDATE endpoint SET challenge_ms = :at_ms, leased_ms = 0, failures = failures + 1, said = :said
WHERE id = :endpoint AND state = 'unverified';
