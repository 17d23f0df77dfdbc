SELECT verifier_key, first_slot FROM log;
