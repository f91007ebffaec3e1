"""From a folder to a file of results."""

from __future__ import annotations

import fnmatch
import json
import math
import os
import sys
import time
from importlib import import_module
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from .options import Options, parsed
from .prepared import Numerics
from .serving import serve
from .watching import Group, Mismatch, Watch

SCHEMA = 1
_Key = Tuple[str, str, str]


def main(folder: str, arguments: Optional[List[str]] = None) -> int:
    """Launch what is in a folder, and return the exit code.

    0 where every cell has a result, 1 where one is lost, 2 where nothing can be done.
    """
    said = parsed(arguments, folder)
    out = said.out or os.path.join(folder, "results.jsonl")
    if said.compare:
        return _compared(folder, said)
    try:
        index = _index(folder)
        done = _done(out)
        cells = [cell for cell in index["cells"] if _is_meant(cell, said.cells) and _key(cell) not in done]
        say("%d cells, %d of them are in %s already" % (len(index["cells"]), len(done), out))
        if not cells:
            return 0
        numerics = _numerics(said.device)
    except (OSError, ValueError, ImportError) as error:
        say("error: %s" % error)
        return 2
    options = Options(
        device=said.device, library=said.library, repeats=said.repeats, deadline=said.deadline, no_latency=said.no_latency
    )
    try:
        return _Run(folder, index, cells, options, numerics, out).run()
    except Mismatch as error:
        say("error: %s" % error)
        return 2
    except KeyboardInterrupt:
        say("interrupted: what is finished is in %s, and the same command goes on from there" % out)
        return 130


def _compared(folder: str, said: Any) -> int:
    """Stay, and answer questions about kernels on one problem."""
    try:
        index = _index(folder)
        numerics = _numerics(said.device)
        options = Options(device=said.device, library=said.library)
        return serve(folder, index["problems"][said.compare], options, numerics)
    except (OSError, ValueError, ImportError, KeyError) as error:
        say("error: %s" % error)
        return 2


def say(words: str) -> None:
    """A line for whoever waits."""
    sys.stderr.write(words + "\n")
    sys.stderr.flush()


def _index(folder: str) -> Dict[str, Any]:
    with open(os.path.join(folder, "index.json"), encoding="utf-8") as file:
        index: Dict[str, Any] = json.load(file)
    if index.get("schema") != SCHEMA:
        raise ValueError("index.json has schema %r, and this program reads %d" % (index.get("schema"), SCHEMA))
    for number, cell in enumerate(index["cells"]):
        cell["number"] = number
    return index


def _key(line: Dict[str, Any]) -> _Key:
    """What makes a result that of a cell."""
    return line["identity"], line["problem"], line["object"]


def _done(out: str) -> Set[_Key]:
    """The cells that a file of results has; those that are lost are tried again."""
    found: Set[_Key] = set()
    if os.path.exists(out):
        with open(out, encoding="utf-8") as file:
            for line in file:
                try:
                    said = json.loads(line)
                    if said["check"]["status"] != "lost":
                        found.add(_key(said))
                except (ValueError, TypeError, KeyError):  # cut short
                    continue
    return found


def _is_meant(cell: Dict[str, Any], globs: List[str]) -> bool:
    return not globs or any(fnmatch.fnmatchcase(cell["cell"], glob) for glob in globs)


def _numerics(device: str) -> Numerics:
    """PyTorch is imported here, once, before any child is forked; no GPU is touched."""
    began = time.monotonic()
    try:
        import torch
    except ImportError as error:
        raise ImportError("PyTorch is needed, and %s has none: %s" % (sys.executable, error)) from error
    outputs, problems = (import_module("compat_numerics.%s" % name) for name in ("outputs", "problems"))
    if device == "cuda" and torch.version.cuda is None:
        raise ImportError("PyTorch %s of %s is one without CUDA" % (torch.__version__, sys.executable))
    say("PyTorch %s (%.1f s)" % (torch.__version__, time.monotonic() - began))
    return Numerics(torch, problems, outputs)


def _plain(value: Any) -> Any:
    """``None`` in the place of what JSON has no number for."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _Run:
    """All that is to be launched."""

    def __init__(
        self, folder: str, index: Dict[str, Any], cells: List[Dict[str, Any]], options: Options, numerics: Numerics, out: str
    ) -> None:
        self._index, self._cells, self._out = index, cells, out
        self._watch = Watch(folder, options, numerics, self._accept)
        self._count = self._lost = 0
        self._began = time.monotonic()

    def run(self) -> int:
        """Group by group; results are written as each group is done."""
        with open(self._out, "a+b") as out:
            out.seek(max(0, out.seek(0, os.SEEK_END) - 1))
            if out.read(1) not in (b"", b"\n"):  # cut short
                out.write(b"\n")
            for problem, cells in self._groups():
                group = Group(self._watch, problem, cells)
                group.run()
                for cell in cells:
                    line = self._line(cell, group)
                    out.write((json.dumps(line) + "\n").encode())
                    self._note(line)
                out.flush()
        seconds = time.monotonic() - self._began
        say("%d cells in %.0f s, %.0f a minute" % (self._count, seconds, 60 * self._count / max(seconds, 1e-9)))
        return 1 if self._lost else 0

    def _groups(self) -> Iterator[Tuple[Dict[str, Any], List[Dict[str, Any]]]]:
        found: Dict[str, List[Dict[str, Any]]] = {}
        for cell in self._cells:
            found.setdefault(cell["problem"], []).append(cell)
        for digest, cells in found.items():
            yield self._index["problems"][digest], cells

    def _line(self, cell: Dict[str, Any], group: Group) -> Dict[str, Any]:
        check = {name: _plain(value) for name, value in group.checks[cell["number"]].items() if name != "spoiled"}
        told = {name: cell[name] for name in ("cell", "identity", "object", "problem")}
        return dict(told, schema=SCHEMA, check=check, latency=group.latencies.get(cell["number"]), device=group.device)

    def _note(self, line: Dict[str, Any]) -> None:
        self._count += 1
        self._lost += line["check"]["status"] == "lost"
        latency = line["latency"]
        took = "  %.1f us" % latency["us"] if latency else ""
        ratio = " (%.2f of the baseline)" % latency["ratio"] if latency and latency["ratio"] else ""
        why = "  %s" % line["check"]["reason"] if line["check"]["reason"] else ""
        say("[%d/%d] %s  %s%s%s%s" % (self._count, len(self._cells), line["cell"], line["check"]["status"], took, ratio, why))

    def _accept(self, device: Dict[str, Any]) -> None:
        """Raises Mismatch where the kernels are for GPUs of another architecture."""
        target = self._index["target"]
        here = int(device["cc"].replace(".", ""))
        if here // 10 != int(target["arch"]) // 10 or here < int(target["arch"]):
            raise Mismatch(
                "the kernels are for %s, and %s has compute capability %s" % (target["name"], device["name"], device["cc"])
            )
