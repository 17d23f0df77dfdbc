-- Settings of every connection that may write.
PRAGMA journal_mode = WAL;
-- A committed slot survives a power cut: each commit waits for the disk.
PRAGMA synchronous = FULL;
-- The write-ahead log is folded into the database by the store, which heeds errors.
PRAGMA wal_autocheckpoint = 0;
PRAGMA foreign_keys = ON;
-- Without it, REPLACE would delete rows and fire no DELETE trigger.
PRAGMA recursive_triggers = ON;
PRAGMA cell_size_check = ON;
