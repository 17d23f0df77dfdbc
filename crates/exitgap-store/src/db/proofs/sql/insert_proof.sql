INSERT INTO proofs (contract, slot, chain_day, body) VALUES (:contract, :slot, :chain_day, :body) ON CONFLICT DO NOTHING
