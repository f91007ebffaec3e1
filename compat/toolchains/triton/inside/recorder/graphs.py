"""Kernels that a program compiles by ``triton.compile``, as Inductor does, and may launch.

The compiler gets types and hints, and no arguments. So a record has types and hints. Inductor also
writes comments above each kernel of a module: the part of the graph that the kernel computes.
"""

from __future__ import annotations

import functools
import hashlib
import json
import linecache
import re
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from ....inside.recorder.journal import UnwritableArgument, of_launch
from .arguments import argument, constexpr, fields, launch_facts

if TYPE_CHECKING:
    from ....inside.foreign import Document, Function, Objects, Value
    from ..foreign import CompiledKernel, Source
    from .recording import TritonRecording

_CALLER = "torch._inductor"
_HINTS = {
    "tt.divisibility": "divisible_by_16",
    "tt.equal_to": "equal_to_1",
    "tt.pointer_range": "pointer_range_32",
}
"""The name of a fact about an argument in Triton → its name in a kernel file."""
_BEFORE_ARGUMENTS = 9
"""The number of values before the arguments in a call of a compiled kernel: the three sizes of its
grid, and six values for the launcher.
"""
_WITH_PATHS = re.compile(r"# (kernel path|File|stack trace)\b", re.IGNORECASE)
"""Comments with paths."""
_LINES = 64
"""Maximum lines of a graph that are recorded."""


def calling() -> Value | None:
    """Return the autotuner of Inductor that calls ``triton.compile``.

    Returns the frame if a function of Inductor calls it, and ``None`` if other code does.
    """
    frame = sys._getframe(2)
    is_inductor = str(frame.f_globals.get("__name__")).startswith(_CALLER)
    return frame.f_locals.get("self", frame) if is_inductor else None


class GraphKernels:
    """The kernels of compiled graphs in this process, and those that a program compiles."""

    def __init__(
        self,
        recording: TritonRecording,
        options: Callable[[Objects], Objects],
        grid: Callable[[object], list[int] | None],
        note_unrecorded: Callable[[object, str], None],
    ) -> None:
        """``options`` and ``grid`` return forms; ``note_unrecorded`` records what has none."""
        self._recording, self._options, self._grid = recording, options, grid
        self._note_unrecorded = note_unrecorded
        self._counts: dict[str, int] = {}
        self._tuned: dict[str, bool] = {}
        """Key → whether Inductor chooses among configurations."""
        self._typed: dict[str, list[str]] = {}
        """Key → the run-time arguments."""
        self._roles: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def note(self, src: Source, options: Value, tuner: Value) -> str | None:
        """Record a compile, and return the key of its kind, or ``None`` if it cannot be recorded.

        ``tuner`` is Inductor's autotuner, if there is one.
        """
        try:
            launch = specialization(src, self._recording.functions)
            launch["options"] = self._options(options or {})
        except UnwritableArgument as error:
            self._note_unrecorded(src.fn, str(error))
            return None
        # A release may have other attributes, and the program must not notice.
        except Exception as error:
            self._note_unrecorded(src.fn, "cannot be inspected (%s)" % type(error).__name__)
            return None
        key = hashlib.sha1(json.dumps(launch, sort_keys=True).encode()).hexdigest()  # noqa: S324 - a name
        with self._lock:
            if key in self._counts:
                return key
            self._counts[key] = 0
            self._tuned[key] = len(getattr(tuner, "configs", None) or ()) > 1
            self._typed[key] = list(launch["signature"])
        launch.update(
            launches=0,
            args={},
            graph=graph_of(src.fn.__name__),
            place=of_launch(self._recording.package),
        )
        if self._recording.settings.get("problems"):
            launch["inputs"] = {"why": "it was compiled, and not launched"}
        role = "candidate" if self._tuned[key] else None
        self._recording.journal.write(r="launch", key=key, tuned=role, **launch)
        return key

    def watch_launches(
        self, kernel: CompiledKernel, key: str | None, src: Source
    ) -> CompiledKernel:
        """Return the compiled kernel, whose launches are counted from now on."""
        if key is None:
            return kernel
        load = kernel._init_handles

        def load_and_watch() -> None:
            load()
            # In newer releases, `run` is a property that reads `_run`.
            name = "_run" if "_run" in vars(kernel) else "run"
            launch = getattr(kernel, name)

            def recording_launch(*arguments: object, **more: object) -> object:
                self._count_launch(key, src, arguments)
                return launch(*arguments, **more)

            setattr(kernel, name, recording_launch)
            kernel._init_handles = load

        kernel._init_handles = load_and_watch  # Inductor calls it on the right device
        return kernel

    def _count_launch(self, key: str, src: Source, arguments: tuple[Any, ...]) -> None:
        role = getattr(self._recording.now, "tuned", None) or "chosen"
        with self._lock:
            count = self._counts[key] = self._counts[key] + 1
            is_new = (key, role) not in self._roles
            self._roles.add((key, role))
        record: Document = {"launches": count, "tuned": role if self._tuned[key] else None}
        if count == 1:
            record.update(place=of_launch(self._recording.package), grid=self._grid(arguments[:3]))
            if self._recording.settings.get("problems"):
                record["inputs"] = self._launch_facts(src, self._typed[key], arguments)
        if is_new or count & (count - 1) == 0:
            self._recording.journal.write(r="count", key=key, **record)

    def timing(self, bench: Callable[..., object]) -> Callable[..., object]:
        """Return a method of Inductor's autotuner that marks its launches as those of a candidate.

        The method launches one configuration again and again.
        """
        now = self._recording.now

        @functools.wraps(bench)
        def bench_candidate(*arguments: object, **options: object) -> object:
            before, now.tuned = getattr(now, "tuned", None), "candidate"
            try:
                return bench(*arguments, **options)
            finally:
                now.tuned = before

        return bench_candidate

    def _launch_facts(self, src: Source, typed: list[str], arguments: tuple[Any, ...]) -> Objects:
        try:
            bound = bound_arguments(src.fn, typed, arguments[_BEFORE_ARGUMENTS:])
            with_values = self._recording.settings["with_values"]
            forms = {
                name: argument(value, with_values, self._recording.functions)[0]
                for name, value in bound.items()
            }
        except UnwritableArgument as error:
            return {"why": "one of its arguments %s" % error}
        return launch_facts(arguments[:3], bound, forms)


