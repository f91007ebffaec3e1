"""The choice of a kernel's variant for this Triton and GPU: code that ``compat guard`` writes.

This text is copied into libraries, with the results of a matrix in the place of ``FACTS``. It
imports nothing when it is imported.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` takes longer than all the rest
    from typing import Any

FACTS: dict[str, object] = {}
# ----- from here on: the code, the same in every guard -----

POLICIES = ("pessimistic", "optimistic")


class Choice:
    """Which variant to launch, and why; ``variant`` is None where none is known to work."""

    __slots__ = ("variant", "why")

    def __init__(self, variant: str | None, why: str) -> None:
        self.variant, self.why = variant, why

    def __repr__(self) -> str:
        return f"Choice(variant={self.variant!r}, why={self.why!r})"


def best_variant(
    kernel: str,
    triton_version: str | None = None,
    target: object = None,
    *,
    policy: str | None = None,
) -> str | None:
    """Return the first variant, in the author's order of preference, that works.

    Returns None if no variant is known to work.

    Args:
        kernel: A kernel in FACTS.
        triton_version: Such as "3.5.1"; by default the installed one.
        target: "sm_90", "gfx942", or a capability such as (9, 0); by default PyTorch's current GPU.
        policy: "pessimistic" or "optimistic"; by default the one in FACTS.
    """
    return choose(kernel, triton_version, target, policy=policy).variant


def why(
    kernel: str,
    triton_version: str | None = None,
    target: object = None,
    *,
    policy: str | None = None,
) -> str:
    """A sentence on the answer of `best_variant`."""
    return choose(kernel, triton_version, target, policy=policy).why


def choose(
    kernel: str,
    triton_version: str | None = None,
    target: object = None,
    *,
    policy: str | None = None,
) -> Choice:
    """Return the answer of `best_variant` with its reason.

    Raises ValueError for a kernel that is not in FACTS, and without a target.
    """
    version = installed_triton() if triton_version is None else str(triton_version)
    place = (
        present_target()
        if target is None
        else tuple(target)
        if isinstance(target, list)
        else target
    )
    question = (kernel, version, place, policy)
    if question not in _ANSWERS:
        _ANSWERS[question] = decide(FACTS, kernel, version, place, policy)
    return _ANSWERS[question]


_ANSWERS: dict[object, Choice] = {}


def best_config(
    kernel: str,
    variant: str,
    workload: str,
    triton_version: str | None = None,
    target: object = None,
) -> dict[str, object] | None:
    """Return the constexprs and options that were the fastest on such a GPU.

    They are those of the newest timed release that is not newer than the installed one, or else of
    the oldest timed release. Returns None if nothing was timed for the target. Raises ValueError
    for a workload that is not in FACTS.
    """
    version = installed_triton() if triton_version is None else str(triton_version)
    place = present_target() if target is None else target
    return config_of(FACTS, (kernel, variant, workload), version, place)


# ----- what is here -----


def installed_triton() -> str | None:
    """Return the version of the installed Triton.

    Returns "NAME VERSION" for a fork of another name, and None if no Triton is installed.
    """
    if "version" not in _INSTALLED:
        _INSTALLED["version"] = _find_triton()
    return _INSTALLED["version"]


_INSTALLED: dict[str, str | None] = {}


def _find_triton() -> str | None:
    import sys
    from importlib import import_module, metadata, util

    distribution_version = _distribution(metadata)
    loaded = getattr(sys.modules.get("triton"), "__version__", None)
    if distribution_version is None and util.find_spec("triton") is not None:
        loaded = getattr(import_module("triton"), "__version__", "0")
    if loaded is not None and (
        distribution_version is None or _order(loaded) != _order(distribution_version)
    ):
        # This Triton is on the path without having been installed.
        return f"{loaded.partition('+')[0]}+local"
    return distribution_version


def _distribution(metadata: Any) -> str | None:
    try:
        return str(metadata.version("triton"))
    except metadata.PackageNotFoundError:
        pass
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"] or ""
        if "triton" in name.lower() and any(
            str(path) == "triton/__init__.py" for path in distribution.files or ()
        ):
            return f"{name} {distribution.version}"
    return None


def present_target() -> str | None:
    """Return the target of PyTorch's current GPU, such as "sm_90".

    Returns None without PyTorch or without a GPU.
    """
    from importlib import import_module

    try:
        torch = import_module("torch")
    except ImportError:
        return None
    if not _GPUS and not torch.cuda.is_available():
        return None
    device = torch.cuda.current_device()
    if device not in _GPUS:
        _GPUS[device] = _target_of(torch, device)
    return _GPUS[device]


_GPUS: dict[int, str] = {}


def _target_of(torch: Any, device: int) -> str:
    if getattr(torch.version, "hip", None):
        return str(torch.cuda.get_device_properties(device).gcnArchName).partition(":")[0]
    major, minor = torch.cuda.get_device_capability(device)
    return f"sm_{major}{minor}"


# ----- the decision -----


def decide(
    facts: dict[str, Any],
    kernel: str,
    version: str | None,
    target: object,
    policy: str | None = None,
) -> Choice:
    """What `choose` answers, by these facts."""
    variants = facts["kernels"].get(kernel)
    if variants is None:
        raise ValueError(
            f"this guard does not know the kernel {kernel!r}; it knows"
            f" {', '.join(facts['kernels']) or 'none'}"
        )
    policy = policy or facts["policy"]
    if policy not in POLICIES:
        raise ValueError(f"unknown policy {policy!r}; choose one of {', '.join(POLICIES)}")
    if version is None:
        return Choice(None, "Triton is not installed")
    if target is None:
        return Choice(None, "there is no GPU that PyTorch knows of")
    device, names = _targets(facts, target)
    refused: dict[str, list[str]] = {}
    for variant, marks in variants.items():
        works, reason = _works(facts, marks, version, device, names, policy == "optimistic")
        if works:
            return Choice(variant, f"{variant}: {reason}")
        refused.setdefault(reason, []).append(variant)
    reasons = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in refused.items())
    return Choice(
        None,
        f"no variant of {kernel} is known to work with Triton {version} on {_name(device)} (policy:"
        f" {policy}): {reasons}",
    )


def _works(
    facts: dict[str, Any],
    marks: dict[str, str],
    version: str,
    device: tuple[str, Any],
    names: list[str],
    optimistic: bool,
) -> tuple[bool, str]:
    """Whether a variant works with a release on a GPU, and why."""
    if names:
        return _on_all(facts, marks, version, names, optimistic)
    alike = [name for name, (backend, _) in facts["targets"].items() if backend == device[0]]
    if not optimistic or not alike:
        return False, f"was not tested for {_name(device)}"
    works, reason = _on_all(facts, marks, version, alike, optimistic)
    return works, f"was not tested for {_name(device)}; {reason}"


def _on_all(
    facts: dict[str, object],
    marks: dict[str, str],
    version: str,
    names: list[str],
    optimistic: bool,
) -> tuple[bool, str]:
    reason = ""
    for name in names:
        works, reason = _on(facts, marks.get(name, ""), version, optimistic)
        if not works:
            return False, f"{reason} for {name}"
    return True, f"{reason} for {', '.join(names)}"


def _on(facts: dict[str, Any], marks: str, version: str, optimistic: bool) -> tuple[bool, str]:
    """Whether a variant works with a release for a target that has these marks, and why."""
    tested = [(release, mark) for release, mark in zip(facts["releases"], marks) if mark != "?"]
    for release, mark in tested:
        if _same(release, version):
            return _explain_mark(facts, release, mark)
    line = [(release, mark) for release, mark in tested if not _is_fork(release)]
    if not optimistic or not line or _order(version) is None:
        return False, f"was not tested with Triton {version}"
    if _is_fork(version):
        for release, mark in line:
            if _order(release) == _order(version):
                works, reason = _explain_mark(facts, release, mark)
                return works, f"was not tested with Triton {version}, and {reason}"
    before = [entry for entry in line if _order(entry[0]) < _order(version)]
    after = [entry for entry in line if _order(entry[0]) > _order(version)]
    if not before:
        return False, f"was not tested with a Triton as old as {version}"
    for release, mark in before[-1:] + after[:1]:
        works, reason = _explain_mark(facts, release, mark)
        if not works:
            return False, f"was not tested with Triton {version}, and {reason}"
    around = " and ".join(release for release, _ in before[-1:] + after[:1])
    newest = "" if after else ", the newest that was tested"
    return True, f"was not tested with Triton {version}, and works with {around}{newest}"


def _explain_mark(facts: dict[str, Any], release: str, mark: str) -> tuple[bool, str]:
    if mark == "+":
        return True, f"works with Triton {release}"
    return False, f"does not work with Triton {release} ({facts['reasons'].get(mark, 'it fails')})"


def config_of(
    facts: dict[str, Any], workload: tuple[str, str, str], version: str | None, target: object
) -> dict[str, object] | None:
    """What `best_config` answers, by these facts."""
    configs = facts.get("configs", {})
    for name in workload:
        if name not in configs:
            raise ValueError(f"this guard has no configs of {'/'.join(workload)}")
        configs = configs[name]
    if version is None or target is None or _order(version) is None:
        return None
    target = tuple(target) if isinstance(target, list) else target
    names = _targets(facts, target)[1]
    timed = next((configs[name] for name in (*names, target) if name in configs), None)
    best = None
    for release, settings in (timed or {}).items():
        if best is None or _order(release) <= _order(version):
            best = settings
    return None if best is None else dict(best)


# ----- versions and targets -----


def _is_fork(version: str) -> bool:
    """Return whether a version is a fork's: a local version such as 3.1.0+ours, or another name."""
    return "+" in version or " " in version


