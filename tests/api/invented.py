"""Made-up inspections of releases, for tests that need no installed release."""

from __future__ import annotations

from packaging.version import Version

from compat.api.records import ApiName, ApiParameter, InspectedRelease, Inspection, Namespace
from compat.model import BuiltEnv, Env

SHORT = {"tl": "triton.language"}


def name(*parameters: str | ApiParameter, **facts: object) -> ApiName:
    """A built-in with these parameters: ``a``, ``b=1``, ``*shape``."""
    api_parameters = tuple(
        declaration if isinstance(declaration, ApiParameter) else parameter(declaration)
        for declaration in parameters
    )
    return ApiName(**{"kind": "builtin", "parameters": api_parameters, **facts})  # type: ignore[arg-type]


def parameter(text: str, kind: str = "positional or keyword") -> ApiParameter:
    """The parameter that this text declares in Python."""
    if text.startswith("**"):
        return ApiParameter(name=text[2:], kind="variadic keyword")
    if text.startswith("*"):
        return ApiParameter(name=text[1:], kind="variadic positional")
    word, equals, default = text.partition("=")
    return ApiParameter(name=word, kind=kind, default=default if equals else None)


def place(
    label: str, names: dict[str, ApiName] | None, *, fork: bool = False, missing: bool = False
) -> InspectedRelease:
    """A release with these names of the language, or one that could not be inspected."""
    version = None if fork else Version(label)
    built = BuiltEnv(env=Env(name=f"triton-{label}", release=version), python="python")
    if names is None:
        return InspectedRelease(label=label, built=built, error="broken", missing=missing)
    full = {f"triton.language.{short_name}": api_name for short_name, api_name in names.items()}
    modules = {
        "triton": ApiName(kind="module"),
        "triton.jit": ApiName(kind="function"),
        "triton.language": ApiName(kind="module"),
    }
    return InspectedRelease(
        label=label, fork=fork, built=built, namespace=Namespace(names={**modules, **full})
    )


def inspection(*places: InspectedRelease) -> Inspection:
    """The inspection of these releases."""
    return Inspection(toolchain="triton", places=places, short=SHORT)
