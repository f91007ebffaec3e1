"""Answers for an issue tracker: searched range, bracket, versions, evidence, how to repeat it and how to go on."""

from __future__ import annotations

import re

from jinja2 import Environment, PackageLoader, StrictUndefined

from compat import __version__, toolchains
from compat.bisect.probes import Probe, ReleaseAnswer
from compat.model import Failure
from compat.report.bisect import BisectReport, Group, groups
from compat.report.bisect.onwards import commits_advice, commits_command, compare_url, repeat_command
from compat.report.bisect.sentences import headline, remarks, value_of
from compat.report.markdown import code, escape, fence, prose


def bisect_markdown(report: BisectReport) -> str:
    """The report as Markdown, a section for each group of equal answers."""
    found = groups(report.answers)
    text = _environment().get_template("bisect.md.j2").render(report=report, groups=found, version=__version__)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _facts(group: Group, report: BisectReport) -> dict[str, object]:
    """What a section shows, looked up once."""
    answer, change = group.example, group.example.bracket
    said = headline(answer)
    return {
        "answer": answer,
        "toolchain": toolchains.named(answer.spec.toolchain).title,
        "headline": said[:1].upper() + said[1:],
        "remarks": remarks(answer, fixed=report.fixed),
        "failures": tuple({f.fingerprint: f for probe in answer.probes if (f := probe.result.outcome.failure)}.values()),
        "repeat": repeat_command(answer, report.options, report.ends),
        "compare": compare_url(change) if change else None,
        "commits": commits_command(change) if change else None,
        "commits_advice": commits_advice(change) if change else None,
    }


def _place(failure: Failure) -> str:
    parts = {"stage": failure.stage, "pass": failure.pass_, "op": failure.op, "at": failure.location}
    return ", ".join(f"{name} {code(value)}" for name, value in parts.items() if value)


def _packages(probe: Probe) -> str:
    built = probe.result.built
    versions = [f"Python {built.python_version}"] if built.python_version else []
    versions += [f"{p.name} {p.version}" for p in built.packages if p.name not in (toolchains.of(built.env).distribution, "pip")]
    return ", ".join(versions)


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("compat.report"),
        autoescape=False,  # it is Markdown, escaped by the filters
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {f.__name__: f for f in (escape, prose, code, fence)}
    environment.filters |= {"place": _place, "packages": _packages, "facts": _facts, "value_of": _value}
    return environment


def _value(probe: Probe, answer: ReleaseAnswer) -> str:
    return value_of(answer, probe)
