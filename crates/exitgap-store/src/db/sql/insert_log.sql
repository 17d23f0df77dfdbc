INSERT INTO log (log_no, verifier_key, first_slot) VALUES (1, :verifier_key, :first_slot);
