-- What version 2 adds to version 1.
PRAGMA user_version = 2;

-- The receipt that a payment was answered with. It goes where its payment is claimed anew, and is never changed.
CREATE TABLE receipt (
    key TEXT NOT NULL PRIMARY KEY REFERENCES payment (key) ON DELETE CASCADE,
    -- As it stands in its header.
    signed TEXT NOT NULL CHECK (length(signed) BETWEEN 1 AND 8192)
) WITHOUT ROWID;

CREATE TRIGGER receipt_stays BEFORE UPDATE ON receipt
BEGIN SELECT RAISE(ABORT, 'a receipt is not changed'); END;
