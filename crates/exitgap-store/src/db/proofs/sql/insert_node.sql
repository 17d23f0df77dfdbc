INSERT INTO nodes (chain_day, hash, bytes) VALUES (:chain_day, :hash, :bytes) RETURNING no
