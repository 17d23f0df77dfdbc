-- Settings of every connection of a database beside the series'.
PRAGMA journal_mode = WAL;
-- What is committed survives a power cut: each commit waits for the disk.
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA cell_size_check = ON;
