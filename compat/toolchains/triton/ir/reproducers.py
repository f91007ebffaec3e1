"""A reproducer that MLIR wrote before a whole pipeline, cut down to the pass that fails and the IR that it got."""

from __future__ import annotations

import re

from compat.text import lazy_pattern

_FOLDER = lazy_pattern(r'(?<=")/[^"\n]*/(?=[^"/\n]+")')
"""What stands before a file's name in ``loc("/home/me/kernel.py":3:0)``."""
_PIPELINE = lazy_pattern(r'(?P<before>pipeline: ")(?P<pipeline>(?:[^"\\]|\\.)*+)(?P<after>")')


def one_pass(reproducer: str, ir: str, name: str) -> str | None:
    """A reproducer that begins with ``ir``, the IR just before the pass called ``name``, and runs that pass alone.

    The pass keeps the options that it has in ``reproducer``; locations lose their folders. ``None`` where the pipeline has no such
    pass, or several with different options, so that it is open which was meant.
    """
    found = _PIPELINE.search(reproducer)
    if found is None:
        return None
    begin = reproducer.rfind("{-#", 0, found.start())
    if begin < 0:
        return None
    passes = {each for each in _flat(found["pipeline"]) if _name(each) == name}
    if len(passes) != 1:
        return None
    footer, start = reproducer[begin:], found.start("pipeline") - begin
    end = start + len(found["pipeline"])
    return f"{_FOLDER.sub('', ir.strip())}\n\n{footer[:start]}builtin.module({passes.pop()}){footer[end:]}"


def _name(pass_: str) -> str:
    """``cse`` of ``cse{max-iterations=10}``; of a pass that is nested in ``tt.func(…)``, that of the innermost."""
    return re.sub(r"\{.*|^[\w.]+\(|\)+$", "", pass_)


def _flat(pipeline: str) -> list[str]:
    """``builtin.module(a{x=1 y=2},tt.func(b,c))`` as ``a{x=1 y=2}``, ``tt.func(b)``, ``tt.func(c)``."""
    flat: list[str] = []
    for part in _split(_inside(pipeline)):
        anchor = part.partition("(")[0]
        if "(" in part and "{" not in anchor:
            flat += [f"{anchor}({inner})" for inner in _split(_inside(part))]
        else:
            flat.append(part)
    return flat


def _inside(text: str) -> str:
    return text[text.index("(") + 1 : text.rindex(")")] if "(" in text and ")" in text else text


def _split(text: str) -> list[str]:
    """Parts between the commas that are in no brackets."""
    parts: list[list[str]] = [[]]
    depth = 0
    for character in text:
        depth += (character in "({[") - (character in ")}]")
        if character == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(character)
    return [part for pieces in parts if (part := "".join(pieces).strip())]
