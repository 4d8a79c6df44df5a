"""The SQL that every database understands; parameters are written `?` and renamed by the dialect."""

from __future__ import annotations

import re

from toolcrib.values.noun import frozen

_WORD = re.compile(r"\{(FACT|MORE|BYTES) ([a-z0-9 ]+)\}")


@frozen
class Dialect:
    """The few words in which databases differ."""

    name: str
    parameter: str
    big_integer: str
    real: str
    binary: str
    clustered: str
    lock_row: str
    within: str
    fact: str
    more: str
    size: str
    each_more: str
    bytes_of: str

    def sql(self, text: str) -> str:
        """A shared statement in this database's words."""
        return text.replace("?", self.parameter) if self.parameter != "?" else text

    def schema(self, text: str) -> str:
        """A migration in this database's words."""
        words = {
            "{BIGINT}": self.big_integer,
            "{REAL}": self.real,
            "{BINARY}": self.binary,
            "{CLUSTERED}": self.clustered,
            "{SIZE}": self.size,
            "{EACH MORE}": self.each_more,
        }
        for word, meaning in words.items():
            text = text.replace(word, meaning)
        phrases = {"FACT": self.fact, "MORE": self.more, "BYTES": self.bytes_of}
        return _WORD.sub(lambda found: phrases[found[1]].replace("PLACE", found[2].replace(" ", self.within)), text)


# SQLite needs no row lock: BEGIN IMMEDIATE has locked the file. "INTEGER" makes the key the row id itself. A text of
# facts that somebody has spoilt, or that is no text at all, is no error here, so that verification can name it.
SQLITE = Dialect(
    "sqlite", "?", "INTEGER", "REAL", "BLOB", "WITHOUT ROWID", "",
    within="][", fact="json_extract(iif(json_valid(facts), facts, 'null'), '$[PLACE]')",
    more="json_extract(facts, more.fullkey || '[PLACE]')",
    size="max(iif(json_valid(facts), json_array_length(facts), 0) - 7, 1)",
    each_more="json_each(iif(json_valid(facts), facts, '[]')) AS more",
    bytes_of="CAST(PLACE AS BLOB)",
)  # fmt: skip
POSTGRES = Dialect(
    "postgres", "%s", "BIGINT", "DOUBLE PRECISION", "BYTEA", "", " FOR UPDATE",
    within=",", fact="(facts::jsonb #>> '{PLACE}')",
    more="(more.value ->> PLACE)",
    size="greatest(jsonb_array_length(facts::jsonb) - 7, 1)",
    each_more="LATERAL (SELECT place - 1 AS key, value FROM jsonb_array_elements(facts::jsonb) WITH ORDINALITY"
    " AS one (value, place)) AS more",
    bytes_of="convert_to(PLACE, 'UTF8')",
)  # fmt: skip

_STORED = "seq, run_seq, text, salted, hash"
COLUMNS = f"{_STORED}, digest, (SELECT hash FROM events AS before WHERE before.seq = links.seq - links.size)"

READ_TIP = "SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1"
READ_HEAD = "SELECT seq, hash FROM head WHERE one = 1"
NOTE_HEAD = "UPDATE head SET seq = ?, hash = ? WHERE one = 1"
ADD_EVENT = "INSERT INTO events (seq, run_seq, facts, payload, hash) VALUES (?, ?, ?, ?, ?)"
# Any row of a table that is never written: as long as the next one is not asked for, the snapshot is held.
HOLD = "SELECT number FROM migrations"
HASH_AT = "SELECT hash FROM events WHERE seq = ?"

