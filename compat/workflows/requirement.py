"""Where a CI system installs this package from: from where it was installed here, as installers record it (PEP 610)."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution

from attrs import frozen

from compat import __version__

_NAME = "triton-compat"


@frozen(kw_only=True)
class Requirement:
    """What ``pip install`` is given."""

    text: str
    unsure: str = ""
    """Why it has to be looked at; empty where the same thing can be installed elsewhere."""


def requirement() -> Requirement:
    """This package, with uv, as it can be installed on another machine."""
    origin = _origin()
    url = origin.get("url") if isinstance(origin, dict) else None
    vcs = origin.get("vcs_info") if isinstance(origin, dict) else None
    if isinstance(url, str) and url.startswith("https://"):
        commit = f"git+{url}@{vcs['commit_id']}" if isinstance(vcs, dict) and vcs.get("vcs") == "git" else url
        return Requirement(text=f"{_NAME}[uv] @ {commit}")
    unsure = "here it was installed from files of this machine" if url else ""
    return Requirement(text=f"{_NAME}[uv]=={__version__}", unsure=unsure)


def _origin() -> object:
    """What the installer wrote down of where the package comes from; of a release of an index that is nothing."""
    try:
        text = distribution(_NAME).read_text("direct_url.json")
        return json.loads(text) if text else {}
    except (PackageNotFoundError, ValueError):
        return {"url": "file:"}
