-- What was paid, and with what it was answered. Bytes as they are, times in Unix seconds. What version 2
-- added is in schema_2.sql.
PRAGMA application_id = 0x45585059; -- EXPY
PRAGMA user_version = 1;

CREATE TABLE payment (
    -- The payment's one key, however it is presented.
    key TEXT NOT NULL PRIMARY KEY CHECK (length(key) BETWEEN 1 AND 300),
    -- SHA-256 of the request that it pays for.
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
    family TEXT NOT NULL CHECK (family IN ('x402_v1', 'x402_v2', 'transfer')),
    -- Whether the payer signed for this request.
    signed INTEGER NOT NULL CHECK (signed IN (0, 1)),
    payer BLOB NOT NULL CHECK (length(payer) = 20),
    -- Units of the token, in decimal digits.
    amount TEXT NOT NULL CHECK (length(amount) BETWEEN 1 AND 39),
    -- The payer's own name for the request.
    identifier TEXT CHECK (length(identifier) BETWEEN 16 AND 128),
    -- The authorization as it was presented, for the sweeper; empty for a transfer.
    authorization BLOB NOT NULL,
    valid_before_s INTEGER NOT NULL,
    -- The block at which it was claimed: its use is looked for from there.
    since_block INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('claimed', 'settling', 'settled', 'failed', 'orphaned')),
    -- Whoever holds it may go on with it.
    claim BLOB NOT NULL CHECK (length(claim) = 16),
    answer BLOB NOT NULL,
    answer_sha256 BLOB NOT NULL CHECK (length(answer_sha256) = 32),
    resource_url TEXT NOT NULL,
    -- The transaction that settled it, and its block.
    settled_by BLOB CHECK (length(settled_by) = 32),
    block INTEGER,
    block_hash BLOB CHECK (length(block_hash) = 32),
    -- Whether its block was looked at again once no reorganisation is to be expected.
    rechecked INTEGER NOT NULL DEFAULT 0 CHECK (rechecked IN (0, 1)),
    claimed_s INTEGER NOT NULL,
    settled_s INTEGER,
    CHECK ((state IN ('settled', 'orphaned')) = (settled_by IS NOT NULL)),
    CHECK ((settled_by IS NULL) = (block IS NULL)),
    CHECK ((settled_by IS NULL) = (block_hash IS NULL)),
    CHECK ((settled_by IS NULL) = (settled_s IS NULL))
) WITHOUT ROWID;

CREATE INDEX payment_open ON payment (state, claimed_s);
CREATE INDEX payment_identified ON payment (identifier) WHERE identifier IS NOT NULL;

-- Every transaction that was signed, written before it is sent. A number of the key's account, once
-- given, is filled by one of its transactions.
CREATE TABLE sent (
    signer BLOB NOT NULL CHECK (length(signer) = 20),
    nonce INTEGER NOT NULL CHECK (nonce >= 0),
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    raw BLOB NOT NULL,
    -- Wei for each gas, in decimal digits.
    max_fee TEXT NOT NULL,
    tip TEXT NOT NULL,
    key TEXT NOT NULL,
    signed_s INTEGER NOT NULL,
    PRIMARY KEY (signer, nonce, hash)
) WITHOUT ROWID;

CREATE INDEX sent_for ON sent (key);

CREATE TRIGGER sent_stays BEFORE UPDATE ON sent
BEGIN SELECT RAISE(ABORT, 'a signed transaction is not changed'); END;

-- Who came first with a transaction's hash: only the payer knows it before it is mined.
CREATE TABLE reservation (
    id INTEGER NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
    reserved_s INTEGER NOT NULL,
    UNIQUE (hash, fingerprint)
);

-- The prices that were in force, the newest last.
CREATE TABLE price (
    id INTEGER NOT NULL PRIMARY KEY,
    amount TEXT NOT NULL,
    since_s INTEGER NOT NULL
);

-- Who does a work that one process at a time does.
CREATE TABLE lease (
    work TEXT NOT NULL PRIMARY KEY,
    holder BLOB NOT NULL CHECK (length(holder) = 16),
    until_s INTEGER NOT NULL
) WITHOUT ROWID;
