-- DELETE_RESERVATIONS: forgetting reservations
DELETE FROM reservation WHERE reserved_s < :before_s
    OR id <= (SELECT max(id) FROM reservation) - :most;

-- INSERT_RESERVATION: reserving a transaction
INSERT INTO reservation (id, hash, fingerprint, reserved_s)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM reservation), :hash, :fingerprint, :now_s)
ON CONFLICT (hash, fingerprint) DO NOTHING;

-- INSERT_SENT: writing a signed transaction
INSERT INTO sent (signer, nonce, hash, raw, max_fee, tip, key, signed_s)
VALUES (:signer, :nonce, :hash, :raw, :max_fee, :tip, :key, :now_s);

-- SELECT_NEXT_NONCE: numbering a transaction
SELECT max(nonce) + 1 AS next FROM sent WHERE signer = :signer;

-- SELECT_PLACE: reserving a transaction
SELECT reserved_s, (SELECT count(*) FROM reservation AS earlier WHERE earlier.hash = :hash AND earlier.id < own.id) AS place
FROM reservation AS own WHERE hash = :hash AND fingerprint = :fingerprint;

-- SELECT_SENT: reading signed transactions
SELECT signer, nonce, hash, raw, max_fee, tip, key, signed_s FROM sent WHERE key = :key ORDER BY signed_s, nonce LIMIT 64;

-- SELECT_UNFILLED: reading signed transactions
SELECT signer, nonce, hash, raw, max_fee, tip, key, signed_s FROM sent
WHERE signer = :signer AND nonce >= :nonce ORDER BY nonce, signed_s DESC LIMIT 256;
