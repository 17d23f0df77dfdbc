UPDATE delivery SET due_ms = :due_ms, leased_ms = 0, said = :said
WHERE alert = :alert AND seq = :seq AND state = 'pending';