# `+seq` keeps the planner on the other condition: only the few events that are not filed yet are looked at.
_UNFILED = "FROM links WHERE seq > (SELECT seq FROM filed)"
FILED_AND_NEWEST = "SELECT seq, (SELECT max(seq) FROM events) FROM filed WHERE one = 1"
MOVE_FILED = "UPDATE filed SET seq = ? WHERE one = 1"
# Where a stretch begins: right after what is filed, and wherever the link before is of another session or run.
STRETCH_STARTS = (
    "SELECT links.session_id, links.run_id, links.seq - links.size + 1 FROM links"
    " LEFT JOIN links AS before ON before.seq = links.seq - links.size AND before.seq > ? WHERE links.seq > ?"
    " AND (before.seq IS NULL OR before.session_id <> links.session_id"
    " OR coalesce(before.run_id, '') <> coalesce(links.run_id, '')) ORDER BY links.seq"
)
ADD_STRETCH = "INSERT INTO stretches (session_id, first_seq, last_seq) VALUES (?, ?, ?)"
MOVE_RUN = (
    "INSERT INTO run_heads (session_id, run_id, run_seq) SELECT session_id, run_id, run_seq FROM links"
    " WHERE seq = (SELECT max(seq) FROM links WHERE seq <= ?)"
    " ON CONFLICT (session_id, run_id) DO UPDATE SET run_seq = excluded.run_seq"
)
UNFILED = "SELECT coalesce((SELECT max(seq) FROM events), 0) - seq FROM filed WHERE one = 1"
# The events of a session that are filed, in their order; whatever a stretch may hold of others is passed over.
_FILED = (
    "SELECT links.seq FROM stretches JOIN links ON links.seq BETWEEN stretches.first_seq AND stretches.last_seq"
    " AND links.session_id = stretches.session_id"
)
MISFILED = (
    "SELECT min(seq) FROM links WHERE seq <= (SELECT seq FROM filed) AND seq > coalesce((SELECT last_seq"
    " FROM stretches WHERE session_id = links.session_id AND first_seq <= links.seq"
    " ORDER BY first_seq DESC LIMIT 1), 0)"
)
LAST_OF_RUN = (
    "SELECT max(run_seq) FROM (SELECT run_seq FROM run_heads WHERE session_id = ? AND run_id = ?"
    f" UNION ALL SELECT run_seq {_UNFILED} AND session_id = ? AND run_id = ?) AS numbers"
)
RUNS_SINCE = (
    "SELECT session_id, run_id, max(run_seq) FROM links WHERE seq > ? AND run_id IS NOT NULL"
    " GROUP BY session_id, run_id"
)

LINKS_AFTER = f"SELECT {COLUMNS} FROM links WHERE seq > ? ORDER BY seq LIMIT ?"
# After a place: the first stretch to look at is the last one that begins before it.
_FILED_AFTER = (
    "SELECT links.seq FROM stretches JOIN links ON links.seq BETWEEN"
    " CASE WHEN stretches.first_seq > ? THEN stretches.first_seq ELSE ? + 1 END AND stretches.last_seq"
    " AND links.session_id = stretches.session_id WHERE stretches.session_id = ? AND stretches.first_seq >="
    " coalesce((SELECT max(first_seq) FROM stretches WHERE session_id = ? AND first_seq <= ?), 0)"
)
SESSION_LINKS_AFTER = (
    f"SELECT {COLUMNS} FROM links WHERE seq IN (SELECT seq FROM ({_FILED_AFTER}"
    " ORDER BY stretches.first_seq, links.seq LIMIT ?) AS first"
    f" UNION ALL SELECT seq {_UNFILED} AND session_id = ? AND +seq > ?) ORDER BY seq LIMIT ?"
)
_OF_SESSION = f"seq IN ({_FILED} WHERE stretches.session_id = ? UNION ALL SELECT seq {_UNFILED} AND session_id = ?)"
# Which links tell of a call or a kind of event: those whose text has its name; whoever asks looks closer.
_NAMES = "replace(facts, ?, '') <> facts"
LINKS_NAMING = f"SELECT {COLUMNS} FROM links WHERE {_OF_SESSION} AND {_NAMES} ORDER BY seq"
BROKEN_RUNS = (
    "SELECT run_id, min(seq) FROM links WHERE run_id IS NOT NULL GROUP BY session_id, run_id"
    " HAVING min(run_seq - size) <> 0 OR max(run_seq) <> sum(size) OR count(DISTINCT run_seq) <> count(*) LIMIT 100"
)
HEAD_AND_TIP = (
    "SELECT head.seq, head.hash, tip.seq, tip.hash FROM (SELECT 1 AS one) AS always"
    f" LEFT JOIN head ON head.one = always.one LEFT JOIN ({READ_TIP}) AS tip ON always.one = 1"
)

