-- The chain of events, what it protects, and who may add to it. The head is noted every so many events: a changed row
-- more would cost each commit a page.
CREATE TABLE head (one INTEGER PRIMARY KEY, seq {BIGINT} NOT NULL, hash {BINARY} NOT NULL, CHECK (one = 1));

-- digest is that of salt and payload, written down when these are erased. The hash before is that of seq - 1.
CREATE TABLE events (
    seq {BIGINT} PRIMARY KEY,
    run_seq {BIGINT} NOT NULL,
    session_id TEXT NOT NULL,
    agent_id TEXT,
    run_id TEXT,
    level TEXT NOT NULL,
    type TEXT NOT NULL,
    node_id TEXT,
    call_id TEXT,
    created_at {REAL} NOT NULL,
    payload {BINARY},
    salt {BINARY},
    digest {BINARY},
    hash {BINARY} NOT NULL
);
CREATE VIEW nodes AS
    SELECT node_id, session_id, run_id, call_id, type, seq, payload, created_at FROM events WHERE node_id IS NOT NULL;

-- Where to find events, filed many at a time: an index on events would cost every commit two more pages. A stretch is
-- a row of events of one session (and one run) that nothing else came between. Events after filed.seq are in none yet,
-- so readers look at those few directly. A call is looked for among its session's events.
CREATE TABLE filed (one INTEGER PRIMARY KEY, seq {BIGINT} NOT NULL, CHECK (one = 1));
CREATE TABLE stretches (
    session_id TEXT NOT NULL,
    first_seq {BIGINT} NOT NULL,
    last_seq {BIGINT} NOT NULL,
    PRIMARY KEY (session_id, first_seq)
) {CLUSTERED};
CREATE TABLE run_heads (
    session_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    run_seq {BIGINT} NOT NULL,
    PRIMARY KEY (session_id, run_id)
) {CLUSTERED};

CREATE TABLE documents (
    kind TEXT NOT NULL,
    document_key TEXT NOT NULL,
    body {BINARY} NOT NULL,
    version {BIGINT} NOT NULL,
    updated_at {REAL} NOT NULL,
    PRIMARY KEY (kind, document_key)
);

CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL,
    project TEXT NOT NULL,
    state TEXT NOT NULL,
    owner TEXT,
    epoch {BIGINT} NOT NULL,
    lease_until {REAL} NOT NULL,
    created_at {REAL} NOT NULL
);
CREATE INDEX sessions_by_age ON sessions (created_at);

CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    role TEXT NOT NULL,
    mode TEXT NOT NULL,
    parent_run_id TEXT,
    state TEXT NOT NULL,
    end_reason TEXT,
    created_at {REAL} NOT NULL,
    ended_at {REAL}
);
CREATE INDEX runs_by_session ON runs (session_id);

CREATE TABLE artifacts (
    artifact_id TEXT PRIMARY KEY,
    size {BIGINT} NOT NULL,
    mime_type TEXT NOT NULL,
    complete INTEGER NOT NULL,
    created_at {REAL} NOT NULL
);
CREATE TABLE artifact_uses (
    artifact_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    call_id TEXT,
    created_at {REAL} NOT NULL
);
CREATE INDEX artifact_uses_by_artifact ON artifact_uses (artifact_id);
CREATE INDEX artifact_uses_by_session ON artifact_uses (session_id);
