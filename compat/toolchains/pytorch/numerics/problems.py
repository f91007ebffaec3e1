"""Problems: the arguments of a kernel's launch, and its right results.

A module of the kernel's author makes them.

A problem is a dictionary (``docs/problems.md`` has the contract)::

    {"name", "arguments": {name: value}, "grid": (n, …) or a function of the settings,
     "outputs": {name: {"reference", "tolerance", "relative", "reason", "initial"}},
     "descriptors": {name: {"padding", "round_f32_to_tf32"}}, "baseline", "compared"}

``outputs`` is ``None`` if the right results are unknown, as for recorded launches. ``compared`` may
then have the outputs of the kernel from which this one was reduced, to compare releases.

:func:`checked_problems` yields every problem checked, with all keys. A :class:`ProblemError` says
what is wrong with a problem, and nothing about the kernel.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, Set, Tuple

import torch

if TYPE_CHECKING:
    from ...inside.foreign import Objects

Problem = Dict[str, Any]

_KEYS = {"name", "arguments", "grid", "outputs", "descriptors", "baseline", "compared"}
_OF_DESCRIPTOR = {"padding": ("zero", "nan"), "round_f32_to_tf32": (True, False)}
"""The options of a tensor descriptor besides its tensor and its block, with their values."""
_OUTPUT = {"reference": None, "tolerance": 0.0, "relative": 0.0, "reason": "", "initial": None}
"""The keys of an output, with their defaults."""
_MODULE = "_compat_problems"


class ProblemError(Exception):
    """A problem cannot be used or made, because of a mistake in the module of problems.

    It says nothing about the kernel.
    """


def load(path: str, function: str) -> Callable[..., Iterator[Problem]]:
    """Return the function of a module of problems, which is imported anew.

    The module can import modules beside it. Raises ProblemError if it cannot be imported, or has no
    such function.
    """
    spec = importlib.util.spec_from_file_location(_MODULE, path)
    if spec is None or spec.loader is None:
        raise ProblemError("%s is not a Python file" % path)
    module = importlib.util.module_from_spec(spec)
    folder = os.path.dirname(os.path.abspath(path))
    sys.modules[_MODULE] = module  # where data classes look for it
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ProblemError(
            "%s cannot be imported: %s" % (os.path.basename(path), _error_text(error))
        ) from error
    finally:
        sys.path.remove(folder)
    generator: Callable[..., Iterator[Problem]] = getattr(module, function, None)  # type: ignore[assignment]
    if not callable(generator):
        raise ProblemError("%s has no function %s" % (os.path.basename(path), function))
    return generator


class NoProblem(ProblemError):
    """The function yields no problem of the size that it was asked for."""


def checked_problems(
    function: Callable[..., Iterator[Problem]],
    parameters: Objects,
    dtype: str,
    seed: int,
    device: str,
    large: bool,
) -> Iterator[Problem]:
    """Yield the problems of a function, checked, one after the other.

    Raises NoProblem if the function yields none, and ProblemError if it raises, or yields a
    malformed problem or a name twice.
    """
    names: Set[str] = set()
    torch.manual_seed(seed)
    try:
        yielded = iter(function(dict(parameters), dtype, seed, device, large))
    except (Exception, SystemExit) as error:
        raise ProblemError("the problems could not be made: %s" % _error_text(error)) from error
    while True:
        try:
            problem = next(yielded)
        except StopIteration:
            break
        except (Exception, SystemExit) as error:
            raise ProblemError("a problem could not be made: %s" % _error_text(error)) from error
        complete_problem = check_problem(problem)
        if complete_problem["name"] in names:
            raise ProblemError("two problems are called %r" % complete_problem["name"])
        names.add(complete_problem["name"])
        yield complete_problem
    if not names:
        raise NoProblem("the function yielded no problem")


def check_problem(problem: object) -> Problem:
    """Return a problem with all its keys.

    Raises ProblemError if it is malformed, with a sentence that says why.
    """
    if not isinstance(problem, dict):
        raise ProblemError("a problem must be a dictionary, not a %s" % type(problem).__name__)
    name = problem.get("name")
    if not isinstance(name, str) or not name:
        raise ProblemError("a problem needs a name")
    _no_others(problem, _KEYS, "problem %r" % name)
    arguments, outputs = problem.get("arguments"), problem.get("outputs")
    if not isinstance(arguments, dict) or not all(
        isinstance(argument, str) for argument in arguments
    ):
        raise ProblemError("problem %r: arguments must be a dictionary by parameter" % name)
    is_unknown = outputs is None and "outputs" in problem
    outputs = {} if is_unknown else outputs
    if not isinstance(outputs, dict) or not (outputs or is_unknown):
        raise ProblemError(
            "problem %r: outputs must be a dictionary by parameter, with at least one entry" % name
        )
    compared = problem.get("compared")
    if compared is not None and not (is_unknown and isinstance(compared, dict)):
        raise ProblemError(
            "problem %r: compared must be a dictionary by parameter, beside outputs that are None"
            % name
        )
    baseline = problem.get("baseline")
    if baseline is not None and not callable(baseline):
        raise ProblemError("problem %r: the baseline must be a function, or None" % name)
    return {
        "name": name,
        "arguments": dict(arguments),
        "grid": _declared_grid(problem.get("grid"), name),
        "outputs": None if is_unknown else _outputs(outputs, arguments, name),
        "descriptors": _descriptors(problem.get("descriptors") or {}, arguments, name),
        "baseline": baseline,
        "compared": None if compared is None else _outputs(compared, arguments, name),
    }


def grid_of(problem: Problem, settings: Objects) -> Tuple[int, ...]:
    """Return the grid for a kernel that was compiled with these constexprs and options.

    Raises ProblemError if the problem has no grid, or if its function fails or returns an invalid
    grid.
    """
    grid, name = problem["grid"], problem["name"]
    if grid is None:
        raise ProblemError("problem %r has no grid" % name)
    if not callable(grid):
        return tuple(grid)
    try:
        sizes = grid(dict(settings))
    except (Exception, SystemExit) as error:
        raise ProblemError(
            "problem %r: the grid failed: %s" % (name, _error_text(error))
        ) from error
    return _grid(sizes, name)


def _declared_grid(grid: object, name: str) -> object:
    """Return a grid as :func:`grid_of` takes it: sizes, a function, or ``None``."""
    return grid if grid is None or callable(grid) else _grid(grid, name)


def _grid(grid: object, name: str) -> Tuple[int, ...]:
    sizes = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
    if not 1 <= len(sizes) <= 3 or not all(
        isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in sizes
    ):
        raise ProblemError(
            "problem %r: the grid must be one to three whole numbers above 0, not %r" % (name, grid)
        )
    return sizes


def _descriptors(
    descriptors: object, arguments: Dict[str, object], name: str
) -> Dict[str, Dict[str, object]]:
    """Return the options of tensor descriptors, without default values. Raises ProblemError."""
    where = "problem %r: descriptors" % name
    if not isinstance(descriptors, dict):
        raise ProblemError("%s must be a dictionary by parameter" % where)
    for parameter, options in descriptors.items():
        if not isinstance(arguments.get(parameter), torch.Tensor) or not isinstance(options, dict):
            raise ProblemError(
                "%s: %s must be an argument that is a tensor, with a dictionary"
                % (where, parameter)
            )
        _no_others(options, set(_OF_DESCRIPTOR), "%s: %s" % (where, parameter))
        for option, value in options.items():
            if value not in _OF_DESCRIPTOR[option]:
                choices = ", ".join(map(repr, _OF_DESCRIPTOR[option]))
                raise ProblemError(
                    "%s: %s has the %s %r; choose one of %s"
                    % (where, parameter, option, value, choices)
                )
    return {
        parameter: {
            option: value for option, value in options.items() if value not in ("zero", False)
        }
        for parameter, options in descriptors.items()
    }


def _outputs(
    outputs: Dict[str, object], arguments: Dict[str, object], name: str
) -> Dict[str, Dict[str, object]]:
    complete_outputs = {
        output: _output(output, facts, arguments, name) for output, facts in outputs.items()
    }
    _apart(complete_outputs, arguments, name)
    return complete_outputs


def _output(
    output: str, facts: object, arguments: Dict[str, object], name: str
) -> Dict[str, object]:
    where = "problem %r, output %s" % (name, output)
    tensor = arguments.get(output)
    if not isinstance(tensor, torch.Tensor):
        raise ProblemError("%s: no argument of that name is a tensor" % where)
    if not isinstance(facts, dict):
        raise ProblemError("%s: an output must be a dictionary with a reference" % where)
    _no_others(facts, set(_OUTPUT), where)
    complete_facts = dict(_OUTPUT, **facts)
    reference = complete_facts["reference"]
    if not isinstance(reference, torch.Tensor):
        raise ProblemError("%s: the reference must be a tensor" % where)
    if reference.shape != tensor.shape:
        raise ProblemError(
            "%s: its shape is %s, and the reference's %s"
            % (where, tuple(tensor.shape), tuple(reference.shape))
        )
    if any(size > 1 and not stride for size, stride in zip(tensor.shape, tensor.stride())):
        raise ProblemError("%s: its elements share memory, so a launch cannot fill them" % where)
    _check_numbers(tensor, reference, where)
    for key in ("tolerance", "relative"):
        number = complete_facts[key]
        if (
            isinstance(number, bool)
            or not isinstance(number, (int, float))
            or not 0 <= number < float("inf")
        ):
            raise ProblemError(
                "%s: %s must be a number that is not negative, not %r" % (where, key, number)
            )
    if (complete_facts["tolerance"] or complete_facts["relative"]) and not (
        isinstance(complete_facts["reason"], str) and complete_facts["reason"]
    ):
        raise ProblemError("%s: a tolerance needs its reason" % where)
    initial = complete_facts["initial"]
    fits = initial is None or (
        tuple(initial.shape) == tuple(tensor.shape)
        if isinstance(initial, torch.Tensor)
        else isinstance(initial, (int, float))
    )
    if not fits:
        raise ProblemError(
            "%s: its initial value must be a number, or a tensor of its shape" % where
        )
    return complete_facts


def _check_numbers(tensor: torch.Tensor, reference: torch.Tensor, where: str) -> None:
    """Raise ProblemError if an output cannot be compared with its reference."""
    if tensor.is_complex() or reference.is_complex():
        raise ProblemError(
            "%s: complex numbers are not compared; use torch.view_as_real of them" % where
        )
    # PyTorch has no isfinite for some types of 8 bits.
    if reference.is_floating_point() and not bool(torch.isfinite(reference.double()).all()):
        raise ProblemError(
            "%s: the reference has NaN or inf, and only finite numbers are compared" % where
        )


def _apart(
    outputs: Dict[str, Dict[str, object]], arguments: Dict[str, object], problem: str
) -> None:
    """Copy references and initial contents that lie in the storage of an output.

    Such a storage is filled before every launch, with a value of the output's type. Raises
    ProblemError for an input, or an output of another type, in such a storage.
    """
    tensors = {name: value for name, value in arguments.items() if isinstance(value, torch.Tensor)}
    names = {_address(tensors[name]): name for name in outputs}
    for facts in outputs.values():
        for key in ("reference", "initial"):
            value = facts[key]
            if isinstance(value, torch.Tensor) and _address(value) in names:
                facts[key] = value.clone()
    for name, tensor in tensors.items():
        other = names.get(_address(tensor)) if tensor.untyped_storage().nbytes() else None
        if other is not None and name not in outputs:
            raise ProblemError(
                "problem %r: %s lies in the storage of the output %s" % (problem, name, other)
            )
        if other is not None and tensor.dtype != tensors[other].dtype:
            raise ProblemError(
                "problem %r: the outputs %s and %s have different types, and share a storage"
                % (problem, name, other)
            )


def _address(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())


def _no_others(facts: Dict[str, object], allowed: Set[str], where: str) -> None:
    others = sorted(str(key) for key in facts if key not in allowed)
    if others:
        raise ProblemError("%s: unknown %s" % (where, ", ".join(others)))


def _error_text(error: BaseException) -> str:
    return "%s: %s" % (type(error).__name__, error) if str(error) else type(error).__name__
