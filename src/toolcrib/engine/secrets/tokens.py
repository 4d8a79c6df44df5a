"""Tokens that issuers made recognisable: a fixed beginning, an alphabet, a length."""

from __future__ import annotations

import re
from functools import cache

from toolcrib.engine.secrets.find import LEFT, LOOK, Find, Stop, stop_at
from toolcrib.values.noun import frozen

_ALNUM = b"A-Za-z0-9"
_WORD = b"A-Za-z0-9_"
_URL = b"A-Za-z0-9_-"
_DOT = b"A-Za-z0-9_.-"
_B64 = b"A-Za-z0-9+/=_-"
_HEX = b"0-9a-fA-F"
_UPPER = b"A-Z0-9"


@frozen
class Token:
    """`head` then at least `least` characters of `alphabet`; shorter than `full`, it may go on in the next line."""

    label: str
    head: bytes
    alphabet: bytes
    least: int
    full: int = 0
    bounded: bool = False  # letters or digits right before or after mean that it is something else
    mixed: bool = False  # the head is a common word: the rest must not look like words


TOKENS = (
    Token("github_token", b"gh[pousr]_", _ALNUM, 12, 36),
    Token("github_token", b"github_pat_", _WORD, 16, 82),
    Token("gitlab_token", b"gl(?:pat|oas|rt|rtr|cbt|ptt|ft|imt|agent|soat|dt|ffct|wt)-", _DOT, 12, 20),
    Token("gitlab_token", b"GR1348941", _URL, 12, 20),
    Token("slack_token", b"xox[abcdeoprs](?:[.]xox[a-z])?-", _URL, 10, 50),
    Token("slack_token", b"xapp-[0-9]-", _URL, 16),
    Token("slack_webhook", b"hooks[.]slack[.]com/(?:services|workflows|triggers)/", b"A-Za-z0-9/_-", 12),
    Token("stripe_key", b"[sr]k_(?:live|test)_", _ALNUM, 10, 24),
    Token("stripe_key", b"whsec_", b"A-Za-z0-9+/=", 20, 32),
    Token("anthropic_key", b"sk-ant-", _URL, 12, 90),
    Token("openrouter_key", b"sk-or-v1-", _ALNUM, 16, 64),
    Token("openai_key", b"sk-(?:proj|svcacct|admin|None)-", _URL, 16, 100),
    Token("openai_key", b"sk-", _URL, 18, 48, bounded=True, mixed=True),
    Token("google_api_key", b"AIza", _URL, 28, 35),
    Token("google_oauth_token", b"ya29[.]", _DOT, 16),
    Token("google_oauth_secret", b"GOCSPX-", _URL, 16, 28),
    Token("google_refresh_token", b"1//0", _URL, 24, bounded=True),
    Token("aws_access_key_id", b"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])", _UPPER, 16, 16),
    Token("aws_bedrock_key", b"ABSK", b"A-Za-z0-9+/=", 60),
    Token("azure_client_secret", b"[0-9]Q~", b"A-Za-z0-9_.~-", 24, 31),
    Token("sendgrid_key", b"SG[.]", _DOT, 20, 66, bounded=True, mixed=True),
    Token("mailgun_key", b"key-[0-9a-f]{8}", _HEX, 24, 24, bounded=True),
    Token("mailchimp_key", b"[0-9a-f]{4}-us", b"0-9", 1),
    Token("twilio_key", b"SK[0-9a-f]{8}", _HEX, 24, 24, bounded=True),
    Token("huggingface_token", b"hf_", _ALNUM, 20, 34, bounded=True),
    Token("npm_token", b"npm_", _ALNUM, 24, 36),
    Token("pypi_token", b"pypi-Ag", _URL, 20, 150),
    Token("docker_token", b"dckr_(?:pat|oat)_", _URL, 16, 27),
    Token("digitalocean_token", b"do[opr]_v1_", _HEX, 20, 64),
    Token("cloudflare_key", b"v1[.]0-[0-9a-f]{8}", b"0-9a-f-", 32, bounded=True),
    Token("heroku_key", b"HRKU-", _URL, 16),
    Token("telegram_token", b"[0-9]{2}:AA", _URL, 28, 33),
    Token("discord_webhook", b"discord(?:app)?[.]com/api/webhooks/[0-9]{6}", b"0-9A-Za-z/_-", 16),
    Token("discord_token", b"[.][A-Za-z0-9_-]{6}[.]", _URL, 27),
    Token("shopify_token", b"shp(?:at|ca|pa|ss|tka)_", _ALNUM, 20, 32),
    Token("square_token", b"sq0(?:atp|csp|idp)-", _URL, 16, 43),
    Token("square_token", b"EAAA[A-Za-z0-9]", _URL, 50, bounded=True),
    Token("facebook_token", b"EAACEdEose0cBA", _ALNUM, 10),
    Token("atlassian_token", b"AT(?:ATT|CTT)3xFf", b"A-Za-z0-9+/=_.-", 20),
    Token("databricks_token", b"dapi[0-9a-f]{8}", _HEX, 24, 24, bounded=True),
    Token("grafana_token", b"gl(?:sa|c)_", _B64, 24),
    Token("sentry_token", b"sntry[su]_", _B64, 24),
    Token("newrelic_key", b"NRAK-", _ALNUM, 20),
    Token("rubygems_key", b"rubygems_", _HEX, 32, 48),
    Token("postman_key", b"PMAK-", _URL, 24, 59),
    Token("doppler_token", b"dp[.](?:pt|st|ct|sa|scim|audit)[.]", _DOT, 24),
    Token("vault_token", b"hv[sbr][.]", _URL, 20),
    Token("terraform_token", b"[.]atlasv1[.]", _URL, 40),
    Token("planetscale_token", b"pscale_(?:tkn|pw|oauth)_", _DOT, 20),
    Token("linear_key", b"lin_(?:api|oauth)_", _ALNUM, 20),
    Token("notion_token", b"(?:secret|ntn)_[A-Za-z0-9]{4}", _ALNUM, 36, bounded=True),
    Token("groq_key", b"gsk_", _ALNUM, 24, bounded=True),
    Token("replicate_token", b"r8_", _ALNUM, 24, bounded=True),
    Token("perplexity_key", b"pplx-", _ALNUM, 24),
    Token("xai_key", b"xai-", _ALNUM, 24, bounded=True),
    Token("nvidia_key", b"nvapi-", _URL, 24),
    Token("supabase_key", b"sb(?:p|_secret)_", _URL, 20, bounded=True),
    Token("figma_token", b"figd_", _URL, 20),
    Token("tailscale_key", b"tskey-[a-z]{2}", _URL, 16),
    Token("brevo_key", b"xkeysib-", _URL, 24),
    Token("hubspot_token", b"pat-(?:na|eu)[0-9]-", _URL, 24),
    Token("sourcegraph_token", b"sgp_", _WORD, 32),
    Token("onepassword_token", b"ops_eyJ", _B64, 24),
    Token("artifactory_key", b"AKCp[0-9]", _ALNUM, 40),
    Token("crates_token", b"cio[A-Za-z0-9]{4}", _ALNUM, 28, 28, bounded=True, mixed=True),
    Token("fly_token", b"fm[12][ar]?_", _B64, 32),
    Token("age_key", b"AGE-SECRET-KEY-1", _UPPER, 16, 58),
    Token("jwt", b"eyJ", _DOT, 24),
)

