"""The rule set, as a table: texts with secrets, which must go, and texts without, which must stay as they are.

Fake secrets are put together at run time, so that no scanner takes one in this file for real.
"""

from __future__ import annotations

import base64
import random
import string

import pytest

from toolcrib.engine.redact import Redactor
from toolcrib.values.marker import MARKER

_random = random.Random(20)
_LETTERS = string.ascii_letters + string.digits


def fake(length: int, alphabet: str = _LETTERS) -> str:
    """Random letters that hold a digit and both cases, as issued tokens do."""
    body = [_random.choice(alphabet) for _ in range(length)]
    for index, kind in enumerate(("7", "a", "Q")):
        body[index * 3 % length] = kind if kind in alphabet else body[index * 3 % length]
    return "".join(body)


HEX = "0123456789abcdef"
URL = _LETTERS + "_-"
UPPER = string.ascii_uppercase + "234567"
B64 = _LETTERS + "+/"
PASSWORD = "s3cr3t" + "Fak3!"
PEM_BODY = "\n".join(fake(64, B64) for _ in range(12))


def pem(kind: str, body: str = PEM_BODY) -> str:
    return f"-----BEGIN {kind}PRIVATE" + f" KEY-----\n{body}\n-----END {kind}PRIVATE" + " KEY-----"


def jwt() -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(b'{"sub":"1234567890","name":"J"}').decode().rstrip("=")
    return f"{head}.{body}.{fake(43, URL)}"


# A token by itself: all of it must be gone.
TOKENS: dict[str, str] = {
    "github personal": "gh" + "p_" + fake(36),
    "github oauth": "gh" + "o_" + fake(36),
    "github user": "gh" + "u_" + fake(36),
    "github server": "gh" + "s_" + fake(36),
    "github refresh": "gh" + "r_" + fake(36),
    "github fine-grained": "github" + "_pat_" + fake(22) + "_" + fake(59),
    "gitlab personal": "glp" + "at-" + fake(20, URL),
    "gitlab runner": "glr" + "t-" + fake(20, URL),
    "gitlab deploy": "gld" + "t-" + fake(20, URL),
    "slack bot": "xox" + "b-" + "123456789012-123456789012-" + fake(24),
    "slack user": "xox" + "p-" + "123456789012-123456789012-123456789012-" + fake(32, HEX),
    "slack app": "xap" + "p-1-A" + fake(10) + "-123456789012-" + fake(40, HEX),
    "stripe live": "sk_" + "live_" + fake(24),
    "stripe restricted": "rk_" + "test_" + fake(24),
    "stripe webhook": "wh" + "sec_" + fake(32),
    "anthropic": "sk-" + "ant-api03-" + fake(93, URL),
    "openai": "sk" + "-" + fake(48),
    "openai project": "sk-" + "proj-" + fake(100, URL),
    "google api": "AI" + "za" + fake(35, URL),
    "google oauth": "ya" + "29." + fake(60, URL),
    "google client secret": "GOC" + "SPX-" + fake(28, URL),
    "aws access key": "AK" + "IA" + fake(16, UPPER),
    "aws temporary key": "AS" + "IA" + fake(16, UPPER),
    "azure client secret": "abc" + "8Q~" + fake(34, URL),
    "sendgrid": "SG" + "." + fake(22, URL) + "." + fake(43, URL),
    "mailgun": "key" + "-" + fake(32, HEX),
    "mailchimp": fake(32, HEX) + "-us" + "12",
    "twilio": "S" + "K" + fake(32, HEX),
    "huggingface": "hf" + "_" + fake(34),
    "npm": "np" + "m_" + fake(36),
    "pypi": "pyp" + "i-AgEIcHlwaS5vcmc" + fake(120, URL),
    "docker": "dckr" + "_pat_" + fake(27, URL),
    "digitalocean": "do" + "p_v1_" + fake(64, HEX),
    "heroku": "HRK" + "U-" + fake(60, URL),
    "telegram": "1234567890" + ":AA" + fake(33, URL),
    "discord": "M" + fake(23) + "." + fake(6) + "." + fake(38, URL),
    "shopify": "shp" + "at_" + fake(32, HEX),
    "square": "sq0" + "atp-" + fake(22, URL),
    "databricks": "da" + "pi" + fake(32, HEX),
    "grafana": "gl" + "sa_" + fake(32) + "_" + fake(8, HEX),
    "vault": "hv" + "s." + fake(90, URL),
    "terraform": fake(14) + ".atlas" + "v1." + fake(64, URL),
    "linear": "lin" + "_api_" + fake(40),
    "notion": "sec" + "ret_" + fake(43),
    "groq": "gs" + "k_" + fake(52),
    "age": "AGE-SECRET" + "-KEY-1" + fake(58, string.ascii_uppercase + "0123456789"),
    "jwt": jwt(),
    "rsa key": pem("RSA "),
    "ec key": pem("EC "),
    "openssh key": pem("OPENSSH "),
    "pkcs8 key": pem(""),
    "encrypted key": pem("ENCRYPTED "),
}

