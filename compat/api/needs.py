"""The names that a source needs, the releases that have them, and the results of compiles. Pure.

If a compile contradicts the names, the record gives the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import Factory, frozen

from compat.api.records import ApiName, ApiParameter, InspectedRelease, Inspection, Namespace
from compat.api.uses import ApiUse, Call, Uses
from compat.history.account import Run, class_of, failure_of, is_good, lacks_feature, runs
from compat.model import Cell, Result, Specialization, Status

_ENTERED = ("module", "class")
"""Kinds of names that contain other names."""
_PRIVATE = "_"


@frozen(kw_only=True)
class NameNeed:
    """A name that a source uses."""

    full: tuple[str, ...]
    """The full names that it may stand for. A release needs only one of them."""
    shown: str
    uses: tuple[ApiUse, ...]

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keyword arguments of its calls."""
        return tuple(
            dict.fromkeys(word for use in self.uses if use.call for word in use.call.keywords)
        )


@frozen(kw_only=True)
class MissingName:
    """A need of a source that a release does not meet."""

    shown: str
    why: str
    """``is missing``, ``has no parameter 'dtype'``, ``only raises NotImplementedError: …``."""
    uses: tuple[ApiUse, ...]

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of the source that use it, each once."""
        return tuple(dict.fromkeys(use.line for use in self.uses))

    @property
    def conditions(self) -> tuple[int, ...]:
        """The lines of the conditions around the uses.

        Empty if one of the uses has no condition around it.
        """
        lines = [use.condition for use in self.uses if use.condition is not None]
        return tuple(dict.fromkeys(lines)) if len(lines) == len(self.uses) else ()

    @property
    def functions(self) -> tuple[str, ...]:
        """The kernels that use it; empty if only code outside of kernels uses it."""
        return tuple(dict.fromkeys(use.function for use in self.uses if use.function))


@frozen(kw_only=True)
class NameCoverage:
    """The part of a source's needs that a release meets."""

    place: InspectedRelease
    missing: tuple[MissingName, ...] = ()
    unknown: tuple[str, ...] = ()
    """Needed names whose presence in the env is unknown, each with the reason."""
    deprecated: tuple[str, ...] = ()
    """Needed names that the release deprecates, each with its message."""

    @property
    def inspected(self) -> bool:
        """Whether the env reported its names.

        Without this report, an empty ``missing`` means nothing.
        """
        return self.place.namespace is not None

    @property
    def has_all(self) -> bool:
        """Whether the release is known to meet all needs."""
        return self.inspected and not self.missing and not self.unknown


@frozen(kw_only=True)
class Needs:
    """The needs of a source, and the part of them that each release meets."""

    needs: tuple[NameNeed, ...]
    coverage: tuple[NameCoverage, ...]
    """One entry per release of the inspection, in its order."""
    uses: Uses


def needs_of(uses: Uses, inspection: Inspection) -> Needs:
    """Find the names that a source needs, and the part of them that each release has."""
    needs = tuple(_needs(uses.uses, inspection))
    return Needs(
        needs=needs, coverage=tuple(_having(place, needs) for place in inspection.places), uses=uses
    )


def _is_entered(full: str, inspection: Inspection) -> bool:
    """Whether the names that ``full`` contains are known in some release."""
    entries = (names.get(full) for names in inspection.namespaces if full in names.names)
    return any(name is not None and name.kind in _ENTERED and not name.opaque for name in entries)


def _needs(uses: Iterable[ApiUse], inspection: Inspection) -> Iterator[NameNeed]:
    groups: dict[tuple[str, ...], list[ApiUse]] = {}
    for use in uses:
        named = tuple(dict.fromkeys(_name(full, inspection) for full in use.meanings))
        if use.starred:
            named = tuple(full for full in named if inspection.entries(full))
        if named and not all(full == inspection.toolchain or _is_dunder(full) for full in named):
            groups.setdefault(named, []).append(use)
    for full, group in sorted(groups.items()):
        yield NameNeed(
            full=full,
            shown=" or ".join(inspection.short_name(name) for name in full),
            uses=tuple(group),
        )


def _is_dunder(full: str) -> bool:
    last = full.rpartition(".")[2]
    return last.startswith("__")


def _name(full: str, inspection: Inspection) -> str:
    """The part of ``a.b.c`` that is a name of the toolchain.

    Parts after a function or a dtype are attributes of a value, which are not inspected.
    """
    parts = full.split(".")
    for end in range(len(parts), 0, -1):
        prefix = ".".join(parts[:end])
        if inspection.entries(prefix):
            is_whole = end == len(parts) or not _is_entered(prefix, inspection)
            return prefix if is_whole else ".".join(parts[: end + 1])
    return full


