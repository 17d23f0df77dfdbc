UPDATE delivery SET leased_ms = :until_ms, attempts = attempts + 1
WHERE alert = :alert AND seq = :seq AND state = 'pending' AND (leased_ms <= :now_ms OR leased_ms > :wrong_ms);