_WRAP = rb"(?:\\?\r?\n|\\r\\n|\\n|[\"'][ \t]{0,4}[+.]?\s{0,16}[\"'])[ \t>|#+]{0,16}"
_BEFORE = {  # what stands before the head and belongs to the token
    "azure_client_secret": re.compile(rb"[A-Za-z0-9_.~-]{3}\Z"),
    "discord_token": re.compile(rb"[MNO][A-Za-z0-9_-]{22,27}\Z"),
    "mailchimp_key": re.compile(rb"[0-9a-f]{28}\Z"),
    "telegram_token": re.compile(rb"[0-9]{4,8}\Z"),
    "terraform_token": re.compile(rb"[A-Za-z0-9]{14}\Z"),
}
_JWT = re.compile(rb"eyJ[A-Za-z0-9_-]{8,512}+[.][A-Za-z0-9_-]{8}")
_AWS_PAIR = re.compile(rb"[\s,:;|\"']{1,16}(?:[A-Za-z_ ]{0,32}[\s,:;|=\"']{1,8})?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")
_WORDS = re.compile(rb"[A-Za-z]++(?:[_.-]++[A-Za-z]++)*+[_.-]*+[0-9]{0,2}\Z")


def heads() -> bytes:
    """The beginnings of all tokens as one pattern: a literal and the first few characters of the body."""
    return b"|".join(b"%b[%b]{%d}" % (token.head, token.alphabet, min(token.least, 4)) for token in TOKENS)


