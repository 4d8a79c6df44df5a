-- Events of one run that are committed together are stored in one row, numbered up to its seq: a row more is bound, hashed
-- and copied for every call. What was stored one by one stays as it is; a row of one event looks the same.
DROP VIEW nodes;
DROP VIEW told;
CREATE VIEW links AS
    SELECT seq, run_seq, {SIZE} AS size, facts, {BYTES facts} AS text, {FACT 0} AS session_id, {FACT 1} AS agent_id,
    {FACT 2} AS run_id, CAST({FACT 7} AS {REAL}) AS created_at, CAST(payload AS {BINARY}) AS salted, digest, hash
    FROM events;
CREATE VIEW told AS
    SELECT seq - size + 1 AS seq, CASE WHEN run_id IS NULL THEN 0 ELSE run_seq - size + 1 END AS run_seq,
    session_id, agent_id, run_id, {FACT 3} AS level, {FACT 4} AS type, {FACT 5} AS node_id, {FACT 6} AS call_id,
    created_at, substr(salted, 17, coalesce(CAST({FACT 8 4} AS {BIGINT}), length(salted))) AS payload, seq AS link
    FROM links
    UNION ALL
    SELECT seq - size - 6 + more.key, CASE WHEN run_id IS NULL THEN 0 ELSE run_seq - size - 6 + more.key END,
    session_id, agent_id, run_id, {MORE 0}, {MORE 1}, {MORE 2}, {MORE 3},
    created_at, substr(salted, 17 + CAST({MORE 4} AS {BIGINT}), CAST({MORE 5} AS {BIGINT})), seq
    FROM links, {EACH MORE} WHERE more.key > 7;
CREATE VIEW nodes AS
    SELECT node_id, session_id, run_id, call_id, type, seq, payload, created_at FROM told
    WHERE node_id IS NOT NULL;