READ_DOCUMENT = "SELECT body, version FROM documents WHERE kind = ? AND document_key = ?"
ADD_DOCUMENT = (
    "INSERT INTO documents (kind, document_key, body, version, updated_at) VALUES (?, ?, ?, 1, ?)"
    " ON CONFLICT (kind, document_key) DO NOTHING"
)
CHANGE_DOCUMENT = (
    "UPDATE documents SET body = ?, version = version + 1, updated_at = ?"
    " WHERE kind = ? AND document_key = ? AND version = ?"
)

OPEN_RUN = (
    "INSERT INTO runs (run_id, session_id, agent_id, role, mode, parent_run_id, state, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?, 'open', ?) ON CONFLICT (run_id) DO NOTHING"
)
CLOSE_RUN = "UPDATE runs SET state = 'closed', end_reason = ?, ended_at = ? WHERE run_id = ? AND state = 'open'"
SESSION_RUNS = (
    "SELECT run_id, session_id, agent_id, role, mode, parent_run_id, state, end_reason, created_at, ended_at"
    " FROM runs WHERE session_id = ? ORDER BY created_at, run_id"
)

READ_LEASE = "SELECT owner, epoch, lease_until FROM sessions WHERE session_id = ?"
ADD_SESSION = (
    "INSERT INTO sessions (session_id, agent_id, project, state, owner, epoch, lease_until, created_at)"
    " VALUES (?, ?, ?, 'active', ?, 1, ?, ?)"
)
TAKE_SESSION = (
    "UPDATE sessions SET owner = ?, epoch = ?, lease_until = ?, agent_id = ?, project = ?, state = 'active'"
    " WHERE session_id = ?"
)
RENEW_LEASE = "UPDATE sessions SET lease_until = ? WHERE session_id = ? AND owner = ? AND epoch = ?"
RELEASE_LEASE = (
    "UPDATE sessions SET owner = NULL, lease_until = 0, state = ? WHERE session_id = ? AND owner = ? AND epoch = ?"
)
_SESSION = (
    "SELECT session_id, agent_id, project, state, owner, epoch, lease_until, created_at,"
    " (SELECT coalesce(sum(last_seq - first_seq + 1), 0) FROM stretches"
    " WHERE stretches.session_id = sessions.session_id)"
    f" + (SELECT coalesce(sum(size), 0) {_UNFILED} AND links.session_id = sessions.session_id) FROM sessions"
)
ONE_SESSION = f"{_SESSION} WHERE session_id = ?"
NEWEST_SESSIONS = f"{_SESSION} ORDER BY created_at DESC, session_id LIMIT ?"

# A purge goes through the events in order, some at a time: candidates after a place, of all sessions or of one.
NEXT_LINKS = "SELECT seq FROM events WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
NEXT_OF_SESSION = f"{_FILED_AFTER} AND +links.seq <= ? ORDER BY stretches.first_seq, links.seq LIMIT ?"
PAYLOADS = (
    "SELECT seq, salted, text FROM links WHERE seq IN (SELECT seq FROM ({candidates}) AS next)"
    " AND salted IS NOT NULL AND session_id <> ? AND created_at < ? ORDER BY seq"
)
ANY_PAYLOAD = "SELECT count(*) FROM ({payloads} LIMIT 1) AS found"
ERASE_PAYLOADS = "UPDATE events SET payload = NULL, digest = ? WHERE seq = ?"

