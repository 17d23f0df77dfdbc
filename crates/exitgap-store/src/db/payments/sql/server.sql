-- The same on a server (version 3 of a file's, schema.sql and what was added to it), under the same names. Run once,
-- by the role that owns it and cannot log in.
CREATE TABLE exitgap_payments.schema_version (version bigint PRIMARY KEY);
INSERT INTO exitgap_payments.schema_version VALUES (3);

CREATE TABLE exitgap_payments.payment (
    key              text   COLLATE "C" PRIMARY KEY CHECK (length(key) BETWEEN 1 AND 300),
    fingerprint      bytea  NOT NULL CHECK (length(fingerprint) = 32),
    family           text   NOT NULL CHECK (family IN ('x402_v1', 'x402_v2', 'transfer')),
    signed           bigint NOT NULL CHECK (signed IN (0, 1)),
    payer            bytea  NOT NULL CHECK (length(payer) = 20),
    amount           text   NOT NULL CHECK (length(amount) BETWEEN 1 AND 39),
    identifier       text   CHECK (length(identifier) BETWEEN 16 AND 128),
    "authorization"  bytea  NOT NULL,
    valid_before_s   bigint NOT NULL,
    since_block      bigint NOT NULL,
    state            text   NOT NULL CHECK (state IN ('claimed', 'settling', 'settled', 'failed', 'orphaned')),
    claim            bytea  NOT NULL CHECK (length(claim) = 16),
    answer           bytea  NOT NULL,
    answer_sha256    bytea  NOT NULL CHECK (length(answer_sha256) = 32),
    resource_url     text   NOT NULL,
    settled_by       bytea  CHECK (length(settled_by) = 32),
    block            bigint,
    block_hash       bytea  CHECK (length(block_hash) = 32),
    rechecked        bigint NOT NULL DEFAULT 0 CHECK (rechecked IN (0, 1)),
    claimed_s        bigint NOT NULL,
    settled_s        bigint,
    CHECK ((state IN ('settled', 'orphaned')) = (settled_by IS NOT NULL)),
    CHECK ((settled_by IS NULL) = (block IS NULL)),
    CHECK ((settled_by IS NULL) = (block_hash IS NULL)),
    CHECK ((settled_by IS NULL) = (settled_s IS NULL))
);

CREATE INDEX payment_open ON exitgap_payments.payment (state, claimed_s);
CREATE INDEX payment_identified ON exitgap_payments.payment (identifier) WHERE identifier IS NOT NULL;

CREATE TABLE exitgap_payments.sent (
    signer    bytea  NOT NULL CHECK (length(signer) = 20),
    nonce     bigint NOT NULL CHECK (nonce >= 0),
    hash      bytea  NOT NULL CHECK (length(hash) = 32),
    raw       bytea  NOT NULL,
    max_fee   text   NOT NULL,
    tip       text   NOT NULL,
    key       text   COLLATE "C" NOT NULL,
    signed_s  bigint NOT NULL,
    PRIMARY KEY (signer, nonce, hash)
);

CREATE INDEX sent_for ON exitgap_payments.sent (key);

CREATE TABLE exitgap_payments.reservation (
    id           bigint PRIMARY KEY,
    hash         bytea  NOT NULL CHECK (length(hash) = 32),
    fingerprint  bytea  NOT NULL CHECK (length(fingerprint) = 32),
    reserved_s   bigint NOT NULL,
    UNIQUE (hash, fingerprint)
);

CREATE TABLE exitgap_payments.price (
    id       bigint PRIMARY KEY,
    amount   text   NOT NULL,
    since_s  bigint NOT NULL
);

CREATE TABLE exitgap_payments.lease (
    work     text   COLLATE "C" PRIMARY KEY,
    holder   bytea  NOT NULL CHECK (length(holder) = 16),
    until_s  bigint NOT NULL
);

CREATE TABLE exitgap_payments.receipt (
    key     text COLLATE "C" PRIMARY KEY REFERENCES exitgap_payments.payment (key) ON DELETE CASCADE,
    signed  text NOT NULL CHECK (length(signed) BETWEEN 1 AND 8192)
);

CREATE TABLE exitgap_payments.uncommitted (
    id              bigint PRIMARY KEY,
    pool            text   NOT NULL CHECK (length(pool) BETWEEN 1 AND 300),
    receipt_sha256  bytea  NOT NULL UNIQUE CHECK (length(receipt_sha256) = 32)
);

CREATE FUNCTION exitgap_payments.stays() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0];
END $$;

CREATE TRIGGER sent_stays BEFORE UPDATE ON exitgap_payments.sent
    FOR EACH ROW EXECUTE FUNCTION exitgap_payments.stays('a signed transaction is not changed');
ALTER TABLE exitgap_payments.sent ENABLE ALWAYS TRIGGER sent_stays;

CREATE TRIGGER receipt_stays BEFORE UPDATE ON exitgap_payments.receipt
    FOR EACH ROW EXECUTE FUNCTION exitgap_payments.stays('a receipt is not changed');
ALTER TABLE exitgap_payments.receipt ENABLE ALWAYS TRIGGER receipt_stays;
