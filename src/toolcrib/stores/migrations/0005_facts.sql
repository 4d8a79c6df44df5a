-- The facts of an event are written once, as the text that its hash covers, and read from there: every column more is
-- bound, copied and stored for every event. For the same reason the salt stands before its payload, 16 bytes long.
CREATE TABLE lean_events (
    seq {BIGINT} PRIMARY KEY,
    run_seq {BIGINT} NOT NULL,
    facts TEXT NOT NULL,
    payload {BINARY},
    digest {BINARY},
    hash {BINARY} NOT NULL
);
INSERT INTO lean_events (seq, run_seq, facts, payload, digest, hash)
    SELECT seq, run_seq, facts_text(session_id, agent_id, run_id, level, type, node_id, call_id, created_at),
    salted(salt, payload), digest, hash FROM events;
DROP VIEW nodes;
DROP TABLE events;
ALTER TABLE lean_events RENAME TO events;
CREATE VIEW told AS
    SELECT seq, run_seq, {BYTES facts} AS text, {FACT 0} AS session_id, {FACT 1} AS agent_id, {FACT 2} AS run_id, {FACT 3} AS level,
    {FACT 4} AS type, {FACT 5} AS node_id, {FACT 6} AS call_id, CAST({FACT 7} AS {REAL}) AS created_at,
    CAST(payload AS {BINARY}) AS salted, substr(payload, 17) AS payload, digest, hash FROM events;
CREATE VIEW nodes AS
    SELECT node_id, session_id, run_id, call_id, type, seq, payload, created_at FROM told
    WHERE node_id IS NOT NULL;