def _same(one: str, other: str) -> bool:
    if _is_fork(one) or _is_fork(other):
        return one == other
    return one == other or (_order(one) is not None and _order(one) == _order(other))


def _order(version: str) -> Any:
    """Return a key to compare versions by: 3.5rc1 < 3.5 = 3.5.0 < 3.5.0.post1.

    Returns None if the text is not a version.
    """
    import re

    match = re.match(
        r"v?(\d+(?:\.\d+)*)[-._]?([a-z]*)[-._]?(\d*)",
        version.rpartition(" ")[2].partition("+")[0].lower(),
    )
    if match is None:
        return None
    numbers = [int(number) for number in match.group(1).split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    word, number = match.group(2), int(match.group(3) or 0)
    phase = 0 if not word and not number else 1 if word in ("", "post", "r", "rev") else -1
    return numbers, phase, "" if word == "dev" else word, number


def _targets(facts: dict[str, Any], target: Any) -> tuple[tuple[str, Any], list[str]]:
    """Return backend and architecture of a target, and the names under which it was tested.

    Raises ValueError if it is not a target.
    """
    if target in facts["targets"]:
        return facts["targets"][target], [target]
    device = _device(target)
    return device, [
        name for name, tested_device in facts["targets"].items() if tested_device == device
    ]


def _device(target: Any) -> tuple[str, object]:
    if isinstance(target, tuple) and len(target) == 2:
        return "cuda", 10 * int(target[0]) + int(target[1])
    text = str(target).partition(":")[0]
    if text.startswith("gfx"):
        return "hip", text
    if text.startswith("sm_") and text[3:].rstrip("af").isdigit():
        return "cuda", int(text[3:].rstrip("af"))
    raise ValueError(f"unknown target {target!r}; name one such as 'sm_90', 'gfx942' or (9, 0)")


def _name(device: tuple[str, Any]) -> str:
    return f"sm_{device[1]}" if device[0] == "cuda" else str(device[1])
