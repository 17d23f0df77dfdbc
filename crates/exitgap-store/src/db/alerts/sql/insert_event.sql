INSERT INTO event (alert, seq, id, type, slot, document, made_s)
SELECT no, :seq, :id, :type, :slot, :document, :now_s FROM alert WHERE no = :alert AND ended IS NULL
ON CONFLICT (alert, seq) DO NOTHING;
