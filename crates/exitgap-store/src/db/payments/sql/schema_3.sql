-- What version 3 adds to version 2.
PRAGMA user_version = 3;

-- Receipts that no head of their pool commits to yet, in the order in which they were signed. It says of a payment no
-- more than its pool, and outlives it: what was issued is committed to, whatever becomes of the payment.
CREATE TABLE uncommitted (
    id INTEGER NOT NULL PRIMARY KEY,
    pool TEXT NOT NULL CHECK (length(pool) BETWEEN 1 AND 300),
    receipt_sha256 BLOB NOT NULL UNIQUE CHECK (length(receipt_sha256) = 32)
);
