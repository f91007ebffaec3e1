"""The packed form of all names in a report.

It says nothing about releases that were not inspected.
"""

from __future__ import annotations

import json

from compat.api.histories import PackedName, PackedNames, pack
from compat.api.records import ApiName
from compat.model.codec import structure, unstructure
from tests.api.invented import inspection, name, parameter, place


def texts_by_run(text: str, packed: PackedNames) -> dict[str, str]:
    """Run → its text."""
    return {
        run: packed.texts[int(number)]
        for run, _, number in (entry.partition(":") for entry in text.split())
    }


def test_names_are_packed_as_runs_and_texts() -> None:
    old = parameter("tf32=None")
    deprecated = type(old)(name="tf32", kind=old.kind, default="None", deprecated="*Deprecated.*")
    places = (
        place(
            "3.0.0",
            {"dot": name("a"), "core": ApiName(kind="module", internal=True), "exp": name("a")},
        ),
        place("3.1.0", None, missing=True),
        place(
            "3.2.0",
            {
                "dot": name("a", deprecated),
                "also": ApiName(same_as="triton.language.dot"),
                "exp": name("a"),
            },
        ),
        place(
            "3.3.0",
            {
                "dot": name("a", refuses="RuntimeError: removed"),
                "exp": name("a", deprecated=("Gone soon.",)),
            },
        ),
    )
    packed = pack(inspection(*places))
    assert (packed.releases, packed.looked_at) == (("3.0.0", "3.1.0", "3.2.0", "3.3.0"), "0 2-3")
    dot = packed.names["tl.dot"]
    assert (dot.kind, dot.there, dot.deprecated) == ("builtin", "0 2", "")
    assert texts_by_run(dot.signatures, packed) == {"0": "(a)", "2": "(a, tf32=None)", "3": "(a)"}
    assert texts_by_run(dot.refuses, packed) == {"3": "RuntimeError: removed"}
    assert texts_by_run(dot.parameters, packed) == {"2": "tf32: *Deprecated.*"}
    exp = packed.names["tl.exp"]
    assert (exp.there, texts_by_run(exp.signatures, packed)) == (
        "0 2-3",
        {"0": "(a)", "2-3": "(a)"},
    )
    assert texts_by_run(exp.deprecated, packed) == {"3": "Gone soon."}
    assert packed.same == {"tl.also": "tl.dot"}
    assert "tl.core" not in packed.names


def test_packed_names_are_read_back() -> None:
    packed = pack(inspection(place("3.0.0", {"dot": name("a")})))
    document = json.loads(json.dumps(unstructure(packed, compact=True)))
    assert structure(document, PackedNames) == packed
    assert document["names"]["tl.dot"] == {"kind": "builtin", "there": "0", "signatures": "0:0"}
    assert PackedName(**document["names"]["tl.dot"]) == packed.names["tl.dot"]
