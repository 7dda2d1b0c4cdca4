"""The token of an attempt in a session: given when an atom is started, demanded when its result is taken.

It is made of the atom, the direction of the loop (`epoch`) and the failures of the atom. So the result of an attempt
that began before a redirect, or before the atom's last failure, has another token, and does not count.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256

from aotloop.core.model import Atom, Loop
from aotloop.errors import AotError, NotVerified, Unavailable
from aotloop.statefile.store import Store
from aotloop.trust.folder import written_path
from aotloop.trust.seal import code_for

_LENGTH = 12


def token_of(store: Store, loop: Loop, atom: Atom) -> str:
    control = loop.control
    facts = (written_path(store.path), control.run_id or "", str(control.epoch), atom.id, str(atom.failures))
    content = "\0".join(facts).encode("utf-8", "surrogatepass")
    with suppress(OSError, Unavailable):
        return code_for("attempt in a session", content)[:_LENGTH]
    return sha256(content).hexdigest()[:_LENGTH]


def token_now(store: Store, atom_id: str) -> str:
    loop = store.load()
    return token_of(store, loop, next(atom for atom in loop.atoms if atom.id == atom_id))


def require_token(store: Store, loop: Loop, atom: Atom, token: str | None) -> None:
    """Raises AotError without a token, NotVerified with the token of another attempt."""
    how = f"update_atom.py {atom.id} in_progress starts an attempt and returns its token: give it with --token."
    if token is None:
        raise AotError(f"which attempt at {atom.id} this is, is not known: its token is missing", hint=how)
    if token != token_of(store, loop, atom):
        raise NotVerified(
            f"this attempt at {atom.id} began before a redirect, or before its last failure: its result does not count",
            hint=f"Do the work again, or look at what is there and take it over: {how}",
        )