def _having(place: InspectedRelease, needs: Sequence[NameNeed]) -> NameCoverage:
    if place.namespace is None:
        return NameCoverage(place=place)
    missing: list[MissingName] = []
    unknown: list[str] = []
    deprecated: list[str] = []
    for need in needs:
        own = (f"{need.shown} ", f"{need.shown}(")  # a message may begin with the name itself
        entries = [(full, place.namespace.get(full)) for full in need.full]
        there = [
            name for _, name in entries if name is not None and not name.refuses and not name.error
        ]
        if there:
            missing += _mismatches(need, there)
            deprecated += [
                message if message.startswith(own) else f"{need.shown}: {message}"
                for message in _deprecations(need, there[0])
            ]
        elif why := next(
            (
                why
                for full, name in entries
                if (why := _unknown_reason(place.namespace, full, name))
            ),
            "",
        ):
            unknown.append(f"{need.shown}: {why}")
        else:
            refused = next((name.refuses for _, name in entries if name), "")
            why = f"only raises {refused}" if refused else "is missing"
            missing.append(MissingName(shown=need.shown, why=why, uses=need.uses))
    return NameCoverage(
        place=place, missing=tuple(missing), unknown=tuple(unknown), deprecated=tuple(deprecated)
    )


def _unknown_reason(namespace: Namespace, full: str, name: ApiName | None) -> str:
    """The reason why it is unknown whether a name exists; empty if it is known."""
    if (name is None or name.error) and (why := namespace.unknown(full)):
        return why
    private = any(
        part.startswith(_PRIVATE) and not part.startswith("_experimental_")
        for part in full.split(".")
    )
    return "private names are not inspected" if name is None and private else ""


def _deprecations(need: NameNeed, name: ApiName) -> Iterator[str]:
    yield from name.deprecated
    for parameter in name.parameters or ():
        if parameter.deprecated and parameter.name in need.keywords:
            yield f"{parameter.name}: {parameter.deprecated}"


# --- calls ----------------------------------------------------------------------------------------


def _mismatches(need: NameNeed, there: Sequence[ApiName]) -> Iterator[MissingName]:
    """Group the calls that no form accepts, by the reason of the first form."""
    groups: dict[str, list[ApiUse]] = {}
    for use in need.uses:
        if use.call is None:
            continue
        reasons = [mismatch(name, use.call) for name in there]
        if all(reasons):
            groups.setdefault(reasons[0], []).append(use)
    for why, uses in groups.items():
        yield MissingName(shown=need.shown, why=why, uses=tuple(uses))


def mismatch(name: ApiName, call: Call) -> str:
    """The reason why a call does not fit; empty if it fits or the parameters are not known."""
    if name.parameters is None or name.kind == "method":
        return ""
    positional = [
        parameter
        for parameter in name.parameters
        if parameter.kind in ("positional-only", "positional or keyword")
    ]
    kinds = {parameter.kind for parameter in name.parameters}
    by_keyword = {
        parameter.name
        for parameter in name.parameters
        if parameter.kind in ("keyword-only", "positional or keyword")
    }
    for word in call.keywords:
        if (
            word not in by_keyword
            and "variadic keyword" not in kinds
            and not word.startswith(_PRIVATE)
        ):
            return f"has no parameter {word!r}"
    if call.positional > len(positional) and "variadic positional" not in kinds:
        return f"takes at most {len(positional)} positional arguments, not {call.positional}"
    missing = [] if call.open else list(_missing(name.parameters, positional, call))
    return f"needs {missing[0]!r}" if missing else ""


def _missing(
    parameters: Iterable[ApiParameter], positional: Sequence[ApiParameter], call: Call
) -> Iterator[str]:
    passed = {parameter.name for parameter in positional[: call.positional]} | set(call.keywords)
    for parameter in parameters:
        if (
            parameter.default is None
            and not parameter.kind.startswith("variadic")
            and parameter.name not in passed
        ):
            yield parameter.name