ADD_ARTIFACT = (
    "INSERT INTO artifacts (artifact_id, size, mime_type, complete, created_at) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (artifact_id) DO NOTHING"
)
ADD_USE = "INSERT INTO artifact_uses (artifact_id, session_id, call_id, created_at) VALUES (?, ?, ?, ?)"
ONE_ARTIFACT = "SELECT artifact_id, size, mime_type, complete, created_at FROM artifacts WHERE artifact_id = ?"
DROP_USES_BEFORE = "DELETE FROM artifact_uses WHERE created_at < ?"
DROP_SESSION_USES = "DELETE FROM artifact_uses WHERE session_id = ? AND created_at < ?"
DROP_ARTIFACT_USES = "DELETE FROM artifact_uses WHERE artifact_id = ?"
ARTIFACTS_BY_USE = (
    "SELECT artifacts.artifact_id, size FROM artifacts JOIN artifact_uses"
    " ON artifact_uses.artifact_id = artifacts.artifact_id"
    " GROUP BY artifacts.artifact_id, size ORDER BY max(artifact_uses.created_at) DESC, artifacts.artifact_id"
)
UNUSED_ARTIFACTS = (
    "SELECT artifact_id FROM artifacts WHERE NOT EXISTS"
    " (SELECT 1 FROM artifact_uses WHERE artifact_uses.artifact_id = artifacts.artifact_id) LIMIT ?"
)
DROP_ARTIFACT = "DELETE FROM artifacts WHERE artifact_id = ?"

_QUESTION = (
    "request_id, body, call, digest, salt, epoch, created_at, state, settled, answer, reason, principal, answered_at"
)
ADD_QUESTION = (
    "INSERT INTO questions (request_id, session_id, call_id, epoch, digest, salt, body, call, state, settled,"
    " created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?, ?)"
)
ONE_QUESTION = f"SELECT {_QUESTION} FROM questions WHERE request_id = ?"
ALL_QUESTIONS = f"SELECT {_QUESTION} FROM questions ORDER BY created_at, request_id LIMIT ?"
QUESTIONS_IN_STATE = f"SELECT {_QUESTION} FROM questions WHERE state = ? ORDER BY created_at, request_id LIMIT ?"
OPEN_QUESTIONS = (
    f"SELECT {_QUESTION} FROM questions WHERE session_id = ? AND settled = 0 ORDER BY created_at, request_id LIMIT ?"
)
ANSWER_QUESTION = (
    "UPDATE questions SET state = 'answered', answer = ?, reason = ?, principal = ?, answered_at = ?"
    " WHERE request_id = ? AND state = 'pending' AND expires_at > ?"
)
EXPIRE_QUESTION = "UPDATE questions SET state = 'expired' WHERE request_id = ? AND state = 'pending'"
WITHDRAW_QUESTION = "UPDATE questions SET state = 'withdrawn', settled = 1 WHERE request_id = ? AND state = 'pending'"
SETTLE_QUESTION = "UPDATE questions SET settled = 1 WHERE request_id = ? AND state <> 'pending'"
FORGET_QUESTIONS = "DELETE FROM questions WHERE created_at < ?"
FORGET_SESSION_QUESTIONS = "DELETE FROM questions WHERE session_id = ? AND created_at < ?"

