UPDATE endpoint SET leased_ms = :until_ms
WHERE id = :endpoint AND state = 'unverified' AND (leased_ms <= :now_ms OR leased_ms > :wrong_ms);
