-- BEGIN_SETTLING: beginning to settle
UPDATE payment SET state = 'settling' WHERE key = :key AND claim = :claim AND state = 'claimed';

-- DELETE_PAYMENT: claiming a payment
DELETE FROM payment WHERE key = :key;

-- DELETE_STALE: giving up claims
DELETE FROM payment WHERE state = 'claimed' AND claimed_s < :before_s;

-- FAIL: noting a failure
UPDATE payment SET state = 'failed' WHERE key = :key AND state = 'settling';

-- INSERT_PAYMENT: claiming a payment
INSERT INTO payment (key, fingerprint, family, signed, payer, amount, identifier, "authorization", valid_before_s,
    since_block, state, claim, answer, answer_sha256, resource_url, settled_by, block, block_hash, claimed_s, settled_s)
VALUES (:key, :fingerprint, :family, :signed, :payer, :amount, :identifier, :authorization, :valid_before_s,
    :since_block, :state, :claim, :answer, :answer_sha256, :resource_url, :settled_by, :block, :block_hash, :claimed_s,
    :settled_s);

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

-- SELECT_OPEN: reading open payments
SELECT key, fingerprint, family, signed, payer, amount, identifier, "authorization", valid_before_s, since_block, state, claim, answer, resource_url, settled_by, block, block_hash, claimed_s, settled_s
FROM payment WHERE state IN ('settling', 'orphaned') ORDER BY claimed_s LIMIT :most;

-- SELECT_PAYMENT: reading a payment
SELECT key, fingerprint, family, signed, payer, amount, identifier, "authorization", valid_before_s, since_block, state, claim, answer, resource_url, settled_by, block, block_hash, claimed_s, settled_s
FROM payment WHERE key = :key;

-- SELECT_UNCHECKED: reading settled payments
SELECT key, fingerprint, family, signed, payer, amount, identifier, "authorization", valid_before_s, since_block, state, claim, answer, resource_url, settled_by, block, block_hash, claimed_s, settled_s
FROM payment WHERE state = 'settled' AND rechecked = 0 AND block <= :block LIMIT :most;

-- SETTLE: noting a settlement
UPDATE payment SET state = 'settled', settled_by = :settled_by, block = :block, block_hash = :block_hash,
    settled_s = coalesce(settled_s, :now_s), rechecked = 0
WHERE key = :key AND state IN ('settling', 'orphaned');

-- TAKE_LEASE: taking a work
INSERT INTO lease (work, holder, until_s) VALUES (:work, :holder, :until_s)
ON CONFLICT (work) DO UPDATE SET holder = :holder, until_s = :until_s
WHERE lease.holder = :holder OR lease.until_s <= :now_s;
