"""The connection to a mail server: TLS, credentials, and what is said of its faults."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from server.mails import smtp
from server.mails.smtp import MailConnection, Unavailable
from tests.server.mailing import MailServer, mail_server

FROM, TO = "noreply@up.example", "alice@example.com"
MESSAGE = b"From: noreply@up.example\r\nTo: alice@example.com\r\nSubject: Hello\r\n\r\n.A line.\r\n"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a certificate for localhost, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "localhost.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def server_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@pytest.fixture
def trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let clients trust the certificate."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))


async def sent(url: str) -> None:
    """Send the message over a new connection."""
    connection = MailConnection(url, FROM)
    try:
        await connection.offer(TO)
        await connection.send(MESSAGE)
    finally:
        await connection.close()


def authenticator(server, session, envelope, mechanism, data) -> AuthResult:
    right = isinstance(data, LoginPassword) and (data.login, data.password) == (b"up@site", b"a:b c")
    return AuthResult(success=right, handled=right)


async def test_mail_arrives_as_it_is():
    with mail_server() as server:
        await sent(server.url)

    (mail,) = server.received
    assert (mail.to, mail.message.get_content()) == (TO, ".A line.\r\n")


async def test_starttls_is_used_where_it_is_offered(server_tls, trusted):
    with mail_server(tls_context=server_tls, require_starttls=True) as server:
        await sent(f"smtp://localhost:{server.port}")
    assert len(server.received) == 1


async def test_untrusted_certificate_is_refused(server_tls):
    with mail_server(tls_context=server_tls) as server, pytest.raises(Unavailable, match="CERTIFICATE_VERIFY_FAILED"):
        await sent(f"smtp://localhost:{server.port}")
    assert server.received == []


async def test_smtps_begins_with_tls(server_tls, trusted):
    with mail_server(MailServer(), ssl_context=server_tls) as server:
        await sent(f"smtps://localhost:{server.port}")
    assert len(server.received) == 1


async def test_credentials_are_sent_and_wrong_ones_are_named_without_them(server_tls, trusted):
    options = {"authenticator": authenticator, "auth_required": True, "tls_context": server_tls}
    with mail_server(**options) as server:
        await sent(f"smtp://up%40site:a%3Ab%20c@localhost:{server.port}")
        with pytest.raises(Unavailable, match="535") as refused:
            await sent(f"smtp://up%40site:wrong@localhost:{server.port}")

    assert len(server.received) == 1
    assert "wrong" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "needs_starttls"),
    [
        ("smtp://user:secret@mail.example", True),
        ("smtp://mail.example", False),
        ("smtps://user:secret@mail.example", False),  # it begins with TLS
        ("smtp://user:secret@127.0.0.1:2525", False),
        ("smtp://user:secret@[::1]:2525", False),
    ],
)
def test_password_needs_tls_outside_of_this_machine(url, needs_starttls):
    assert smtp.parse(url).needs_starttls is needs_starttls


def test_url_has_a_port_of_its_own_or_the_usual_one():
    assert [smtp.parse(url).port for url in ("smtp://a.example", "smtps://a.example", "smtp://a.example:2525/")] == [
        587,
        465,
        2525,
    ]


@pytest.mark.parametrize(
    "url",
    ["", "mail.example", "http://mail.example", "smtp://", "smtp://user@mail.example", "smtp://a.example/path?x=1"],
)
def test_other_urls_are_refused(url):
    with pytest.raises(ValueError, match="a mail server"):
        smtp.parse(url)