def specialization(src: Source, functions: Any) -> Document:
    """Return a kernel, and the types, hints and constants that it is compiled with, for a record.

    Names, positions or paths of positions identify arguments, depending on the release. Raises
    UnwritableArgument.
    """
    names = list(src.fn.arg_names)
    constants = {_path(key, names): value for key, value in (src.constants or {}).items()}
    hints = _hints(src.attrs, names)
    signature = {_path(key, names): kind for key, kind in src.signature.items()}
    typed = {
        name: _plain(kind)
        for name, kind in signature.items()
        if kind != "constexpr" and (name not in constants or name in hints["equal_to_1"])
    }
    return {
        "function": functions.id_of(src.fn),
        "signature": {name: typed[name] for name in names if name in typed},
        "hints": {
            hint: [name for name in given_names if name in typed]
            for hint, given_names in hints.items()
        },
        "constexprs": {
            name: constexpr(value, functions)
            for name, value in constants.items()
            if name not in typed
        },
    }


def _plain(kind: Value) -> Any:
    """Return a type, or the types of a tuple. Raises UnwritableArgument."""
    if isinstance(kind, tuple) and hasattr(kind, "_fields"):
        return fields(kind, map(_plain, kind))
    if isinstance(kind, (tuple, list)):
        return [_plain(element) for element in kind]
    if not isinstance(kind, str):
        raise UnwritableArgument("has an argument of the type %s" % type(kind).__name__)
    return kind


def _path(key: Value, names: list[str]) -> str:
    """Return the name of an argument from its name, its position or a path of positions."""
    if isinstance(key, str):
        return key
    first, *rest = key if isinstance(key, tuple) else (key,)
    return names[first] + "".join("[%d]" % index for index in rest)


def _hints(attributes: Value, names: list[str]) -> dict[str, list[str]]:
    hints: dict[str, list[str]] = {hint: [] for hint in _HINTS.values()}
    for fact, key in _facts(attributes):
        if fact in _HINTS:
            hints[_HINTS[fact]].append(_path(key, names))
    return hints


def _facts(attributes: Value) -> Iterator[tuple[str, Value]]:
    """Yield facts of arguments: from 3.3 on by argument, in 3.2 by fact, before as attributes."""
    if isinstance(attributes, dict):
        for key, facts in attributes.items():
            yield from ((fact, key) for fact, _ in facts)
    elif hasattr(attributes, "arg_properties"):
        for fact, keys in attributes.arg_properties.items():
            yield from ((fact, key) for key in keys)
    elif attributes is not None:
        yield from (("tt.divisibility", key) for key in attributes.divisible_by_16)
        yield from (("tt.equal_to", key) for key in attributes.equal_to_1)


def bound_arguments(fn: Function, typed: list[str], arguments: tuple[Any, ...]) -> Objects:
    """Return the run-time arguments of a launch, the ``typed`` ones, by name.

    From 3.3 on, launchers get all arguments. Before, they get those that are not constexprs. Raises
    UnwritableArgument.
    """
    names = list(fn.arg_names)
    if len(arguments) != len(names):
        names = [name for index, name in enumerate(names) if index not in fn.constexprs]
    if len(arguments) != len(names):
        raise UnwritableArgument("is not passed as in other releases")
    bound = dict(zip(names, arguments))
    return {name: bound[name] for name in typed}


def graph_of(name: str) -> list[str]:
    """Return Inductor's comments above a kernel in the module of the graph that is being loaded."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if "async_compile" in frame.f_globals and str(frame.f_globals.get("__name__")).startswith(
            _CALLER
        ):
            return _comments(linecache.getlines(frame.f_code.co_filename), name)
        frame = frame.f_back
    return []


def _comments(lines: list[str], name: str) -> list[str]:
    beginning = re.compile(r"%s\s*=\s*async_compile\." % re.escape(name))
    at = next((number for number, line in enumerate(lines) if beginning.match(line)), 0)
    comments: list[str] = []
    while at > 0 and lines[at - 1].startswith("#"):
        at -= 1
        if not _WITH_PATHS.match(lines[at]):
            comments.insert(0, lines[at].lstrip("#").rstrip()[1:])
    return comments[:_LINES]
