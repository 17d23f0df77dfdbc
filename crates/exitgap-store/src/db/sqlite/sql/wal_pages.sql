-- Three numbers; the second is how many pages the write-ahead log holds. Nothing is done.
PRAGMA wal_checkpoint(NOOP);
