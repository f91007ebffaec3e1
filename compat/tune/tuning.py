"""All configs of chosen kernels on chosen releases: compiled, built for a GPU host, compared."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from compat import toolchains
from compat.engine.run import RunContext, run
from compat.errors import SelectionError
from compat.launch.building import Built, OmittedCell, build_cells, check_target, no_problem
from compat.launch.merging import with_every_launch, with_launched
from compat.model import NOT_RUN, Cell, Latency, Result, Specialization, Target
from compat.project import Listener, Obtain, Selection
from compat.store.store import Store
from compat.text import group_by_key
from compat.tune.answers import TuningAnswer, answers_of
from compat.tune.configs import Workload, workloads_of


@frozen(kw_only=True)
class TuningPlan:
    """The workloads to tune, and the cells of their configs."""

    workloads: tuple[Workload, ...]
    """The workloads with several configs."""
    selection: Selection
    """The cells of all configs, for one target."""

    @property
    def target(self) -> Target:
        """The target of all cells."""
        return self.selection.cells[0].target


@frozen(kw_only=True)
class CompiledConfigs:
    """The compiled cells of a plan."""

    plan: TuningPlan
    results: tuple[Result, ...]
    """A result for each cell, without launches."""
    context: RunContext
    """The context that compiled them, with their envs."""

    def build(self) -> Built:
        """Build everything that a GPU host has to launch.

        A cell that does not compile, or whose launch is predicted to fail, is left out. Raises the
        errors of :func:`compat.engine.run.run`.
        """
        cells = [result.cell for result in self.results if result.outcome.failure is None]
        names = {
            config.spec: f"{config.spec.kernel}/{config.spec.variant}/{workload.name}"
            for workload in self.plan.workloads
            for config in workload.configs
        }
        built = (
            build_cells(cells, self.context)
            if cells
            else Built(target=self.plan.target, launchable=(), omitted_cells=())
        )
        return evolve(
            built,
            launchable=tuple(
                evolve(launchable, contest=names[launchable.cell.spec])
                for launchable in built.launchable
            ),
            omitted_cells=(*built.omitted_cells, *map(_omitted_cell, self._failed_results())),
        )

    def _failed_results(self) -> list[Result]:
        return [result for result in self.results if result.outcome.failure is not None]

    @property
    def launched_results(self) -> tuple[Result, ...]:
        """The results with the launches in the store."""
        return with_launched(self.results, self.context.store)

    def answers(self) -> tuple[TuningAnswer, ...]:
        """Return an answer for each workload with latencies in the store."""
        launched = with_every_launch(self.results, self.context.store)
        return answers_of(self.plan.workloads, launched)


def with_tuned(
    results: Sequence[Result], store: Store, *, fixed_config: bool = False
) -> tuple[Result, ...]:
    """Return results of kernels, each with the latency of the fastest config on its release.

    With ``fixed_config`` it is the latency of the config that is the fastest on the oldest of the
    releases. The baseline is then the fastest config on the result's own release. A result has no
    latency if the store has none of its configs.
    """
    latencies: dict[Cell, Latency] = {}
    for workload in workloads_of(list(dict.fromkeys(result.cell.spec for result in results))):
        own = [result for result in results if result.cell.spec in workload.cases]
        for target in dict.fromkeys(result.cell.target for result in own):
            of_target = [result for result in own if result.cell.target == target]
            of_env = _latencies(workload, of_target, store, fixed_config=fixed_config)
            latencies |= {
                result.cell: of_env[result.cell.env.name]
                for result in of_target
                if result.cell.env.name in of_env
            }
    return tuple(evolve(result, latency=latencies.get(result.cell)) for result in results)


def _latencies(
    workload: Workload, results: Sequence[Result], store: Store, *, fixed_config: bool
) -> dict[str, Latency]:
    """Return env → the latency of the fastest config, or of the fixed one.

    ``results`` are those of cases of the workload for one target.
    """
    latencies: dict[str, Latency] = {}
    answers = answers_of([workload], with_every_launch(_of_configs(workload, results), store))
    # The GPU with the most launches counts.
    for answer in sorted(answers, key=lambda answer: len(answer.timings)):
        oldest = answer.best(0)
        for place, env in enumerate(answer.envs):
            best = answer.latency(answer.best(place), place)
            own = answer.latency(oldest, place) if fixed_config else best
            if own is not None and best is not None:
                latencies[env] = (
                    evolve(own, baseline_us=best.us, ratio=own.us / best.us)
                    if fixed_config
                    else own
                )
    return latencies


def known_answers(results: Sequence[Result], store: Store) -> tuple[TuningAnswer, ...]:
    """Return the answers for kernels whose configs were launched before, from the store.

    ``results`` are those of the kernels' cases, with launches. A workload has an answer if at least
    two of its configs were timed, and one of its cases was launched.
    """
    launched = {_kernel(result) for result in results if result.numbers.gpu}
    coded = [
        result for result in results if result.outcome.has_code and _kernel(result) in launched
    ]
    specs = dict.fromkeys(result.cell.spec for result in coded)
    workloads = [
        workload
        for workload in workloads_of([spec for spec in specs if not _is_recorded(spec)])
        if len(workload.configs) > 1
    ]
    by_spec = group_by_key((result.cell.spec, result) for result in coded)
    configured = [
        result
        for workload in workloads
        for result in _of_configs(
            workload, [result for case in workload.cases for result in by_spec.get(case, ())]
        )
    ]
    answers = answers_of(workloads, with_every_launch(configured, store) if configured else ())
    return tuple(answer for answer in answers if len(answer.timed_configs) > 1)


def _kernel(result: Result) -> tuple[str, str]:
    return result.cell.spec.kernel, result.cell.spec.variant


def _of_configs(workload: Workload, results: Sequence[Result]) -> list[Result]:
    """A result for each config on each env and target, without launches.

    ``results`` are those of cases of the workload. Those with code are preferred.
    """
    by_place = {
        (result.cell.env.name, result.cell.target.name): result
        for result in sorted(results, key=lambda result: result.outcome.has_code)
    }
    return [
        evolve(result, cell=evolve(result.cell, spec=config.spec), numbers=NOT_RUN, latency=None)
        for result in by_place.values()
        for config in workload.configs
    ]


def _omitted_cell(result: Result) -> OmittedCell:
    failure = result.outcome.failure
    assert failure is not None
    what = "predicted" if failure.prediction else str(result.outcome.status)
    return OmittedCell(cell=result.cell, why=f"{what}: {failure.failure_class}")


def plan_tuning(selection: Selection) -> TuningPlan:
    """Return the workloads of a selection that have several configs.

    Kernels whose launches are recorded for the sizes of a problem have none, because a config
    changes more than the grid then. Raises SelectionError if there is no workload, or if the cells
    have several targets.
    """
    specs = [spec for spec in selection.specs if not _is_recorded(spec)]
    workloads = [workload for workload in workloads_of(specs) if len(workload.configs) > 1]
    if not workloads:
        raise _not_tunable(selection.specs)
    configured = tuple(config.spec for workload in workloads for config in workload.configs)
    selection = evolve(selection, specs=configured)
    check_target(selection, selection.cells)
    return TuningPlan(workloads=tuple(workloads), selection=selection)


def _not_tunable(specs: Sequence[Specialization]) -> SelectionError:
    """The error for kernels of which none can be tuned."""
    if all(map(_is_recorded, specs)):
        title = toolchains.look_up(specs[0].toolchain).title
        return SelectionError(
            f"`compat tune` does not tune kernels of {title}",
            hint=(
                "Write each config as a case of the kernel file, build the cases with `compat"
                " build`, and compare their latencies in the report of `compat matrix --launched`."
            ),
        )
    unknown = next((spec for spec in specs if spec.problem and spec.problem.is_recorded), None)
    if unknown is not None:
        return SelectionError(
            f"the problem of {unknown.kernel} is a recorded launch, without right results",
            hint=(
                "`compat tune` times only configs with right numbers. Name a function with"
                " references under [problem] of the kernel file; docs/problems.md has an example."
            ),
        )
    if not any(spec.problem for spec in specs):
        return no_problem()
    return SelectionError(
        "none of the chosen kernels has several configs",
        hint=(
            "Name the settings to tune in the kernel file: [tune] with options = { num_warps = [4,"
            " 8] }; docs/tune.md has an example."
        ),
    )


def _is_recorded(spec: Specialization) -> bool:
    launching = toolchains.look_up(spec.toolchain).launching
    return launching is not None and launching.tells_problem


def compile_configs(
    plan: TuningPlan, context: RunContext, obtain: Obtain, listener: Listener
) -> CompiledConfigs:
    """Compile every config on every release.

    Args:
        plan: The workloads and their cells.
        context: How to compile; needs no environments.
        obtain: Called for environments, and may build them.
        listener: Receives progress.

    Raises:
        compat.engine.run.Interrupted: And the other errors of :func:`compat.engine.run.run`.
    """
    cells = plan.selection.cells
    envs = obtain(plan.selection.config.path, tuple(dict.fromkeys(cell.env for cell in cells)))
    context = context.with_envs(tuple(envs))
    with listener.compiling(len(cells), cells) as note:
        results = run(cells, context, note, listener.expecting)
    return CompiledConfigs(plan=plan, results=results, context=context)
