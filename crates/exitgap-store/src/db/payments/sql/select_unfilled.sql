SELECT signer, nonce, hash, raw, max_fee, tip, key, signed_s FROM sent
WHERE signer = :signer AND nonce >= :nonce ORDER BY nonce, signed_s DESC LIMIT 256;
