"""
Issuers are identity providers whose tokens a site accepts in place of sessions; a file names them. Here are such files,
keys for tests, and tokens that are signed with these.
"""

import json
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

NOW = 1_470_311_520  # unix seconds
SECRET = "a secret of thirty-two bytes, or more"
RSA, OTHER_RSA = (RSAKey.generate_key(2048, {"kid": kid}) for kid in ("rsa-1", "rsa-2"))
EC = ECKey.generate_key("P-256", {"kid": "ec-1"})
ED = OKPKey.generate_key("Ed25519", {"kid": "ed-1"})
SHARED = OctKey.import_key(SECRET)
ISSUER = "https://id.example/"
TABLE = {  # one issuer, as the TOML file has it
    "name": "site",
    "issuer": ISSUER,
    "audience": "upvote",
    "algorithms": ["RS256", "ES256", "EdDSA"],
    "jwks_file": "keys.json",
    "claims": {"name": "name"},
}


def key_set(*keys: Any) -> str:
    """The public keys as a JSON Web Key Set."""
    return json.dumps({"keys": [key.as_dict(private=False) for key in keys]})


def written(folder: Path, *tables: dict[str, Any], keys: str | None = None, **top: Any) -> Path:
    """
    Write a file of issuers, and the set of their keys beside it. `tables` are the issuers, `top` the keys of the file
    outside of these.
    """
    (folder / "keys.json").write_text(key_set(RSA, EC, ED) if keys is None else keys)
    file = folder / "issuers.toml"
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in top.items())
    file.write_text(text + "".join(map(_table, tables or (TABLE,))))
    return file


def _table(table: dict[str, Any]) -> str:
    """A table as TOML: what JSON writes of a value is TOML, too."""
    plain = {name: value for name, value in table.items() if not isinstance(value, dict)}
    lines = ["[[issuers]]", *(f"{name} = {json.dumps(value)}" for name, value in plain.items())]
    for name, value in table.items():
        if isinstance(value, dict):
            lines += [f"[issuers.{name}]", *(f"{json.dumps(key)} = {json.dumps(each)}" for key, each in value.items())]
    return "\n".join(lines) + "\n"


@dataclass
class Tokens:
    """Makes tokens of an issuer: `claims` are in each of them, `key` signs them, and they are issued at `now`."""

    claims: dict[str, Any] = field(default_factory=lambda: {"iss": ISSUER, "aud": "upvote"})
    key: Any = field(default_factory=lambda: RSA)
    algorithm: str = "RS256"
    now: float = NOW

    def token(self, subject: str = "1", header: dict[str, Any] | None = None, key: Any = None, **claims: Any) -> str:
        """A token that lives an hour. A claim that is None is left out."""
        given = {**self.claims, "sub": subject, "iat": int(self.now), "exp": int(self.now) + 3600, **claims}
        payload = {name: value for name, value in given.items() if value is not None}
        key = key or self.key
        head = {"alg": self.algorithm, "kid": key.kid, **(header or {})}
        return signed({name: value for name, value in head.items() if value is not None}, payload, key)


def signed(header: dict[str, Any], payload: dict[str, Any], key: Any, algorithm: str | None = None) -> str:
    """
    A token in the compact form of JWS, with any header, also one that no library would make. It is signed with
    `algorithm`, or else with the one that the header names.
    """
    content = ".".join(part(json.dumps(each, separators=(",", ":")).encode()) for each in (header, payload))
    signature = JWSRegistry.algorithms[algorithm or header["alg"]].sign(content.encode(), key)
    return f"{content}.{part(signature)}"


def part(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()
