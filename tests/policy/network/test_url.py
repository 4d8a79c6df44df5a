"""URLs: one reading or none, and which hosts that leaves."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.policy.network.address import is_public, read_address
from toolcrib.policy.network.url import Url, read_url
from toolcrib.values.refusal import Reason, Refusal

READ = {
    "https://ok.example": "https://ok.example/",
    "HTTPS://OK.EXAMPLE:443/path#frag": "https://ok.example/path",
    "https://ok.example./x?y=1#z": "https://ok.example/x?y=1",
    "http://ok.example:8080?x=1": "http://ok.example:8080/?x=1",
    "https://ok.example/@user/p@q": "https://ok.example/@user/p@q",
    "https://ok.example/%E4%BD%A0": "https://ok.example/%E4%BD%A0",
    "https://ok.example/你?q=é": "https://ok.example/%E4%BD%A0?q=%C3%A9",
    "https://bücher.example/": "https://xn--bcher-kva.example/",
    "https://BÜCHER.example/": "https://xn--bcher-kva.example/",
    "https://xn--bcher-kva.example/": "https://xn--bcher-kva.example/",
    "http://оk.example/": "http://xn--k-0tb.example/",
    "http://127.1/": "http://127.0.0.1/",
    "http://2130706433/": "http://127.0.0.1/",
    "http://0x7f000001/": "http://127.0.0.1/",
    "http://017700000001/": "http://127.0.0.1/",
    "http://127.0.0.1./": "http://127.0.0.1/",
    "http://[::FFFF:127.0.0.1]:81/": "http://[::ffff:7f00:1]:81/",
    "https://_dmarc.ok.example/": "https://_dmarc.ok.example/",
}
REFUSED = [
    "", "ok.example", "//ok.example/", "http:ok.example/", "http:/ok.example/", "http:///ok.example/", "http://",
    "http://ok.example@evil.test/", "http://user:secret@ok.example/", "http://@ok.example/", "http://ok.example:80@evil.test",
    "http://evil.test\\@ok.example/", "http://ok.example\\.evil.test/", "http:\\\\ok.example/",
    "http://evil.test#@ok.example/", "http://evil.test?@ok.example/",
    "http://ok.exa\tmple/", "http://ok.example\n/", " http://ok.example/", "http://ok.example/ x", "http://ok.example\0/",
    "http://ok.example\u200b/", "http://ok.example\u202e/", "http://ok.example/\u2028",
    "http://ok。example/", "http://ok．example/", "http://①②⑦.⓪.⓪.①/", "http://ｏk.example/", "http://faß.example/",
    "http://ok%2eexample/", "http://%6fk.example/", "http://[fe80::1%25lo]/", "http://[fe80::1%lo]/", "http://[::1/",
    "http://[v1.x]/", "http://[::1]x/", "http://[127.0.0.1]/", "http://::1/",
    "http://127.000.000.001/", "http://0177.0.0.1/", "http://256.1.1.1/", "http://1.2.3.4.5/", "http://1.2.3.0x/x.4",
    "http://ok.example:/", "http://ok.example:0/", "http://ok.example:080/", "http://ok.example:65536/",
    "http://ok.example:٣/", "http://ok.example:+80/", "http://ok..example/", "http://.ok.example/", "http://ok.example../",
    "http://-ok.example/", "http://ok!.example/", "http://ok,example/", "http://ok.example;x/",
    "http://xn--k-tbb.example/", "http://xn--.example/", "http://xn--ok.example/", "http://" + "a" * 64 + ".example/",
    "http://" + "a." * 130 + "example/", "http://ok.example/" + "a" * 9_000,
    "ftp://ok.example/", "file:///etc/passwd", "about:blank", "javascript:alert(1)", "data:text/plain,x",
    "HTTP+UNIX://%2fvar%2frun%2fdocker.sock/info", "gopher://ok.example/", "view-source:http://ok.example/",
]  # fmt: skip


@pytest.mark.parametrize(("text", "read"), READ.items())
def test_a_url_has_one_spelling(text: str, read: str) -> None:
    assert str(read_url(text)) == read


@pytest.mark.parametrize("text", REFUSED)
def test_what_could_be_read_in_two_ways_is_refused_with_its_reason(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_url(text)
    assert refused.value.reason is Reason.PERMISSION_DENIED
    assert "write it as https://host/path" in refused.value.message
    assert refused.value.message.isprintable()


PRIVATE = [
    "0.0.0.0",
    "10.0.0.1",
    "100.64.1.1",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "192.0.0.8",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2002:a00:1::]",
    "[2001:0:7f00:1::]",
    "[100::1]",
    "[2001:db8::1]",
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "[2606:4700::1111]", "[64:ff9b::8.8.8.8]"]


@pytest.mark.parametrize(("text", "public"), [*((each, False) for each in PRIVATE), *((each, True) for each in PUBLIC)])
def test_an_address_is_public_only_when_all_that_is_wrapped_in_it_is(text: str, public: bool) -> None:
    address = read_address(text)
    assert address is not None
    assert is_public(address) is public


PARTS = st.sampled_from(
    [*"/?#@:\\.%[]&=-_ é。\u200b", "ok.example", "evil.test", "127.0.0.1", "1", "0x7f", "::1", "xn--", "http", "//"]
)


@given(st.lists(PARTS, max_size=8).map("".join))
def test_what_is_read_is_read_the_same_by_others_and_by_us_again(tail: str) -> None:
    try:
        url = read_url(f"http://{tail}")
    except Refusal:
        return
    assert read_url(str(url)) == url
    split = urlsplit(str(url))
    assert (split.scheme, split.hostname, split.port or 80) == (url.scheme, url.host.strip("[]"), url.port)
    assert split.username is None
    if tail.isascii() and url.address is None:
        assert (urlsplit(f"http://{tail}").hostname or "").rstrip(".") == url.host


@pytest.mark.parametrize(
    ("location", "leads"),
    [("/b", "https://ok.example/b"), ("b?x", "https://ok.example/a/b?x"), ("//evil.test/x", "https://evil.test/x"),
     ("http://ok.example/", "http://ok.example/"), ("?q", "https://ok.example/a/?q"), ("../c", "https://ok.example/c")],
)  # fmt: skip
def test_a_redirect_is_read_from_where_it_was_met(location: str, leads: str) -> None:
    assert str(Url("https", "ok.example", 443, "/a/").joined(location)) == leads
