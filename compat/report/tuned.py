"""The report of tuned kernels: their cases on the releases, and how their configs compare."""

from __future__ import annotations

from collections.abc import Sequence

from compat.engine.run import existing_releases
from compat.history.verdict import verdicts
from compat.report.summary.record import Report
from compat.report.views.tune import record_of_answer
from compat.tune.answers import TuningAnswer
from compat.tune.tuning import CompiledConfigs


def tuning_report(
    compiled: CompiledConfigs, answers: Sequence[TuningAnswer], command: str
) -> Report:
    """The report of tuned kernels for a command line.

    Its cells are those of the kernels' cases. The other configs are only in the answers, because no
    command takes them as cases.
    """
    plan = compiled.plan
    cases = {
        (case.kernel, case.variant, case.case)
        for workload in plan.workloads
        for case in workload.cases
    }
    results = tuple(
        result
        for result in compiled.launched_results
        if (result.cell.spec.kernel, result.cell.spec.variant, result.cell.spec.case) in cases
    )
    existing = existing_releases(plan.selection.config)
    return Report(
        results=results,
        verdicts=verdicts(results, existing=existing),
        existing=existing,
        envs=tuple({result.cell.env.name: result.built for result in results}.values()),
        command=command,
        seconds=sum(result.outcome.seconds for result in results if not result.cached),
        options=plan.selection.options,
        root=str(plan.selection.root.resolve()),
        tuned=tuple(map(record_of_answer, answers)),
    )
