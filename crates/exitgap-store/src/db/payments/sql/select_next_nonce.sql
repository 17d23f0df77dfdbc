SELECT max(nonce) + 1 AS next FROM sent WHERE signer = :signer;
