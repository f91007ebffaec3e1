"""Which names a word means: ``tl.dot``, ``dot``, ``'tl.*descriptor*'``, ``'tl.**'``. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from attrs import frozen

from compat.api.records import Looked
from compat.config.selection import nothing_matches

_GLOB = frozenset("*?[")


@frozen(kw_only=True)
class Found:
    """What words mean."""

    names: tuple[str, ...]
    """Full names, in order."""
    internal: int = 0
    """How many more there are that globs match and that are not meant for users."""


def find(looked: Looked, words: Iterable[str], *, internal: bool = False) -> Found:
    """The names that words mean. With ``internal`` globs match names that are not meant for users, too.

    A word is a name as people write it or in full, with or without its module, or a glob over names as people write them, of which
    those that are only another name of an object that is matched, too, are left out. Raises SelectionError where one means nothing.
    """
    shown = shown_names(looked)
    found: dict[str, None] = {}
    hidden = 0
    for word in words:
        if _GLOB & set(word):
            in_full = word.startswith(tuple(looked.short.values()))
            matched = [full for written, full in shown.items() if matches(full if in_full else written, word)]
            meant = [full for full in matched if internal or not _is_internal(looked, full)]
            meant = list(_without_aliases(looked, meant))
            hidden += len(set(_without_aliases(looked, matched)) - set(meant))
        else:
            meant = list(_named(looked, word, shown))
        if not meant:
            raise nothing_matches("name", word, shown)
        found |= dict.fromkeys(meant)
    return Found(names=tuple(found), internal=hidden)


def matches(name: str, glob: str) -> bool:
    """Whether a glob means a name: part by part, ``**`` for any number of parts; one of a single part means what names end with."""
    parts, wanted = name.split("."), glob.split(".")
    return fnmatchcase(parts[-1], glob) if len(wanted) == 1 else _fit(parts, wanted)


def _fit(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    if not wanted:
        return not parts
    if wanted[0] == "**":
        return any(_fit(parts[start:], wanted[1:]) for start in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], wanted[0]) and _fit(parts[1:], wanted[1:])


def shown_names(looked: Looked) -> dict[str, str]:
    """Every name that some place has, as people write it → in full; those of the language first."""
    names = {full for place in looked.known if place.namespace for full in place.namespace.names}
    written = {looked.shown(full): full for full in names}
    return {each: written[each] for each in sorted(written, key=lambda each: looked.order(written[each]))}


def _named(looked: Looked, word: str, shown: dict[str, str]) -> Iterable[str]:
    full = looked.full(word)
    if full in shown.values():
        return (full,)
    if "." not in word:  # only what it is called, in the first of the places where people look for it
        modules = (*looked.short.values(), looked.toolchain)
        return [name for module in modules if (name := f"{module}.{word}") in shown.values()][:1]
    return ()


def _is_internal(looked: Looked, full: str) -> bool:
    entries = (place.namespace.names.get(full) for place in looked.known if place.namespace)
    return all(entry.internal for entry in entries if entry)


def _without_aliases(looked: Looked, names: list[str]) -> Iterable[str]:
    """Those that are not the same object as another of them wherever they are."""
    given = set(names)
    for full in names:
        entries = [entry for place in looked.known if place.namespace and (entry := place.namespace.names.get(full))]
        if not all(entry.same_as in given for entry in entries):
            yield full
