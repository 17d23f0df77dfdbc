INSERT INTO chain_days (chain, day) VALUES (:chain, :day) ON CONFLICT DO NOTHING
