"""The definition of bad: a question about every result, with three possible answers. Pure.

On the command line, where it is called a judge, it is one of::

    ok                      bad if the kernel cannot be used: rejected, crashed, unsupported,
                            stopped, wrong, unlaunchable
    class=NAME              bad if it fails with that class; any other failure counts as good
    same-failure            bad if it fails with the fingerprint of the bad end
    unexpected              bad if the result is not the expected one
    METRIC<op>NUMBER        bad if the comparison holds: registers>128, artifacts.cubin>50000
    compile_seconds>10,     bad if the compile takes that long (:mod:`compat.bisect.measures`)
    stage.llir.cpu>1.5*previous, pass.cse.cpu>1, …
    run=COMMAND             the answer of a user's program, an exit code as for `git bisect run`
    wrong, unstable,        the results of launches
    latency>1.2*previous, …
    best>1.1*previous,      the same for the fastest config of the kernel (:mod:`compat.tune`)
    staying>1.2             bad if the config that was best on the oldest release takes more than
                            that many times as long as the best config

A broken env, a lost answer, a flaky result, and a metric of a kernel that did not compile are
inconclusive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self

from attrs import evolve, field, frozen

from compat import toolchains
from compat.bisect.measures import (
    LIMIT,
    OPERATORS,
    ExceedsLimit,
    Row,
    TakesLonger,
    measure,
    parse_duration,
)
from compat.config.toml import did_you_mean
from compat.errors import SelectionError
from compat.history.account import Judgement, class_of, is_good
from compat.model import Check, Outcome, Result, Status
from compat.text import lazy_pattern, printable

_METRIC = lazy_pattern(
    r"(?P<name>[a-z_][\w.]*)\s*(?P<sign>>=|<=|==|!=|>|<|=)\s*(?P<number>-?\d+(?:\.\d+)?)"
)
_FORMS = (
    "ok, class=NAME, same-failure, unexpected, wrong, unstable, run=COMMAND. For a metric:"
    " 'registers>128'. For seconds: 'compile_seconds>10', 'stage.NAME.cpu>1.5*previous',"
    " 'pass.NAME.cpu>1'. For a launch: 'latency>80', 'latency>1.2*baseline',"
    " 'latency>1.2*previous'. For tuned configs: 'best>1.1*previous', 'staying>1.2'"
)
CANNOT_TELL, _BY_SIGNAL = 125, 128

Ask = Callable[[str, Result], int]
"""Runs a command about a result and returns its exit code."""


class Question(Protocol):
    """A question that separates good results from bad ones."""

    @property
    def text(self) -> str:
        """The question as the command line spells it."""

    def is_bad(self, result: Result) -> bool | None:
        """Whether a steady answer is bad; ``None`` if inconclusive."""


@frozen(kw_only=True)
class Criterion:
    """A question about results that decides between good and bad.

    A result without an answer to the question is inconclusive.
    """

    question: Question

    @property
    def text(self) -> str:
        """The criterion as the command line spells it."""
        return self.question.text

    @property
    def asks_ok(self) -> bool:
        """Whether good and bad mean working and failing."""
        return isinstance(self.question, IsOk)

    @property
    def asks_metric(self) -> bool:
        """Whether it asks for a metric, which only compiled kernels have."""
        return isinstance(self.question, Exceeds | TakesLonger)

    @property
    def asks_seconds(self) -> bool:
        """Whether it asks for compile time, which is measured again if it decides the judgement."""
        return isinstance(self.question, TakesLonger)

    @property
    def asks_passes(self) -> bool:
        """Whether it asks for the time of a compiler pass.

        A compile reports that time only on request.
        """
        return isinstance(self.question, TakesLonger) and self.question.of_pass is not None

    @property
    def asks_launches(self) -> bool:
        """Whether it asks for results of launches."""
        return isinstance(self.question, IsWrong | IsUnstable | IsSlower)

    @property
    def needs_every(self) -> bool:
        """Whether it compares a release with the others, so that every release must be tried."""
        if isinstance(self.question, TakesLonger):
            return bool(self.question.of)
        return isinstance(self.question, IsWrong) or (
            isinstance(self.question, IsSlower)
            and (self.question.of == "previous" or self.question.what == STAYING)
        )

    @property
    def asks_configs(self) -> bool:
        """Whether it asks for launches of all configs of a kernel."""
        return isinstance(self.question, IsSlower) and self.question.what != LATENCY

    def along(self, row: Row) -> Criterion:
        """The criterion for one kernel, given the results on all its releases, oldest first."""
        if isinstance(self.question, IsWrong | IsSlower | TakesLonger):
            return Criterion(question=self.question.along(row))
        return self

    @property
    def needs_bad_end(self) -> bool:
        """Whether it needs the outcome of the bad end; see :meth:`about`."""
        return isinstance(self.question, HasFingerprint) and self.question.fingerprint is None

    def about(self, outcome: Outcome) -> Criterion:
        """Return the criterion, given the outcome of the bad end.

        An outcome without an answer has no failure of the kernel, and changes nothing.
        """
        if not self.needs_bad_end or not outcome.status.is_answer:
            return self
        return Criterion(
            question=HasFingerprint(
                fingerprint=outcome.failure.fingerprint if outcome.failure else ""
            )
        )

    def __call__(self, result: Result) -> Judgement:
        outcome = result.outcome
        if outcome.flaky or not outcome.status.is_answer:
            return Judgement.UNKNOWN
        bad = self.question.is_bad(result)
        return Judgement.UNKNOWN if bad is None else Judgement.BAD if bad else Judgement.GOOD


def parse_criterion(text: str, ask: Ask | None = None) -> Criterion:
    """Parse a criterion, as ``--judge`` takes it.

    Args:
        text: Such as ``ok``, ``same-failure`` or ``registers>128``.
        ask: Runs programs for ``run=COMMAND``, such as a
            :class:`~compat.bisect.judging.JudgingProgram`.

    Raises:
        SelectionError: ``text`` is not a criterion.
    """
    text = text.strip()
    plain: dict[str, Question] = {
        "ok": IsOk(),
        "unexpected": IsUnexpected(),
        "same-failure": HasFingerprint(),
        "wrong": IsWrong(),
        "unstable": IsUnstable(),
    }
    if text in plain:
        return Criterion(question=plain[text])
    name, equals, argument = text.partition("=")
    if equals and name.strip() == "class":
        return Criterion(question=HasClass(failure_class=_check_class_name(argument.strip())))
    if equals and name.strip() == "run" and argument.strip() and ask is not None:
        return Criterion(question=RunsProgram(command=argument.strip(), ask=ask))
    if measured := _parse_latency(text) or parse_duration(text):
        return Criterion(question=measured)
    if match := _METRIC.fullmatch(text):
        sign = "==" if match["sign"] == "=" else match["sign"]
        return Criterion(
            question=Exceeds(metric=match["name"], sign=sign, number=float(match["number"]))
        )
    raise SelectionError(
        f"{text!r} is not a judge",
        where="--judge",
        hint=did_you_mean(text, plain) or f"Available: {_FORMS}.",
    )


def _check_class_name(name: str) -> str:
    classes = toolchains.class_names()
    if name not in classes:
        hint = did_you_mean(name, classes) or f"Available: {', '.join(classes)}."
        raise SelectionError(f"there is no failure class {name!r}", where="--judge", hint=hint)
    return name


# --- the questions --------------------------------------------------------------------------------


@frozen(kw_only=True)
class IsOk:
    """Can the kernel be used there?"""

    text: str = "ok"

    def is_bad(self, result: Result) -> bool | None:
        return not is_good(result.outcome)


@frozen(kw_only=True)
class IsUnexpected:
    """Is the result the expected one?"""

    text: str = "unexpected"

    def is_bad(self, result: Result) -> bool | None:
        return not result.expected


@frozen(kw_only=True)
class HasClass:
    """Does it fail with that class?"""

    failure_class: str

    @property
    def text(self) -> str:
        return f"class={self.failure_class}"

    def is_bad(self, result: Result) -> bool | None:
        return result.outcome.failure is not None and class_of(result.outcome) == self.failure_class


@frozen(kw_only=True)
class HasFingerprint:
    """Does it fail as the bad end does?"""

    fingerprint: str | None = None
    text: str = "same-failure"

    def is_bad(self, result: Result) -> bool | None:
        if self.fingerprint is None:
            return None
        return (
            result.outcome.failure is not None
            and result.outcome.failure.fingerprint == self.fingerprint
        )


@frozen(kw_only=True)
class Exceeds:
    """Does the comparison of a metric with a number hold?"""

    metric: str
    """A key of the metrics, or a path such as ``artifacts.cubin``."""
    sign: str
    number: float

    @property
    def text(self) -> str:
        return f"{self.metric}{self.sign}{self.number:g}"

    def is_bad(self, result: Result) -> bool | None:
        value = measure(result.outcome, self.metric)
        if value is None:
            return None
        return OPERATORS[self.sign](value, self.number)


@frozen(kw_only=True)
class RunsProgram:
    """Does a user's program judge the result as bad?"""

    command: str
    ask: Ask = field(eq=False)

    @property
    def text(self) -> str:
        return printable(f"run={self.command}")

    def is_bad(self, result: Result) -> bool | None:
        code = self.ask(self.command, result)
        return None if code == CANNOT_TELL or not 0 <= code < _BY_SIGNAL else code != 0


