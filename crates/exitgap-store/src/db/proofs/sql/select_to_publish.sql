SELECT contract, slot, reach FROM proofs WHERE forever = 1 AND published = 0 ORDER BY slot, contract, reach LIMIT :most
