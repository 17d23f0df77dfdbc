-- From version 11 to 12. `fsck --rebuild` adds the rows of earlier slots.

PRAGMA user_version = 12;

-- Per pool and slot, also a missing one: the books of the same window, and how far the oracle was ahead of the pool.
-- A book is the depth from the pool's own mid price. A lead is how far the oracle price was above that price, in
-- millionths of a percent of the oracle price.
CREATE TABLE week (
    pool_no                INTEGER NOT NULL,
    slot                   INTEGER NOT NULL,
    book0_at_lowest_usd    INTEGER, -- its book in the slot of the lowest depth; NULL: not known
    lead0_at_lowest        INTEGER, -- the oracle's lead in that slot; NULL: the window has no depth
    lowest_book0_usd       INTEGER, -- NULL: the window has no book
    lowest_book0_back      INTEGER, -- slots back to the earliest of the lowest books
    median_book0_usd       INTEGER, -- by nearest rank
    largest_lead0          INTEGER, -- NULL: the oracle was never ahead
    largest_lead0_back     INTEGER,
    led0_slots             INTEGER NOT NULL, -- slots whose lead is above 2 %
    led0_run_slots         INTEGER, -- the longest run of them, the earliest of equals; NULL: none
    led0_run_back          INTEGER, -- slots back to its first
    book1_at_lowest_usd    INTEGER,
    lead1_at_lowest        INTEGER,
    lowest_book1_usd       INTEGER,
    lowest_book1_back      INTEGER,
    median_book1_usd       INTEGER,
    largest_lead1          INTEGER,
    largest_lead1_back     INTEGER,
    led1_slots             INTEGER NOT NULL,
    led1_run_slots         INTEGER,
    led1_run_back          INTEGER,
    PRIMARY KEY (pool_no, slot)
) STRICT, WITHOUT ROWID;
