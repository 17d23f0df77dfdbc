INSERT INTO sent (signer, nonce, hash, raw, max_fee, tip, key, signed_s)
VALUES (:signer, :nonce, :hash, :raw, :max_fee, :tip, :key, :now_s);
