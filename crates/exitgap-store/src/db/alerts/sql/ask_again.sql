UPDATE endpoint SET state = 'unverified', challenge_ms = :now_ms, failures = 0
WHERE id = :endpoint AND state <> 'verified';
