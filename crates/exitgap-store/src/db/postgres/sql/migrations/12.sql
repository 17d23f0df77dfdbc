-- From version 11 to 12. `fsck --rebuild` adds the rows of earlier slots.

-- Per pool and slot, also a missing one: the books of the same window, and how far the oracle was ahead of the pool.
-- A book is the depth from the pool's own mid price. A lead is how far the oracle price was above that price, in
-- millionths of a percent of the oracle price.
CREATE TABLE exitgap.week (
    pool_no                bigint NOT NULL,
    slot                   bigint NOT NULL,
    book0_at_lowest_usd    bigint, -- its book in the slot of the lowest depth; NULL: not known
    lead0_at_lowest        bigint, -- the oracle's lead in that slot; NULL: the window has no depth
    lowest_book0_usd       bigint, -- NULL: the window has no book
    lowest_book0_back      bigint, -- slots back to the earliest of the lowest books
    median_book0_usd       bigint, -- by nearest rank
    largest_lead0          bigint, -- NULL: the oracle was never ahead
    largest_lead0_back     bigint,
    led0_slots             bigint NOT NULL, -- slots whose lead is above 2 %
    led0_run_slots         bigint, -- the longest run of them, the earliest of equals; NULL: none
    led0_run_back          bigint, -- slots back to its first
    book1_at_lowest_usd    bigint,
    lead1_at_lowest        bigint,
    lowest_book1_usd       bigint,
    lowest_book1_back      bigint,
    median_book1_usd       bigint,
    largest_lead1          bigint,
    largest_lead1_back     bigint,
    led1_slots             bigint NOT NULL,
    led1_run_slots         bigint,
    led1_run_back          bigint,
    PRIMARY KEY (pool_no, slot)
);
