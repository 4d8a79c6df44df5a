-- Questions that wait for a person, and the answers that cover the rest of a live session. A question is open until its
-- call has a result; body holds the request as it was shown, call what has to be settled once there is an answer.
CREATE TABLE questions (
    request_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    epoch {BIGINT} NOT NULL,
    digest TEXT NOT NULL,
    salt TEXT NOT NULL,
    body {BINARY} NOT NULL,
    call {BINARY} NOT NULL,
    state TEXT NOT NULL,
    settled INTEGER NOT NULL,
    answer TEXT,
    reason TEXT,
    principal TEXT,
    answered_at {REAL},
    created_at {REAL} NOT NULL,
    expires_at {REAL} NOT NULL
);
CREATE INDEX questions_by_session ON questions (session_id, settled);
CREATE INDEX questions_by_state ON questions (state, created_at);

CREATE TABLE grants (
    session_id TEXT NOT NULL,
    epoch {BIGINT} NOT NULL,
    agent_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    granted_at {REAL} NOT NULL,
    PRIMARY KEY (session_id, epoch, agent_id, tool, fingerprint, kind, scope)
);
