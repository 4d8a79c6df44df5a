"""Names of things that hold secrets: which kind of secret `DB_PASSWORD`, `apiKey` or `x-auth-token` announces."""

from __future__ import annotations

import re
from functools import lru_cache

PASSWORDS = rb"pass(?:w(?:or)?d|wort|phrase|code)?|pwd"
OTHERS = (
    rb"secret|token|credential|(?:api|access|auth|account|private|secret|encryption|signing|master|shared"
    rb"|subscription|service|storage|client|app|admin|deploy|license|session|consumer|jwt|hmac|ssh|webhook|application)"
    rb"[_. -]?key"
)

_WORD = re.compile(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_FILLER = re.compile("value|plain|text|raw|base|b|default|current|new|old|confirm|str")
_NOT_THE_SECRET = re.compile(
    r"""(?x)
      counts? | limits? | max | min | length | len | size | types? | usage | budget | names? | ids? | identifier
    | url | uri | paths? | files? | dir | directory | folder | expir(?:es|y|ation|ed|e) | ttl | age | at
    | index | position | offset | endpoint | fields? | label | title | hint | policy | strength | rules? | regex
    | pattern | prompt | help | desc(?:ription)? | message | errors? | status | state | version | format
    | encoding | alg(?:orithm)? | hash | digest | fingerprint | checksum | required | optional | enabled
    | disabled | (?:in)?valid | validator | reset | changed? | updated | created | date | time | timestamp
    | provider | store | storage | manager | service | server | host | port | user | username | email | input
    | form | page | screen | view | modal | refs? | reference | selector | class | kind | stream | list | map
    | set | cache | cost | price | rate | per | seconds? | ms | header | mode | source | scopes? | issuer
    | audience | arn | keyid | window | bytes | chars | words | lifetime | rotation | env | var | variable
    | column | table | row | placeholder | mask(?:ed)? | visib(?:le|ility) | show | hide | toggle | attempts
    | retries | handler | factory | func | function | method | callback | generator | parser | lexer | iterator
    | info | metadata | template
    """
)
_OF_A_LIST = re.compile(  # a token that is a place in a list or a word of a text, not a credential
    r"next|page|continuation|cursor|sync|prev(?:ious)?|resume|scroll|start|end|stop|eos|bos|pad|unk|sep|cls|special|current"
    r"|first|last|input|output|prompt|reasoning|nonce"
)
_OF_AN_ACCOUNT = re.compile(
    r"db|smtp|my|mysql|mail|user|admin|root|ftp|redis|pg|postgres|auth|login|email|database|imap|ldap|proxy|sudo|ssh|vnc|wifi"
    r"|sql|mongo|rabbitmq|git|account|basic|http"
)
_OF_A_KEY = re.compile(
    r"api|access|auth|account|private|secret|encryption|signing|master|shared|subscription|service|storage|client|app|admin"
    r"|deploy|license|session|consumer|jwt|hmac|ssh|webhook|application"
)


@lru_cache(2048)
def kind_of(name: bytes) -> str | None:
    """The kind of secret a name announces: password, secret, token, key, credential, authorization, or none."""
    words = [word.decode("latin-1").lower() for word in _WORD.findall(name)]
    while len(words) > 1 and _FILLER.fullmatch(words[-1]):
        words.pop()
    if not words or _NOT_THE_SECRET.fullmatch(words[-1]):
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last.endswith(("password", "passwd", "passphrase", "passwort", "passcode", "pwd")):
        return "password"
    if last in ("pass", "pw") and before and (name.isupper() or _OF_AN_ACCOUNT.fullmatch(before)):
        return "password"
    if last.endswith("secret") or (last in ("key", "token") and before == "secret"):
        return "secret"
    if last.endswith("token"):
        return None if _OF_A_LIST.fullmatch(before or last.removesuffix("token")) else "token"
    if last.endswith("key") and _OF_A_KEY.fullmatch(last.removesuffix("key") or before):
        return "key"
    if last.rstrip("s") in ("credential", "cred"):
        return "credential"
    if last == "authorization" or name.lstrip(b"_").lower() == b"auth":
        return "authorization"
    return None
