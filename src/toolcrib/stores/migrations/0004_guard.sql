-- What operators approved of tools. Approvals are only ever added: the newest of a tool is its baseline. The text of a
-- contract is kept once, under its fingerprint, so that it can be shown beside what came later.
CREATE TABLE contracts (fingerprint TEXT PRIMARY KEY, body {BINARY} NOT NULL);
CREATE TABLE contract_approvals (
    number {BIGINT} PRIMARY KEY,
    surface TEXT NOT NULL,
    tool TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    basis TEXT NOT NULL,
    principal TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_at {REAL} NOT NULL
);
CREATE INDEX contract_approvals_by_tool ON contract_approvals (surface, tool, number);

-- Which agents start which, and the scopes in which only approved edges may be used.
CREATE TABLE edges (
    edge_id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    relation TEXT NOT NULL,
    state TEXT NOT NULL,
    seen {BIGINT} NOT NULL,
    first_seen {REAL} NOT NULL,
    last_seen {REAL} NOT NULL,
    approved_by TEXT,
    approved_at {REAL}
);
CREATE TABLE locks (scope TEXT PRIMARY KEY, principal TEXT NOT NULL, locked_at {REAL} NOT NULL);
