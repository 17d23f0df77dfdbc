UPDATE delivery SET due_ms = :due_ms, leased_ms = 0, failures = failures + 1, said = :said
WHERE alert = :alert AND seq = :seq AND state = 'pending';
