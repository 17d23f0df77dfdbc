INSERT INTO delivery (alert, seq, state, due_ms)
SELECT no, :seq, 'pending', :due_ms FROM alert WHERE no = :alert AND endpoint IS NOT NULL
ON CONFLICT (alert, seq) DO NOTHING;
