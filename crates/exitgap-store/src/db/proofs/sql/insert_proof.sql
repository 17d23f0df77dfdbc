INSERT INTO proofs (contract, slot, reach, chain_day, body) VALUES (:contract, :slot, :reach, :chain_day, :body) ON CONFLICT DO NOTHING