@frozen
class _Shape:
    token: Token
    whole: re.Pattern[bytes]
    more: re.Pattern[bytes]
    stop: Stop


def find_token(text: bytes, start: int) -> tuple[Find, ...] | int:
    """The token whose head is at `start`, with the secret beside an access key id; else where to go on looking."""
    resume = start + 1
    for shape in _shapes()[text[start]]:
        found = _find_shape(shape, text, start)
        if isinstance(found, int):
            resume = max(resume, found)
        elif found:
            return found
    return resume


@cache
def _shapes() -> tuple[tuple[_Shape, ...], ...]:
    """For each byte, the tokens that can begin with it."""
    shapes = [(_first(token.head), _shape(token)) for token in TOKENS]
    return tuple(tuple(shape for first, shape in shapes if first.match(bytes((byte,)))) for byte in range(256))


def _first(head: bytes) -> re.Pattern[bytes]:
    if head.startswith(b"["):
        return re.compile(head[: head.index(b"]") + 1])
    if head.startswith(b"(?:"):
        return re.compile(b"|".join(word[:1] for word in head[3:].split(b")")[0].split(b"|")))
    return re.compile(re.escape(head[:1]))


def _shape(token: Token) -> _Shape:
    return _Shape(
        token,
        re.compile(b"(%b)([%b]{1,256}+)" % (token.head, token.alphabet)),
        re.compile(b"%b([%b]{4,128}+)" % (_WRAP, token.alphabet)),
        stop_at(b"[^%b]" % token.alphabet),
    )


def _find_shape(shape: _Shape, text: bytes, start: int) -> tuple[Find, ...] | int:
    limit = start + LOOK
    match = shape.whole.match(text, start, limit)
    if match is None:
        return ()
    token, body, end = shape.token, match[2], match.end()
    if words := _words(token, body):
        return match.start(2) + words
    length = len(body)
    while 4 <= length < token.full and (more := shape.more.match(text, end, limit)):
        length += len(more[1])
        end = more.end() - max(0, length - token.full)
    if length < token.least or _is_something_else(token, text, start, end):
        return ()
    begin = start
    if before := _BEFORE.get(token.label):
        left = before.search(text[max(0, start - LEFT) : start])
        if left is None:
            return ()
        begin -= len(left[0])
    stop = shape.stop if end == match.end() else None
    return _with_pair(Find(begin, end, token.label, stop), text)


def _words(token: Token, body: bytes) -> int:
    """How many characters of the body are plainly no token: xxxxxxxx and the like, or words after a common word."""
    if len(body) >= 8 and len(set(body)) <= 3:
        return len(body)
    return len(body) if token.mixed and _WORDS.match(body) else 0


def _is_something_else(token: Token, text: bytes, start: int, end: int) -> bool:
    if token.label == "jwt":
        return _JWT.match(text, start, start + LOOK) is None
    return token.bounded and (
        _escaped_before(text, start) or (token.full == token.least and text[end : end + 1].isalnum())
    )


def _escaped_before(text: bytes, start: int) -> bool:
    """Whether a letter or digit stands before `start`, other than the end of an escape such as \\n or %3D."""
    before = text[max(0, start - 3) : start]
    if not before[-1:].isalnum():
        return False
    return not (before[-2:-1] == b"\\" or (len(before) == 3 and before[:1] == b"%"))


def _with_pair(find: Find, text: bytes) -> tuple[Find, ...]:
    if find.label != "aws_access_key_id":
        return (find,)
    pair = _AWS_PAIR.match(text, find.end, find.end + 128)
    key = Find(find.start, find.end, find.label)
    return (key, Find(pair.start(1), pair.end(1), "aws_secret_key")) if pair else (key,)
