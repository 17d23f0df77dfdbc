SELECT verifier_key, first_slot FROM log WHERE log_no = 1;