@frozen(kw_only=True)
class KernelNeeds:
    """The names that a function needs, with the results of compiling it."""

    source: str
    """Path of the file as the user wrote it."""
    function: str | None
    """Name of the function. ``None``: the file as a whole."""
    needs: Needs
    """The names."""
    specs: tuple[Specialization, ...] = ()
    """Known arguments. Empty: the function cannot be compiled."""
    cells: Mapping[str, tuple[Cell, ...]] = Factory(dict)
    """Release label → cells that can be compiled: each case on each target."""
    results: Mapping[str, tuple[Result, ...]] = Factory(dict)
    """Release label → results, perhaps of some cells only."""


@frozen(kw_only=True)
class Outcomes:
    """Results of a release with the same status and failure class."""

    status: Status
    failure_class: str | None
    results: int


@frozen(kw_only=True)
class NamesVerdict:
    """A comparison of the names of a release with the results of compiles."""

    cells: int
    """The number of cells, each a case on a target; 0 without known arguments."""
    by_case: bool
    """Whether all cells are for one target, so that each cell is a case."""
    outcomes: tuple[Outcomes, ...]
    """The known outcomes."""
    because: str = ""
    """The reason if the compile and the names disagree; else empty."""

    @property
    def result_count(self) -> int:
        """The number of cells with a known result."""
        return sum(outcome.results for outcome in self.outcomes)

    @property
    def agrees(self) -> bool:
        """Whether all cells were compiled, and their results agree with the names."""
        return 0 < self.result_count == self.cells and not self.because


def verdicts(kernel: KernelNeeds) -> tuple[Run[NamesVerdict], ...]:
    """The verdict on each inspected release. Neighbours with equal verdicts form one run."""
    return runs(
        (having.place.label, _verdict(having, kernel) if having.inspected else None)
        for having in kernel.needs.coverage
    )


def _verdict(having: NameCoverage, kernel: KernelNeeds) -> NamesVerdict:
    cells = kernel.cells.get(having.place.label, ())
    results = kernel.results.get(having.place.label, ())
    answers = [result for result in results if result.outcome.status.is_answer]
    return NamesVerdict(
        cells=len(cells),
        by_case=len({cell.target for cell in cells}) <= 1,
        outcomes=_outcomes(results),
        because=_difference(having, answers, kernel) if answers else "",
    )


def _outcomes(results: Sequence[Result]) -> tuple[Outcomes, ...]:
    counts = Counter((result.outcome.status, failure_of(result.outcome)[0]) for result in results)
    order = list(Status)
    alike = sorted(counts, key=lambda outcome: (order.index(outcome[0]), outcome[1] or ""))
    return tuple(
        Outcomes(status=status, failure_class=name, results=counts[status, name])
        for status, name in alike
    )


def _difference(having: NameCoverage, results: Sequence[Result], kernel: KernelNeeds) -> str:
    """The reason why the results contradict the names; empty if they do not."""
    failed = [result for result in results if not is_good(result.outcome)]
    of_names = [
        result for result in failed if lacks_feature(result.outcome) and result.outcome.failure
    ]
    others = [class_of(result.outcome) for result in failed if result not in of_names]
    if not having.missing:
        return _though_all_is_there(of_names, others, having, kernel)
    if len(failed) == len(results):
        return (
            ""
            if of_names
            else f"it fails for another reason first: {', '.join(dict.fromkeys(others))}"
        )
    return "; ".join(
        _though_not_there(lack) for lack in having.missing if lack.conditions or not failed
    )


def _though_all_is_there(
    of_names: Sequence[Result], others: Sequence[str], having: NameCoverage, kernel: KernelNeeds
) -> str:
    if of_names:
        failure = of_names[0].outcome.failure
        message = " ".join((failure.excerpt.splitlines() or [""])[-1].split()) if failure else ""
        methods = ", ".join(dict.fromkeys(f".{name}" for name in kernel.needs.uses.unresolved))
        rest = f"; attributes of values are not resolved: {methods}" if methods else ""
        return f"all names that the source shows exist, but the compiler says: {message}{rest}"
    if others:
        what = "some of its names are unknown" if having.unknown else "all names exist"
        return f"{what}, and it fails for another reason: {', '.join(dict.fromkeys(others))}"
    return ""


def _though_not_there(lack: MissingName) -> str:
    """The reason why the source compiles on a release that does not meet a need."""
    reason = f"{lack.shown} {lack.why}"
    if lack.conditions:
        lines = ", ".join(map(str, lack.conditions))
        return (
            f"{reason}, but only a condition (line {lines}) leads to it, which the compiled cases"
            " may not take"
        )
    if not lack.functions:
        return f"{reason}, but the source uses it only outside of kernels, which are not compiled"
    return f"{reason}, but the kernel compiles: the compiled code does not reach or need it"