ADD_GRANT = (
    "INSERT INTO grants (session_id, epoch, agent_id, tool, fingerprint, kind, scope, granted_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
SESSION_GRANTS = (
    "SELECT agent_id, tool, fingerprint, kind, scope FROM grants WHERE session_id = ? AND epoch = ? AND EXISTS"
    " (SELECT 1 FROM sessions WHERE sessions.session_id = grants.session_id AND sessions.epoch = grants.epoch"
    " AND sessions.owner = ?)"
)
DROP_GRANTS = "DELETE FROM grants WHERE session_id = ?"

READ_POOL = "SELECT tokens, stamp FROM rate_pools WHERE bucket = ?"
WRITE_POOL = (
    "INSERT INTO rate_pools (bucket, tokens, stamp, full_at) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (bucket) DO UPDATE SET tokens = excluded.tokens, stamp = excluded.stamp, full_at = excluded.full_at"
)
REFUND_POOL = "UPDATE rate_pools SET tokens = tokens + ? WHERE bucket = ?"
DROP_DEAD_BLOCKS = "DELETE FROM rate_blocks WHERE expires_at <= ? OR drawn_at > ?"
DROP_BLOCK = "DELETE FROM rate_blocks WHERE bucket = ? AND holder = ?"
ADD_BLOCK = "INSERT INTO rate_blocks (bucket, holder, amount, drawn_at, expires_at) VALUES (?, ?, ?, ?, ?)"
DRAWN = "SELECT coalesce(sum(amount), 0) FROM rate_blocks WHERE bucket = ?"
DROP_FULL_POOLS = (
    "DELETE FROM rate_pools WHERE full_at <= ?"
    " AND NOT EXISTS (SELECT 1 FROM rate_blocks WHERE rate_blocks.bucket = rate_pools.bucket)"
)

_APPROVAL = "surface, tool, fingerprint, basis, principal, reason, created_at"
ADD_CONTRACT = "INSERT INTO contracts (fingerprint, body) VALUES (?, ?) ON CONFLICT (fingerprint) DO NOTHING"
READ_CONTRACT = "SELECT body FROM contracts WHERE fingerprint = ?"
ADD_APPROVAL = (
    f"INSERT INTO contract_approvals (number, {_APPROVAL})"
    " VALUES ((SELECT coalesce(max(number), 0) + 1 FROM contract_approvals), ?, ?, ?, ?, ?, ?, ?)"
)
NEWEST_APPROVAL = "SELECT max(number) FROM contract_approvals WHERE surface = ? AND tool = ? HAVING max(number) > 0"
APPROVAL_COUNT = "SELECT coalesce(max(number), 0) FROM contract_approvals"
SNAPSHOT_COUNT = "SELECT count(*) FROM contract_approvals WHERE surface = ? AND basis = 'snapshot'"
BASELINES = (
    f"SELECT {_APPROVAL} FROM contract_approvals WHERE number IN"
    " (SELECT max(number) FROM contract_approvals WHERE surface = ? GROUP BY tool) ORDER BY tool"
)
TOOL_APPROVALS = f"SELECT {_APPROVAL} FROM contract_approvals WHERE surface = ? AND tool = ? ORDER BY number"

_EDGE = (
    "edge_id, scope, source, target, relation, state, seen, first_seen, last_seen, approved_by, approved_at FROM edges"
)
SEE_EDGE = (
    "INSERT INTO edges (edge_id, scope, source, target, relation, state, seen, first_seen, last_seen)"
    " VALUES (?, ?, ?, ?, ?, 'observed', 1, ?, ?)"
    " ON CONFLICT (edge_id) DO UPDATE SET seen = edges.seen + 1, last_seen = excluded.last_seen"
)
ONE_EDGE = f"SELECT {_EDGE} WHERE edge_id = ?"
ALL_EDGES = f"SELECT {_EDGE} ORDER BY scope, source, target, relation"
SCOPE_EDGES = f"SELECT {_EDGE} WHERE scope = ? ORDER BY source, target, relation"
APPROVE_EDGE = "UPDATE edges SET state = 'approved', approved_by = ?, approved_at = ? WHERE edge_id = ?"
LOCKS = "SELECT scope, principal, locked_at FROM locks ORDER BY scope"
LOCK_SCOPE = "INSERT INTO locks (scope, principal, locked_at) VALUES (?, ?, ?) ON CONFLICT (scope) DO NOTHING"
UNLOCK_SCOPE = "DELETE FROM locks WHERE scope = ?"
