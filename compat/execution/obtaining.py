"""Artifacts of a store that stayed on workers' machines, brought into it where somebody needs them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from compat.execution.elsewhere import Lacking, lacking_words
from compat.execution.store import Store

_NOT_ASKED = "nothing is fetched with --executor local"
_TOLD = 3
"""How many are named in a warning."""
_DAMAGED = "what came is not what its hash says"


def obtain(store: Store, names: Iterable[str | None], *, largest: int | None = None) -> tuple[Lacking, ...]:
    """Have artifacts in the store that are known to be elsewhere, each verified by its hash; what is not to be had, and why.

    Names of artifacts that are here, or that nobody knows to be elsewhere, are passed over; and those of more than ``largest``
    bytes. Raises StoreError where the store cannot be read or will not have one.
    """
    absent = [name for name in dict.fromkeys(names) if name and store.artifact(name) is None]
    known = [each for each in store.elsewhere(absent) if largest is None or each.size <= largest]
    if store.fetch is None:
        return tuple(Lacking(known=each, why=_NOT_ASKED, asked=False) for each in {each.name: each for each in known}.values())
    lacking = []
    for each, came in store.fetch(known) if known else ():
        if isinstance(came, Lacking):
            lacking.append(came)
        elif hashlib.sha256(came).hexdigest() != each.digest:
            lacking.append(Lacking(known=each, why=_DAMAGED))
        else:
            store.add({each.name: came})
    return tuple(lacking)


def obtain_or_warn(store: Store, names: Iterable[str | None], what: str, *, largest: int | None = None) -> None:
    """The same, where there is an answer without them, too: the user hears of what is missing in ``what``."""
    lacking = obtain(store, names, largest=largest)
    if lacking:
        more = f"; and {len(lacking) - _TOLD:,} more" if len(lacking) > _TOLD else ""
        store.warn(f"{what} lacks {lacking_words(lacking[:_TOLD])}{more}")
