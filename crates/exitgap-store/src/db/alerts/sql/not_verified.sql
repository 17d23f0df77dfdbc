UPDATE endpoint SET challenge_ms = :at_ms, leased_ms = 0, said = :said
WHERE id = :endpoint AND state = 'unverified';
