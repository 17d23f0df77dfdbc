SELECT signer, nonce, hash, raw, max_fee, tip, key, signed_s FROM sent WHERE key = :key ORDER BY signed_s, nonce LIMIT 64;
