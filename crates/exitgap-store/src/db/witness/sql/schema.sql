-- What a witness cosigned last of each log, and logs that contradicted themselves.
PRAGMA application_id = 0x45585749; -- EXWI
PRAGMA user_version = 1;

CREATE TABLE state (
    origin TEXT NOT NULL PRIMARY KEY,
    -- By which others ask for it.
    origin_sha256 TEXT NOT NULL UNIQUE CHECK (length(origin_sha256) = 64),
    size INTEGER NOT NULL CHECK (size >= 0),
    root BLOB NOT NULL CHECK (length(root) = 32),
    -- The signed checkpoint.
    checkpoint TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER state_is_never_rolled_back BEFORE UPDATE ON state BEGIN
    SELECT RAISE(ABORT, 'exitgap: what was cosigned is never rolled back')
    WHERE NEW.origin <> OLD.origin OR NEW.origin_sha256 <> OLD.origin_sha256 OR NEW.size < OLD.size OR (NEW.size = OLD.size AND NEW.root <> OLD.root);
END;
CREATE TRIGGER state_stays BEFORE DELETE ON state BEGIN
    SELECT RAISE(ABORT, 'exitgap: what was cosigned stays');
END;

-- Two checkpoints of one size that the log's own key signed: the one cosigned, and another.
CREATE TABLE contradiction (
    origin TEXT NOT NULL,
    size INTEGER NOT NULL,
    other_root BLOB NOT NULL CHECK (length(other_root) = 32),
    cosigned TEXT NOT NULL,
    other TEXT NOT NULL,
    PRIMARY KEY (origin, size, other_root)
) STRICT, WITHOUT ROWID;
