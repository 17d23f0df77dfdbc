INSERT INTO delivery (alert, seq, state, due_ms)
SELECT alert, seq, 'pending', :now_ms FROM event WHERE alert = :alert AND seq >= :from_seq
ON CONFLICT (alert, seq) DO UPDATE SET state = 'pending', due_ms = :now_ms, attempts = 0, failures = 0, leased_ms = 0
WHERE delivery.state <> 'pending';
