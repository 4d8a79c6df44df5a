"""URLs, read strictly: what two programs could read differently is refused, so that what is checked is what is used."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from urllib.parse import quote, urljoin

from toolcrib.policy.network.address import Address, read_address
from toolcrib.policy.network.unlisted import SCHEMES
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal

MAX_URL = 8_192
MAX_HOST, MAX_LABEL = 253, 63
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
_TWO_READINGS = frozenset("ßς\u200c\u200d")
"""Letters that the two standards for international names turn into different names."""
_KEPT = "/?#[]@!$&'()*+,;=:%~-._"


@frozen
class Url:
    """A URL that has one reading. `host` is in lower case and ASCII, without a dot at its end; an address is canonical.

    `rest` is path and query as they are sent; a fragment never is.
    """

    scheme: str
    host: str
    port: int
    rest: str
    address: Address | None = None

    @property
    def authority(self) -> str:
        """Host and port, as rules and people name them."""
        return f"{self.host}:{self.port}"

    def __str__(self) -> str:
        shown = self.host if self.port == PORTS.get(self.scheme) else self.authority
        return f"{self.scheme}://{shown}{self.rest}"

    def joined(self, location: str, schemes: Collection[str] = SCHEMES) -> Url:
        """Where a redirect from here leads; Refusal when that is no URL with one reading."""
        _check_letters(location)
        return read_url(urljoin(str(self), location), schemes)


def read_url(text: str, schemes: Collection[str] = SCHEMES) -> Url:
    """Read a URL; Refusal for what is none, hides something, or means different things to different programs."""
    _check_letters(text)
    found = _SCHEME.fullmatch(text)
    scheme, after = (found[1].lower(), found[2]) if found else ("", text)
    if scheme not in schemes or not after.startswith("//"):
        raise _refused(text, f"it does not begin with {' or '.join(f'{each}://' for each in schemes)}")
    end = next((index for index, letter in enumerate(after[2:], 2) if letter in "/?#"), len(after))
    authority, rest = after[2:end], after[end:]
    if rest[:1] in ("?", "#") and "@" in rest:
        raise _refused(text, "the part after its host is made to look like a host")
    host, port = _split(text, authority)
    name, address = _host(text, host)
    path = rest.partition("#")[0]
    sent = quote(path if path.startswith("/") else f"/{path}", safe=_KEPT)
    return Url(scheme, name, port or PORTS.get(scheme, 0), sent, address)


def _check_letters(text: str) -> None:
    if not text or len(text) > MAX_URL:
        raise _refused(text[:80], f"it is empty or longer than {MAX_URL} characters")
    for letter in text:
        if letter == "\\":
            raise _refused(text, "it holds a backslash, which some programs read as a slash")
        if unicodedata.category(letter) in _UNSEEN:
            raise _refused(text, f"it holds U+{ord(letter):04X}, a blank or a character that cannot be seen")


def _split(text: str, authority: str) -> tuple[str, int | None]:
    """Host and port of an authority."""
    if "@" in authority:
        raise _refused(text, "it holds a user name or password before its host")
    if "%" in authority:
        raise _refused(text, "its host is percent-encoded, or names a network interface")
    if authority.startswith("["):
        host, bracket, after = authority.partition("]")
        host += bracket
        if after and not after.startswith(":"):
            raise _refused(text, "something stands between its host and its port")
        port = after[1:] if after else None
    else:
        host, colon, port = authority.partition(":")
        port = port if colon else None
    if port is None:
        return host, None
    if not re.fullmatch(r"[1-9][0-9]{0,4}", port, re.ASCII) or int(port) > 65_535:
        raise _refused(text, f"{port[:20]!r} is not a port")
    return host, int(port)


def _host(text: str, host: str) -> tuple[str, Address | None]:
    """A host in its one spelling, and the address that it is, if it is one."""
    if host.startswith("[") or host.isascii():
        name = host.lower()
    else:
        name = ".".join(_ascii_label(text, label) for label in host.split("."))
    name = name.removesuffix(".")
    try:
        address = read_address(name)
    except ValueError as error:
        raise _refused(text, f"its host has no one reading: {error}") from error
    if address is not None:
        return f"[{address.compressed}]" if address.version == 6 else str(address), address
    _check_name(text, name)
    return name, None


def _check_name(text: str, name: str) -> None:
    if not name or len(name) > MAX_HOST:
        raise _refused(text, "it has no host" if not name else "its host is too long")
    for label in name.split("."):
        if len(label) > MAX_LABEL or not _LABEL.fullmatch(label):
            raise _refused(text, f"{label[:70]!r} cannot be a part of a host's name")
        if label.startswith("xn--"):
            _check_punycode(text, label)


def _ascii_label(text: str, label: str) -> str:
    """An international label as the name system has it. Only letters in the one form that nothing would change."""
    if label.isascii():
        return label.lower()
    plain = unicodedata.normalize("NFKC", label).casefold()
    if label.lower() != plain or set(plain) & _TWO_READINGS:
        raise _refused(text, f"the letters of {label[:70]!r} in its host are read differently by different programs")
    if any(unicodedata.category(letter)[0] not in "LMN" and letter != "-" for letter in plain):
        raise _refused(text, f"{label[:70]!r} in its host holds something other than letters and digits")
    return f"xn--{plain.encode('punycode').decode('ascii')}"


def _check_punycode(text: str, label: str) -> None:
    try:
        plain = label[4:].encode("ascii").decode("punycode")
        fits = not plain.isascii() and _ascii_label(text, plain) == label
    except (UnicodeError, Refusal):
        fits = False
    if not fits:
        raise _refused(text, f"{label[:70]!r} in its host stands for no international name")


def _refused(text: str, why: str) -> Refusal:
    shown = ascii(text if len(text) <= 200 else text[:199] + "…")
    message = f"{shown} cannot be used: {why}; write it as https://host/path"
    return Refusal(Reason.PERMISSION_DENIED, message, {"by": "network", "why": why})
