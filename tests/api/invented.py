"""Places that nobody has installed, for what is decided without any."""

from __future__ import annotations

from packaging.version import Version

from compat.api.records import Looked, Name, Namespace, Parameter, Place
from compat.model import BuiltEnv, Env

SHORT = {"tl": "triton.language"}


def name(*parameters: str | Parameter, **facts: object) -> Name:
    """A built-in with these parameters: ``a``, ``b=1``, ``*shape``."""
    given = tuple(each if isinstance(each, Parameter) else parameter(each) for each in parameters)
    return Name(**{"kind": "builtin", "parameters": given, **facts})  # type: ignore[arg-type]


def parameter(text: str, kind: str = "positional or keyword") -> Parameter:
    """The parameter that Python writes so."""
    if text.startswith("**"):
        return Parameter(name=text[2:], kind="variadic keyword")
    if text.startswith("*"):
        return Parameter(name=text[1:], kind="variadic positional")
    word, equals, default = text.partition("=")
    return Parameter(name=word, kind=kind, default=default if equals else None)


def place(label: str, names: dict[str, Name] | None, *, fork: bool = False, missing: bool = False) -> Place:
    """A release with these names of the language, or one of which nothing is known."""
    version = None if fork else Version(label)
    built = BuiltEnv(env=Env(name=f"triton-{label}", release=version), python="python")
    if names is None:
        return Place(label=label, built=built, error="broken", missing=missing)
    full = {f"triton.language.{each}": found for each, found in names.items()}
    modules = {"triton": Name(kind="module"), "triton.jit": Name(kind="function"), "triton.language": Name(kind="module")}
    return Place(label=label, fork=fork, built=built, namespace=Namespace(names={**modules, **full}))


def looked(*places: Place) -> Looked:
    """What was looked at."""
    return Looked(toolchain="triton", places=places, short=SHORT)
