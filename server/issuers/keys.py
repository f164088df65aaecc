"""
The keys by which tokens of issuers are checked: public keys in a JSON Web Key Set (RFC 7517), or shared secrets. The
type of a key says its only algorithm.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

MAX_KEYS = 100  # of a set
LEAST_RSA_BITS = 2048  # of a key that is accepted


class KeyType(NamedTuple):
    """How keys of a type are used, and the members of a JSON Web Key that make one."""

    algorithm: str
    key_class: Any
    members: tuple[str, ...]


PUBLIC: dict[tuple[str, str | None], KeyType] = {  # by the members `kty` and `crv`
    ("RSA", None): KeyType("RS256", RSAKey, ("n", "e")),
    ("EC", "P-256"): KeyType("ES256", ECKey, ("crv", "x", "y")),
    ("OKP", "Ed25519"): KeyType("EdDSA", OKPKey, ("crv", "x")),
}


class NotAKeySet(ValueError):
    """A text is no JSON Web Key Set."""


@dataclass(slots=True, eq=False)
class IssuerKey:
    """
    A key. `is_current` is False once it has left the set of its issuer: what was checked with it counts no more.
    """

    id: str | None
    algorithm: str
    identity: str  # equal for equal keys
    material: Any
    is_current: bool = True

    def has_signed(self, content: bytes, signature: bytes) -> bool:
        try:
            return bool(JWSRegistry.algorithms[self.algorithm].verify(content, signature, self.material))
        except (JoseError, ValueError):
            return False


class KeySet:
    """Keys of one issuer, some of them without an id."""

    def __init__(self, keys: Iterable[IssuerKey] = ()) -> None:
        self._keys = list(keys)

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, id: str | None, algorithm: str) -> IssuerKey | None:
        """The key with an id and an algorithm; without an id, the only key of that algorithm."""
        fitting = [key for key in self._keys if key.algorithm == algorithm and (id is None or key.id == id)]
        return fitting[0] if len(fitting) == 1 else None

    def replaced_by(self, newer: "KeySet") -> "KeySet":
        """
        A newer set, which has the same object for each key that stays. Those that do not stay are not current any more.
        """
        known = {key.identity: key for key in self._keys}
        kept = [known.pop(key.identity, key) for key in newer._keys]
        for gone in known.values():
            gone.is_current = False
        return KeySet(kept)


def parse(text: str | bytes) -> KeySet:
    """
    The keys of a JSON Web Key Set that can be used here. Others, such as those for encryption, are left out.

    Raises:
        NotAKeySet: it is none, or has more than `MAX_KEYS` keys.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise NotAKeySet("it is not JSON") from error
    listed = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise NotAKeySet("it has no list of keys")
    if len(listed) > MAX_KEYS:
        raise NotAKeySet(f"it has more than {MAX_KEYS} keys")
    keys = [key for each in listed if (key := _public_key(each))]
    return KeySet({key.identity: key for key in keys}.values())


def shared_secrets(secrets: Mapping[str, str]) -> KeySet:
    """The keys of an issuer that signs with shared secrets, which are given by their ids."""
    return KeySet(
        IssuerKey(id, "HS256", identity=f"{id} {secret}", material=OctKey.import_key(secret.encode()))
        for id, secret in secrets.items()
    )


def _public_key(given: Mapping[str, Any]) -> IssuerKey | None:
    """A key of a set, made of its public members only; None if it is not one for signatures of tokens."""
    kind, curve = given.get("kty"), given.get("crv")
    if not isinstance(kind, str) or not (curve is None or isinstance(curve, str)):
        return None
    type = PUBLIC.get((kind, curve))
    if type is None or given.get("use", "sig") != "sig" or given.get("alg", type.algorithm) != type.algorithm:
        return None
    id, operations = given.get("kid"), given.get("key_ops", ["verify"])
    if not (id is None or isinstance(id, str)) or not isinstance(operations, list) or "verify" not in operations:
        return None
    public = {"kty": kind} | {name: given.get(name) for name in type.members}
    try:
        material: Any = type.key_class.import_key(public)
        operation_key = material.get_op_key("verify")
    except (JoseError, ValueError, TypeError):
        return None
    if kind == "RSA" and operation_key.key_size < LEAST_RSA_BITS:
        return None
    return IssuerKey(id, type.algorithm, identity=json.dumps({"kid": id} | public, sort_keys=True), material=material)