# (text before, the secret, text after): the secret must be gone, everything else must stay.
IN_PLACE: list[tuple[str, str, str]] = [
    ("postgres://user:", PASSWORD, "@db.example/x"),
    ("redis://:", PASSWORD, "@cache:6379/0"),
    ("mongodb+srv://app:", "p@ss" + "w0rd1", "@cluster.example/db?retryWrites=true"),
    ("see https://", fake(40, HEX), "@git.example/repo.git"),
    ("next=postgres%3A%2F%2Fuser%3A", "s3cr3t" + "Fak3", "%40db.example%2Fx"),
    ("DB_PASSWORD=", PASSWORD, "\nDB_HOST=db.example\n"),
    ("export API_TOKEN='", fake(20), "'\n"),
    ("SECRET_KEY=", fake(40) + "&,;!" + fake(4), "\nDEBUG=1"),
    ("docker run -e MYSQL_ROOT_PASSWORD=", "sword" + "fish", " mysql:8"),
    ('{"password": "', PASSWORD, '", "user": "ann"}'),
    ('{"user":"ann","clientSecret":"', fake(32), '"}'),
    (r"{\"api_key\": \"", fake(32), r"\", \"region\": \"eu\"}"),
    ("{&quot;apiKey&quot;: &quot;", fake(32), "&quot;}"),
    ("password: ", PASSWORD, "\nuser: ann"),
    ("password: ", "sword" + "fish", "\nuser: ann"),
    ("db.password=", PASSWORD, "\ndb.user=ann"),
    ("$password = '", PASSWORD, "';"),
    ("password => '", PASSWORD, "',"),
    ('token := "', fake(24), '"'),
    ('if token == "', fake(24), '":'),
    ('config.set(api_key="', fake(24), '", region="eu")'),
    ("name: DB_PASSWORD\n  value: ", PASSWORD, "\n"),
    ('{"name": "API_TOKEN", "value": "', fake(24), '"}'),
    ('<add key="ApiSecret" value="', fake(24), '" />'),
    ("<password>", PASSWORD, "</password>"),
    ("Server=db;User Id=sa;Password=", PASSWORD, ";Encrypt=true"),
    ("DefaultEndpointsProtocol=https;AccountName=x;AccountKey=", fake(86, B64) + "==", ";EndpointSuffix=core"),
    ("https://x.blob.example/c?sv=2022&sig=", fake(43) + "%3D", "&se=2030"),
    ("https://s3.example/o?X-Amz-Signature=", fake(64, HEX), "&X-Amz-Expires=60"),
    ("/login?user=ann&password=", PASSWORD, "&next=home"),
    ("body: user%3Dann%26password%3D", "s3cr3t" + "Fak3", "%26next%3Dhome"),
    ("curl -H 'Authorization: Bearer ", fake(40, URL), "' https://api.example"),
    ("Authorization: Basic ", base64.b64encode(b"ann:" + PASSWORD.encode()).decode(), "\r\nHost: x"),
    ("authorization: token ", fake(40, HEX), "\n"),
    ("X-Api-Key: ", fake(32), "\nAccept: */*"),
    ("PRIVATE-TOKEN: ", fake(20), "\n"),
    ("Set-Cookie: session=", fake(48), "; Path=/; HttpOnly"),
    ("Cookie: sid=", fake(32) + "; theme=dark", "\r\nHost: x"),
    ("machine api.example login ann password ", PASSWORD, "\n"),
    ("tool --password ", PASSWORD, " --host db.example"),
    ("tool --api-key=", fake(24), " --verbose"),
    ("curl -u ann:", PASSWORD, " https://api.example"),
    ("mysql -u root -p", PASSWORD, " shop"),
    ("sshpass -p ", PASSWORD, " ssh ann@host"),
    ("CREATE USER ann IDENTIFIED BY '", PASSWORD, "';"),
    ("requirepass ", PASSWORD, "\n"),
    ('#define API_TOKEN "', fake(24), '"'),
    ("//registry.example/:_authToken=", fake(36), "\n"),
    ('{"auths": {"r.example": {"auth": "', base64.b64encode(b"ann:" + PASSWORD.encode()).decode(), '"}}}'),
    ("aws_access_key_id = X\naws_secret_access_key = ", fake(40, B64), "\n"),
    ("HEROKU_API_KEY=", "12345678-90ab-4def-8abc-1234567890ab", "\n"),
    ("data:\n  tls.key: ", base64.b64encode(pem("").encode()).decode(), "\nkind: Secret"),
    ("log: ", base64.b64encode(b"GITHUB_TOKEN=gh" + b"p_" + fake(36).encode()).decode(), " end"),
    ('{"private_key": "', pem("").replace("\n", "\\n") + "\\n", '", "client_email": "a@b.example"}'),
]

