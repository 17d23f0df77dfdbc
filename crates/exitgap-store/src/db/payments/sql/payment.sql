-- BEGIN_SETTLING: beginning to settle
UPDATE payment SET state = 'settling' WHERE key = :key AND claim = :claim AND state = 'claimed';

-- DELETE_PAYMENT: claiming a payment
DELETE FROM payment WHERE key = :key;

-- DELETE_RESERVATIONS: forgetting reservations
DELETE FROM reservation WHERE reserved_s < :before_s
    OR id <= (SELECT max(id) FROM reservation) - :most;

-- DELETE_STALE: giving up claims
DELETE FROM payment WHERE state = 'claimed' AND claimed_s < :before_s;

-- DELETE_UNCOMMITTED: noting what is committed to
DELETE FROM uncommitted WHERE receipt_sha256 = :receipt_sha256;

-- FAIL: noting a failure
UPDATE payment SET state = 'failed' WHERE key = :key AND state = 'settling';

-- INSERT_PAYMENT: claiming a payment
INSERT INTO payment (key, fingerprint, family, signed, payer, amount, identifier, "authorization", valid_before_s,
    since_block, state, claim, answer, answer_sha256, resource_url, settled_by, block, block_hash, claimed_s, settled_s)
VALUES (:key, :fingerprint, :family, :signed, :payer, :amount, :identifier, :authorization, :valid_before_s,
    :since_block, :state, :claim, :answer, :answer_sha256, :resource_url, :settled_by, :block, :block_hash, :claimed_s,
    :settled_s);

-- INSERT_PRICE: writing a price
INSERT INTO price (id, amount, since_s)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM price), :amount, :now_s);

-- INSERT_RECEIPT: writing a receipt
INSERT INTO receipt (key, signed) VALUES (:key, :signed) ON CONFLICT (key) DO NOTHING;

-- INSERT_RESERVATION: reserving a transaction
INSERT INTO reservation (id, hash, fingerprint, reserved_s)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM reservation), :hash, :fingerprint, :now_s)
ON CONFLICT (hash, fingerprint) DO NOTHING;

-- INSERT_SENT: writing a signed transaction
INSERT INTO sent (signer, nonce, hash, raw, max_fee, tip, key, signed_s)
VALUES (:signer, :nonce, :hash, :raw, :max_fee, :tip, :key, :now_s);

-- INSERT_UNCOMMITTED: writing a receipt
INSERT INTO uncommitted (id, pool, receipt_sha256)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM uncommitted), :pool, :receipt_sha256)
ON CONFLICT (receipt_sha256) DO NOTHING;

-- ORPHAN: noting an orphan
UPDATE payment SET state = 'orphaned' WHERE key = :key AND state = 'settled';

-- RECHECKED: noting what was looked at
UPDATE payment SET rechecked = 1 WHERE key = :key;

-- RELEASE: giving up a claim
DELETE FROM payment WHERE key = :key AND claim = :claim AND state = 'claimed';

-- SELECT_COUNTS: counting payments
SELECT state, count(*) AS number FROM payment GROUP BY state;

-- SELECT_IDENTIFIED: reading a payment
SELECT key, fingerprint, family, signed, payer, amount, identifier, "authorization", valid_before_s, since_block, state, claim, answer, resource_url, settled_by, block, block_hash, claimed_s, settled_s
FROM payment WHERE identifier = :identifier AND state <> 'failed' ORDER BY claimed_s LIMIT 1;

-- SELECT_NEXT_NONCE: numbering a transaction
SELECT max(nonce) + 1 AS next FROM sent WHERE signer = :signer;

-- SELECT_OPEN: reading open payments
SELECT key, fingerprint, family, signed, payer, amount, identifier, "authorization", valid_before_s, since_block, state, claim, answer, resource_url, settled_by, block, block_hash, claimed_s, settled_s
FROM payment WHERE state IN ('settling', 'orphaned') ORDER BY claimed_s LIMIT :most;

-- SELECT_PAYMENT: reading a payment
SELECT key, fingerprint, family, signed, payer, amount, identifier, "authorization", valid_before_s, since_block, state, claim, answer, resource_url, settled_by, block, block_hash, claimed_s, settled_s
FROM payment WHERE key = :key;

-- SELECT_PLACE: reserving a transaction
SELECT reserved_s, (SELECT count(*) FROM reservation AS earlier WHERE earlier.hash = :hash AND earlier.id < own.id) AS place
FROM reservation AS own WHERE hash = :hash AND fingerprint = :fingerprint;

-- SELECT_PRICES: reading prices
SELECT amount, since_s FROM price ORDER BY id DESC LIMIT 64;

-- SELECT_RECEIPT: reading a receipt
SELECT signed FROM receipt WHERE key = :key;

-- SELECT_SENT: reading signed transactions
SELECT signer, nonce, hash, raw, max_fee, tip, key, signed_s FROM sent WHERE key = :key ORDER BY signed_s, nonce LIMIT 64;

-- SELECT_UNCHECKED: reading settled payments
SELECT key, fingerprint, family, signed, payer, amount, identifier, "authorization", valid_before_s, since_block, state, claim, answer, resource_url, settled_by, block, block_hash, claimed_s, settled_s
FROM payment WHERE state = 'settled' AND rechecked = 0 AND block <= :block LIMIT :most;

-- SELECT_UNCOMMITTED: reading receipts
SELECT pool, receipt_sha256 FROM uncommitted ORDER BY id LIMIT :limit;

-- SELECT_UNFILLED: reading signed transactions
SELECT signer, nonce, hash, raw, max_fee, tip, key, signed_s FROM sent
WHERE signer = :signer AND nonce >= :nonce ORDER BY nonce, signed_s DESC LIMIT 256;

-- SETTLE: noting a settlement
UPDATE payment SET state = 'settled', settled_by = :settled_by, block = :block, block_hash = :block_hash,
    settled_s = coalesce(settled_s, :now_s), rechecked = 0
WHERE key = :key AND state IN ('settling', 'orphaned');

-- TAKE_LEASE: taking a work
INSERT INTO lease (work, holder, until_s) VALUES (:work, :holder, :until_s)
ON CONFLICT (work) DO UPDATE SET holder = :holder, until_s = :until_s
WHERE lease.holder = :holder OR lease.until_s <= :now_s;
