INSERT INTO log_key (key_no, verifier_key) VALUES (:key_no, :verifier_key);
