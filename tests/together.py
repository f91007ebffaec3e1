"""Many alike cases in one test, because pytest needs longer for a test than for such a case."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

_LONGEST = 200
"""Characters of a value in the name of a case."""


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[..., Any]:
    """Make a test check all cases, and report each that fails, with its values.

    The arguments are those of ``pytest.mark.parametrize``. Each case gets an empty ``tmp_path`` and
    its own ``monkeypatch``. It shares other fixtures with all cases, so a case must not change
    them. A case that is skipped has failed.
    """
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else names

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(check)

        def run(*own: Any, **fixtures: Any) -> None:
            failed: list[BaseException] = []
            for number, case in enumerate(every):
                values = dict(zip(given, case if len(given) > 1 else [case], strict=True))
                try:
                    _run_one(check, own, {**fixtures, **values}, number)
                except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
                    error.add_note(f"case {number}: {_name_of(values)}")
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(every)} cases", failed)

        run.__name__, run.__qualname__ = check.__name__, check.__qualname__
        run.__doc__, run.__module__ = check.__doc__, check.__module__
        run.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[
                parameter for name, parameter in signature.parameters.items() if name not in given
            ]
        )
        return run

    every = list(cases)
    assert every, "there are no cases"
    return decorate


def _run_one(
    check: Callable[..., None], own: tuple[Any, ...], arguments: dict[str, Any], number: int
) -> None:
    folder: Path | None = arguments.get("tmp_path")
    if folder is not None:
        arguments["tmp_path"] = folder / str(number)
        arguments["tmp_path"].mkdir()
    with pytest.MonkeyPatch.context() as patch:
        if "monkeypatch" in arguments:
            arguments["monkeypatch"] = patch
        check(*own, **arguments)


def _name_of(values: dict[str, Any]) -> str:
    return ", ".join(
        f"{name}={text if len(text) <= _LONGEST else f'{text[:_LONGEST]}…'}"
        for name, text in zip(values, map(repr, values.values()), strict=True)
    )