HARMLESS: list[str] = [
    "password must have 12 characters",
    "monkey=banana",
    "token_count=1234",
    "max_tokens: 4096, temperature: 0.7",
    "sha256:" + "0123456789abcdef" * 4,
    "commit 3f785c8b1a2d4e6f90123456789abcdef0123456",
    "id: 123e4567-e89b-12d3-a456-426614174000",
    "integrity sha512-" + base64.b64encode(bytes(range(64))).decode(),
    "data:image/png;base64,iVBORw0KGgo" + base64.b64encode(bytes((i * 37) % 256 for i in range(600))).decode(),
    "password = get_password()",
    "password = getpass.getpass('Password: ')",
    "def login(user: str, password: str, token: str | None = None) -> bool:",
    "client = Client(user=user, password=password, token=token)",
    "    access_token=access_token,\n    refresh_token=refresh_token,\n",
    "self.token = token",
    "token = lexer.next_token()",
    "const token = process.env.API_TOKEN;",
    'api_key = os.environ["API_KEY"]',
    "api_key: ${API_KEY}",
    "api_key: <your-api-key>",
    "API_KEY=your-api-key-here",
    "API_KEY=xxxxxxxxxxxxxxxx",
    "password: ********",
    'password="[FILTERED]"',
    "password={{ vault_password }}",
    "PASSWORD=$(cat /run/secrets/db)",
    'f"Authorization: Bearer {token}"',
    "Authorization: Bearer <token>",
    "Bearer authentication is required",
    "Basic authentication is required",
    '{"type": "string", "title": "Password", "format": "password"}',
    '{"properties": {"password": {"type": "string"}, "token": {"type": "string"}}}',
    '{"password": "Password must be at least 8 characters long"}',
    '{"token": "running", "pos": "VBG"}',
    '{"nextPageToken": "CAUQAA7f3Kz9", "items": []}',
    "secretName: my-tls-secret",
    "password_file: /run/secrets/db_password",
    "private_key: ed25519.Ed25519PrivateKey,",
    "PWD=/home/ann/project\nOLDPWD=/home/ann",
    "http://localhost:8080/path?user=ann@example.com",
    "postgres://user:password@localhost/db",
    "postgres://user:${DB_PASSWORD}@localhost/db",
    "git@github.example:org/repo.git",
    "docker run -u 1000:1000 -p 8080:80 image",
    "find . -print -path x -perm 644",
    "Cookie: theme=dark; lang=en",
    "scikit sk-learn-contrib-polynomial-features",
    'if "-----BEGIN ' + 'PRIVATE KEY-----" in text: raise',
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIU\n-----END CERTIFICATE-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1x9Yv ann@host",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "npm_config_registry npm_package_version npm_lifecycle_event",
    "the word secret: a thing not told; token: a coin",
    "!function(e,t){var n=e.token,r=t.password||n;return{token:n,secret:r}}(window,document);",
    "lorem ipsum " * 500,
    "日本語のテキスト password は必須です 🔑",
]

REDACTOR = Redactor()


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize("around", ["{}", "x = {} # note", '"{}"', "see\\n{}\\n", "(https://a.example/?x=%22{}%22)"])
def test_a_token_is_taken_out_wherever_it_stands(name: str, around: str) -> None:
    token = TOKENS[name]
    text, count = REDACTOR.text(around.format(token))
    assert count >= 1
    assert MARKER.search(text)
    assert not [piece for piece in (token[i : i + 12] for i in range(6, len(token) - 12)) if piece in text]


@pytest.mark.parametrize(("before", "secret", "after"), IN_PLACE)
def test_a_secret_is_taken_out_of_its_place_and_the_rest_stays(before: str, secret: str, after: str) -> None:
    text, count = REDACTOR.text(before + secret + after)
    assert count == 1
    assert MARKER.sub("", text) == before + after


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_comes_back_as_the_same_object(text: str) -> None:
    clean, count = REDACTOR.text(text)
    assert clean == text
    assert clean is text
    assert count == 0


@pytest.mark.parametrize(("before", "secret", "after"), IN_PLACE)
def test_what_was_redacted_once_stays_as_it_is(before: str, secret: str, after: str) -> None:
    once, _ = REDACTOR.text(before + secret + after)
    assert REDACTOR.text(once) == (once, 0)
