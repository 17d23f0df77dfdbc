-- Copies what the write-ahead log holds into the database, and syncs both.
PRAGMA wal_checkpoint(PASSIVE);
