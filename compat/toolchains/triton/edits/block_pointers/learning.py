"""Which parts of a block pointer need no parameter: all calls give the same number, or another parameter has that value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import libcst as cst
from attrs import Factory, evolve, frozen

from compat.toolchains.triton.edits.block_pointers.components import Bindings, Part
from compat.toolchains.triton.edits.code import literal
from compat.toolchains.triton.edits.program import Place, Program


@frozen(kw_only=True)
class Site:
    """A call that hands block pointers over."""

    caller: Place
    called: Place
    given: Mapping[str, str]
    """Parameter → what it is given, of those that are no block pointers."""
    parts: Mapping[tuple[str, Part], str]
    """Parameter and part → what that is, in the words of the caller."""
    naturals: frozenset[tuple[str, Part]]
    """Those that are no negative numbers."""
    ones: frozenset[str]
    """Names in the caller that are 1."""


@frozen(kw_only=True)
class Known:
    """What is known of the parts that functions are given."""

    texts: Mapping[tuple[Place, str], Mapping[Part, str]] = Factory(dict)
    """Function and parameter → parts that are the same number in all calls, or the value of another parameter."""
    naturals: frozenset[tuple[Place, str, Part]] = frozenset()
    """Parts that are no negative number in any call."""
    strides: frozenset[tuple[Place, str, Part]] = frozenset()
    """Parts that are 1 in all calls."""
    ones: Mapping[Place, frozenset[str]] = Factory(dict)
    """Names in a function that are 1: arguments of the kernel of which the kernel file says so, and what is given them."""


def learned(sites: Sequence[Site], program: Program, known: Known) -> Known:
    """What the calls show, besides what is known."""
    by_called: dict[Place, list[Site]] = {}
    for site in sites:
        by_called.setdefault(site.called, []).append(site)
    texts = {key: dict(parts) for key, parts in known.texts.items()}
    naturals, strides, ones = set(known.naturals), set(known.strides), dict(known.ones)
    for called, calls in by_called.items():
        bindings = Bindings.of(program.code_of(called), program.definition(called))
        given = {each for each in calls[0].given if bindings.counts.get(each) == 1 and all(each in site.given for site in calls)}
        for name, part in calls[0].parts:
            if text := _text((name, part), calls, given):
                texts.setdefault((called, name), {}).setdefault(part, text)
            if all((name, part) in site.naturals for site in calls):
                naturals.add((called, name, part))
            if all(site.parts[name, part] in {"1", *site.ones} for site in calls):
                strides.add((called, name, part))
        ones[called] = frozenset(each for each in given if all(site.given[each] in {"1", *site.ones} for site in calls))
    return Known(texts=texts, naturals=frozenset(naturals), strides=frozenset(strides), ones=ones)


def _text(key: tuple[str, Part], calls: Sequence[Site], given: Iterable[str]) -> str:
    """The number that a part is in all calls, or a parameter that is always given the same; empty where there is neither."""
    texts = {site.parts[key] for site in calls}
    number = next(iter(texts))
    if len(texts) == 1 and literal(cst.parse_expression(number)) is not None:
        return number
    return next((each for each in sorted(given) if all(site.given[each] == site.parts[key] for site in calls)), "")


def of_descriptors(known: Known) -> Known:
    """The same for a descriptor that is handed over whole: strides that are 1 say along which axis its elements lie together."""
    texts = {key: dict(parts) for key, parts in known.texts.items()}
    for place, name, part in known.strides:
        texts.setdefault((place, name), {})[part] = "1"
    return evolve(known, texts=texts)
