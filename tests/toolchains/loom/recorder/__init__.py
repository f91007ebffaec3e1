"""Runs inside a program and writes the records of what it weaves, which ``compat capture`` reads.

The environment variable ``LOOM_CAPTURE`` has the settings as JSON. ``start/sitecustomize.py`` calls
:func:`begin` with them.
"""

import atexit
import hashlib
import inspect
import json
import os
import platform
import sys
import textwrap

NAME = "_loom_recorder"
VARIABLE = "LOOM_CAPTURE"


def digest_of(cloth):
    """A hash over cloth as text."""
    return hashlib.sha256(cloth.encode()).hexdigest()


def begin(settings):
    """Record what this process runs from now on. The result has the method ``stop()``."""
    recording = _Recording(settings)
    atexit.register(recording.stop)
    return recording


class _Recording:
    def __init__(self, settings):
        self._settings = settings
        self._path = os.path.join(settings["folder"], f"{os.getpid()}.jsonl")
        self._functions = {}
        self._woven = []
        try:
            import loom
        except ImportError:
            self._write(r="not_imported", why="is not installed")
            return
        self._write(
            r="process",
            release=loom.__version__,
            python=platform.python_version(),
            executable=sys.executable,
            prefix=sys.prefix,
            toolchain=os.path.dirname(os.path.abspath(loom.__file__)),
        )
        self._loom, self._run = loom, loom.run
        loom.run = self.run

    def run(self, kernel, **constants):
        """Replaces ``loom.run``."""
        key = str(len(self._woven))
        self._woven.append((kernel, constants))
        launch = {
            "function": self._id_of(kernel),
            "args": {},
            "constexprs": constants,
            "options": {},
            "grid": None,
        }
        self._write(r="launch", key=key, place=None, tuned=None, **launch)
        return None if self._settings["fake"] else self._run(kernel, **constants)

    def stop(self):
        """Weave everything as the program would have, and restore ``loom.run``."""
        atexit.unregister(self.stop)
        for number, (kernel, constants) in enumerate(self._woven):
            cloth, _ = self._loom.weave(kernel, constants, lambda stage: None)
            self._write(
                r="original",
                key=str(number),
                stage="cloth",
                digest=digest_of(cloth.decode()),
                arch="h90",
            )
        if hasattr(self, "_loom"):
            self._loom.run = self._run
        self._write(r="end")

    def _id_of(self, kernel):
        plain = kernel.function
        if plain not in self._functions:
            id = self._functions[plain] = f"f{len(self._functions)}"
            source = textwrap.dedent(inspect.getsource(plain))
            record = {
                "kind": "jit",
                "name": plain.__name__,
                "qualname": plain.__qualname__,
                "module": plain.__module__,
            }
            self._write(
                r="function",
                id=id,
                source=source,
                jit={"threads": kernel.threads},
                names=self._names(plain),
                **record,
            )
        return self._functions[plain]

    def _names(self, plain):
        values = {name: plain.__globals__.get(name) for name in plain.__code__.co_names}
        return {
            name: {"value": value}
            for name, value in values.items()
            if isinstance(value, (int, str))
        }

    def _write(self, **record):
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
