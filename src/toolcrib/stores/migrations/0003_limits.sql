-- Rate limits that several processes share: what nobody has drawn yet, and the blocks that were drawn in advance. A
-- bucket that is not here is full. Times are of the machine's monotonic clock; one that lies ahead is from before a
-- restart of the machine.
CREATE TABLE rate_pools (
    bucket TEXT PRIMARY KEY,
    tokens {REAL} NOT NULL,
    stamp {REAL} NOT NULL,
    full_at {REAL} NOT NULL
);
CREATE TABLE rate_blocks (
    bucket TEXT NOT NULL,
    holder TEXT NOT NULL,
    amount {BIGINT} NOT NULL,
    drawn_at {REAL} NOT NULL,
    expires_at {REAL} NOT NULL,
    PRIMARY KEY (bucket, holder)
);