LATENCY, BEST, STAYING = "latency", "best", "staying"
"""The subjects of :class:`IsSlower`: the kernel with its own config, its fastest config, or the
config that is the fastest on the oldest release.
"""
_LATENCY = lazy_pattern(rf"(?P<what>latency|best)\s*(?P<sign>>=|<=|>|<)\s*{LIMIT}")
_STAYING = lazy_pattern(r"staying\s*(?P<sign>>=|<=|>|<)\s*(?P<number>\d+(?:\.\d+)?)")
_WRONG = (Status.WRONG, Status.UNSTABLE, Status.FAULTED)
_STEADY = (Status.OK, Status.WRONG)


@frozen(kw_only=True)
class IsWrong:
    """Does it compute wrong numbers?"""

    on_gpu: bool = False
    """Whether only a GPU's numbers count as right, because some release of the row was launched."""
    text: str = "wrong"

    def is_bad(self, result: Result) -> bool | None:
        numbers = result.numbers
        if any(check.status in _WRONG for check in numbers.checks):
            return True
        decisive = numbers.gpu or (None if self.on_gpu else numbers.interpreter)
        return False if decisive is not None and decisive.right else None

    def along(self, row: Row) -> Self:
        """The same question, given the results on all releases.

        The compiler may build wrong code for a kernel whose numbers are right in the interpreter.
        """
        return evolve(
            self,
            on_gpu=any(result.numbers.gpu is not None for results in row for result in results),
        )


