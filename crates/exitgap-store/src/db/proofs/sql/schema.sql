PRAGMA application_id = 0x45585052;
PRAGMA user_version = 1;

-- Nodes of the chain's tries, and headers, each once a chain and day.
CREATE TABLE nodes (
    no INTEGER PRIMARY KEY,
    chain_day INTEGER NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    bytes BLOB NOT NULL,
    UNIQUE (chain_day, hash)
) STRICT;

CREATE TABLE chain_days (
    no INTEGER PRIMARY KEY,
    chain TEXT NOT NULL,
    day INTEGER NOT NULL,
    -- How far its proofs were thinned: 0 not, 1 to hours, 2 to the day.
    thinned INTEGER NOT NULL DEFAULT 0 CHECK (thinned BETWEEN 0 AND 2),
    UNIQUE (chain, day)
) STRICT;

-- A proof: its line, and its nodes by their numbers, compressed.
CREATE TABLE proofs (
    contract TEXT NOT NULL,
    slot INTEGER NOT NULL,
    chain_day INTEGER NOT NULL REFERENCES chain_days (no),
    asked INTEGER NOT NULL DEFAULT 0 CHECK (asked IN (0, 1)),
    body BLOB NOT NULL,
    PRIMARY KEY (contract, slot)
) STRICT, WITHOUT ROWID;

CREATE INDEX proofs_of_day ON proofs (chain_day, slot);
