INSERT INTO alert
    (no, id, token, client, idempotency, request, rule, endpoint, created_s, expires_s, run, run_slot, state, state_slot, changed)
VALUES
    ((SELECT coalesce(max(no), 0) + 1 FROM alert), :id, :token, :client, :idempotency, :request, :rule, :endpoint, :created_s,
    :expires_s, :run, 0, :state, 0, :changed);
