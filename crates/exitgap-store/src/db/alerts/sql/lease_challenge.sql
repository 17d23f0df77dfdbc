UPDATE endpoint SET leased_ms = :until_ms, challenges = challenges + 1
WHERE id = :endpoint AND state = 'unverified' AND leased_ms <= :now_ms;
