PRAGMA user_version = 2;

-- Proofs of a contract and slot: of what figures read (reach 0), and of all of it (reach 1).
ALTER TABLE proofs RENAME TO proofs_of_version_1;
DROP INDEX proofs_of_day;

-- A proof: its line, and its nodes by their numbers, compressed.
CREATE TABLE proofs (
    contract TEXT NOT NULL,
    slot INTEGER NOT NULL,
    reach INTEGER NOT NULL CHECK (reach IN (0, 1)),
    chain_day INTEGER NOT NULL REFERENCES chain_days (no),
    -- Whether it is kept for ever, and if so whether it was published.
    forever INTEGER NOT NULL DEFAULT 0 CHECK (forever IN (0, 1)),
    published INTEGER NOT NULL DEFAULT 0 CHECK (published IN (0, 1)),
    body BLOB NOT NULL,
    PRIMARY KEY (contract, slot, reach)
) STRICT, WITHOUT ROWID;

INSERT INTO proofs (contract, slot, reach, chain_day, forever, body)
SELECT contract, slot, 0, chain_day, asked, body FROM proofs_of_version_1;

DROP TABLE proofs_of_version_1;

CREATE INDEX proofs_of_day ON proofs (chain_day, slot);
CREATE INDEX proofs_to_publish ON proofs (slot) WHERE forever = 1 AND published = 0;
