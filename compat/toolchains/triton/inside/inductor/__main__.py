"""``python -I FOLDER SETTINGS``: compile, launch and report on programs. See the package."""

from __future__ import annotations

import gc
import importlib
import json
import logging
import os
import sys
import time
import traceback
from types import ModuleType
from typing import TYPE_CHECKING, Any, Dict, List, Optional

if TYPE_CHECKING:
    from ....inside.foreign import Document

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGES = {
    "_compat_inductor": _HERE,
    "_compat_pytorch": os.path.join(
        os.path.dirname(os.path.dirname(os.path.dirname(_HERE))), "pytorch"
    ),
}


def load_packages() -> None:
    """Load the modules here, and those that all toolchains share, as packages with unique names."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
    for name, folder in _PACKAGES.items():
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [folder]


_LONGEST = 4000
"""Maximum characters of a message in the answer."""
_MOST = 8
"""Maximum exceptions of a chain in the answer."""


class Logged(logging.Handler):
    """Collects the exceptions that PyTorch swallows and only logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.errors: List[Dict[str, object]] = []
        for name in ("torch", "torch._dynamo", "torch._inductor", "torch._higher_order_ops"):
            logging.getLogger(name).addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            logged = {**_describe_error(error), "says": record.getMessage()[:_LONGEST]}
            if logged not in self.errors:
                self.errors.append(logged)

    def take_errors(self) -> List[Document]:
        """Return the exceptions since the last call."""
        errors, self.errors = self.errors, []
        return errors


_CONTEXTS = ("_DeviceGuard", "device", "device_of", "stream")
"""Classes of ``torch.cuda`` whose objects are context managers."""


def believe_gpu(facts: Dict[str, object]) -> None:
    """Make PyTorch report a GPU, for which stand-ins answer. Allocations are in main memory.

    The drivers and launchers of Triton and PyTorch stay unchanged: they find the stand-in for
    libcuda. Call it before TorchDynamo or Inductor are imported, because they keep the functions
    that they find. Raises RuntimeError for a PyTorch that could not use a GPU.
    """
    import torch

    if not torch.version.cuda:
        raise RuntimeError("this PyTorch is built without CUDA")
    compiler = importlib.import_module("_compat_pytorch.device.compiler")
    gpu = compiler.gpu
    for name, answer in {**gpu.functions(facts), **dict.fromkeys(_CONTEXTS, gpu.Idle)}.items():
        setattr(torch.cuda, name, answer)
    torch.cuda.current_stream = lambda *_: gpu.Idle()
    torch.cuda.get_rng_state = lambda *_: torch.zeros(16, dtype=torch.uint8)
    for owner, name, value in compiler.allocations(torch):
        setattr(owner, name, value)


def facts(gpu: Document) -> Document:
    """Return the releases of PyTorch and Triton, the architecture, and which launcher is used."""
    import torch
    import triton
    from torch._inductor import config

    return {
        "torch": str(torch.__version__),
        "release": str(triton.__version__),
        "arch": gpu["arch"],
        "static_launcher": bool(getattr(config, "use_static_cuda_launcher", False)),
    }


def outcome(program: Any, compiling: Any, launches: str, logged: Logged) -> Dict[str, object]:
    """Compile a program, call it once, and return the answer."""
    began = time.monotonic()
    _forget(launches)
    stage, error = "compile", None  # type: str, Optional[BaseException]
    try:
        call = compiling.compile_with_inductor(program)
        _forget(launches)  # launches that measured times do not count
        stage = "launch"
        call()
        stage = "launched"
    except Exception as raised:
        error = raised
    answer = describe_failure(stage, error, began)
    answer["wanted"], answer["own"] = list(program.kernels), list(program.own)
    answer["launched"] = _read_launches(launches)
    answer["logged"] = logged.take_errors()
    return answer


def describe_failure(stage: str, error: Optional[BaseException], began: float) -> Document:
    """Return the stage that was reached, the chain of exceptions, and the seconds."""
    chain: List[Dict[str, object]] = []
    while error is not None and len(chain) < _MOST:
        chain.append(_describe_error(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return {"stage": stage, "errors": chain, "seconds": round(time.monotonic() - began, 3)}


def _describe_error(error: BaseException) -> Document:
    message = _short(str(error))
    if len(message) > _LONGEST:
        message = message[: _LONGEST // 2] + "\n...\n" + message[-_LONGEST // 2 :]
    frames = traceback.extract_tb(error.__traceback__)
    answer = {"type": type(error).__name__, "message": message, "at": "", "in": "", "code": ""}
    if frames:
        last = frames[-1]
        place = _short("%s:%s" % (last.filename, last.lineno))
        answer.update({"at": place, "in": last.name, "code": (last.line or "").strip()[:_LONGEST]})
    return answer


def _short(text: str) -> str:
    """Return a text with the paths of packages' files relative to the folders of ``sys.path``."""
    for folder in sorted((entry for entry in sys.path if len(entry) > 1), key=len, reverse=True):
        text = text.replace(folder.rstrip("/") + "/", "")
    return text


def _forget(launches: str) -> None:
    with open(launches, "w", encoding="utf-8"):
        pass


def _read_launches(launches: str) -> List[List[object]]:
    """Return name, grid, block and shared memory of every launch."""
    launched: List[List[object]] = []
    with open(launches, encoding="utf-8") as file:
        for line in file:
            word, _, rest = line.rstrip("\n").partition("\t")
            if word == "launch":
                name, *numbers = rest.split("\t")
                launched.append([name, *map(int, numbers)])
    return launched


def main(settings: Document) -> None:
    """Write an answer for every program, in order."""
    gc.disable()  # with the collection at the end, it takes a quarter of the time
    load_packages()

    def tell(answer: Dict[str, object]) -> None:
        with open(settings["answers"], "a", encoding="utf-8") as file:
            file.write(json.dumps(answer) + "\n")

    if settings["before"]:
        sys.path.insert(0, settings["before"])
    tell({"begin": "import"})
    began = time.monotonic()
    try:
        compiler = importlib.import_module("_compat_pytorch.device.compiler")
        compiler.load_driver(settings["library"], settings["gpu"])
        believe_gpu(settings["gpu"])
        compiling = importlib.import_module("_compat_inductor.compiling")
        compiling.prepare()
        programs = compiling.PROGRAMS
        tell(facts(settings["gpu"]))
    except Exception as error:
        tell(describe_failure("import", error, began))
        return
    logged = Logged()
    for name in settings["programs"]:
        tell({"begin": name})
        tell({"program": name, **outcome(programs[name], compiling, settings["launches"], logged)})


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
    gc.freeze()  # or Python looks at all objects of PyTorch when it ends