@frozen(kw_only=True)
class IsUnstable:
    """Do launches with the same arguments compute different numbers?"""

    text: str = "unstable"

    def is_bad(self, result: Result) -> bool | None:
        check = result.numbers.gpu
        if check is None:
            return None
        if check.status is Status.UNSTABLE or check.differing:
            return True
        # A launch without a reference is steady if it had the same numbers each time.
        is_unknown = check.status is Status.UNSUPPORTED and check.launches
        return False if check.status in _STEADY or is_unknown else None


@frozen(kw_only=True)
class IsSlower(ExceedsLimit):
    """Does the comparison of a launch's latency with a limit hold?

    ``what`` is one of :data:`LATENCY`, :data:`BEST` and :data:`STAYING`. Numbers are microseconds.
    The baseline is the result's own; of :data:`STAYING` it is the fastest config of the same
    release.
    """

    @property
    def text(self) -> str:
        return super().text.removesuffix("*baseline") if self.what == STAYING else super().text

    def value(self, result: Result) -> float | None:
        """The latency of a result in microseconds, or ``None`` if it was not timed."""
        return result.latency.us if result.latency else None

    def limit(self, result: Result) -> float | None:
        """The microseconds to compare with, or ``None`` if they are not known."""
        if self.of == "baseline":
            baseline = result.latency.baseline_us if result.latency else None
            return None if baseline is None else self.number * baseline
        other = self.before.get(result.cell)
        return None if other and not self.is_alike(other, result) else super().limit(result)

    def is_alike(self, other: Result, result: Result) -> bool:
        """Whether the latencies of two results are of one GPU."""
        latencies = [timed.latency for timed in (other, result) if timed.latency]
        return len({latency.device for latency in latencies}) == 1


def _parse_latency(text: str) -> IsSlower | None:
    """The question about a latency that a text names; ``None`` for other texts."""
    if match := _STAYING.fullmatch(text):
        number = float(match["number"])
        return IsSlower(sign=match["sign"], number=number, of="baseline", what=STAYING)
    return IsSlower.parse(_LATENCY, text)


def check_text(check: Check) -> str:
    """A check in words: ``wrong, error 0.41``, ``unstable, 3 of 30 launches differ``."""
    text = str(check.status).replace("_", " ")
    if check.status is Status.UNSTABLE and check.differing and check.launches:
        return f"{text}, {check.differing} of {check.launches} launches differ"
    if check.status in (Status.WRONG, Status.UNSTABLE) and check.max_abs is not None:
        return f"{text}, error {check.max_abs:.3g}"
    return text


def result_text(result: Result) -> str:
    """The decisive check of a result in words, with its latency."""
    check, latency = result.numbers.decisive, result.latency
    parts = [
        *([check_text(check)] if check else []),
        *([f"{latency.us:.4g} µs"] if latency else []),
    ]
    return ", ".join(parts) or "not run"
