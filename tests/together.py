"""What holds for many things, as one test: a test for each of them costs more than what it looks at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def for_each(things: Sequence[T], called: Callable[[T], str]) -> Callable[[Callable[[T], None]], Callable[[], None]]:
    """Makes a check of one thing a test of all of them, which tells each that fails, and how; ``called`` is what one is called."""

    def decorate(check: Callable[[T], None]) -> Callable[[], None]:
        def test() -> None:
            assert things
            wrong = {called(thing): said for thing in things if (said := _wrong(check, thing))}
            assert not wrong, "\n\n".join(f"{name}: {said}" for name, said in wrong.items())

        test.__name__ = test.__qualname__ = check.__name__
        test.__doc__, test.__module__ = check.__doc__, check.__module__
        return test

    return decorate


def _wrong(check: Callable[[T], None], thing: T) -> str:
    try:
        check(thing)
    except AssertionError as error:
        return str(error) or "does not hold"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
