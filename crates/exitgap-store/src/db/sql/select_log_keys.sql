SELECT key_no, verifier_key FROM log_key ORDER BY key_no;
