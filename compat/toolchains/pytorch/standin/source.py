"""A kernel's module, imported from its tree, and the kernels in it."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .finder import is_absent, seem_plain, stand_in_for
from .ledger import LEDGER
from .module_source import remember_blocks
from .opaque import UnavailableValue, last_refusal
from .reach import check
from .tree import LENIENT, Loader, forget_modules, look_in

if TYPE_CHECKING:
    from ...inside.foreign import Document, Function


class ImportedSource:
    """A kernel's module, which is imported on first use."""

    def __init__(
        self, path: str, roots: list[str], module: str, target: dict[str, object], toolchain: str
    ) -> None:
        """``toolchain`` is the name under which the toolchain is imported."""
        self.path, self.module, self.roots = path, module, roots
        self._before = frozenset(sys.modules)
        self._begun = LEDGER.begun == (roots, target) and module.startswith(LEDGER.package + ".")
        self._loaded: ModuleType | None = None
        self._values: dict[str, object] = {}
        """Expression → its value. A second call of a factory can return something else."""
        if self._begun:
            return
        LEDGER.roots += tuple(os.path.join(root, "") for root in roots)
        LEDGER.target = target
        LEDGER.toolchain = toolchain
        look_in(roots)
        remember_blocks()

    def load(self) -> ModuleType:
        """Return the module, importing it on the first call. Raises what the import raises."""
        if self._begun and LEDGER.failure is not None:
            raise LEDGER.failure
        if self._loaded is None:
            self._loaded = self._import_with_retries()
        return self._loaded

    def function(self, expression: str) -> Function:
        """Return the value of an expression over the module's names.

        Examples: ``kernel``, ``Holder.kernel``, ``make(64)``. Raises what the import raises,
        AttributeError if the name does not exist, and UnavailableValue if a kernel reaches
        something unknown here.
        """
        if expression not in self._values:
            self._values[expression] = self._value(expression)
        return self._values[expression]

    def _value(self, expression: str) -> object:
        module, refused = self.load(), LEDGER.refusals
        function = self._value_of(module, ast.parse(expression, mode="eval").body, expression)
        if LEDGER.refusals > refused:
            raise last_refusal()
        if LEDGER.packages or LEDGER.missing:
            check(function, expression)
        return function

    def have_torch(self) -> None:
        """Stand in for a missing PyTorch, because a constexpr mentions it.

        Call this before the module is imported.
        """
        if "torch" not in LEDGER.packages and is_absent("torch"):
            stand_in_for("torch")
            if self._begun:  # the package was imported without PyTorch
                self._begun = False
                forget_modules(self._before)

    def stand_in_record(self) -> Document | None:
        """Return which packages have stand-ins, their answers, and what was left out, if any."""
        return LEDGER.all_entries()

    def watch(self) -> Callable[[], None]:
        """Return a function that raises UnavailableValue if code asked for an unknown value.

        Only requests since this call count. They count even if code caught the refusal.
        """
        before, end = LEDGER.refusals, seem_plain()

        def look() -> None:
            end()
            if LEDGER.refusals > before:
                what = LEDGER.refused
                message = (
                    "compiling it takes the value of `%s`, and this env lacks `%s`: install it"
                    " there"
                )
                raise UnavailableValue(message % (what, what.split(".", 1)[0]))

        return look

    def begin(self) -> None:
        """Import this module, a package, so that child processes only import modules inside it.

        Importing ``a.b`` imports ``a`` first, so a child process finds nothing that would not be
        there otherwise. For the same reason, a child process can begin with a package inside this
        package. If the import fails, the ledger keeps the error, and each module of the package
        raises it. Raises errors of the machine, such as a full disk, and exceptions that are no
        ``Exception``, such as those that end a program.
        """
        try:
            self.load()
        except Exception as error:
            if _is_of_the_machine(error):
                raise
            forget_modules(self._before)
            LEDGER.failure = error
        LEDGER.begun, LEDGER.package = (self.roots, LEDGER.target), self.module

    def _import_with_retries(self) -> ModuleType:
        while True:
            if not self._begun:
                LEDGER.begin()
            self._begun = False
            try:
                module = self._import()
                if LEDGER.refusals or LEDGER.elsewhere:
                    raise last_refusal()
                if not LEDGER.late:
                    return module
            except (KeyboardInterrupt, SystemExit, MemoryError):
                raise
            except BaseException as error:
                if not LEDGER.late and not self._stand_in_for_what_lacks(error):
                    self._give_up_or_go_on(error)
            forget_modules(self._before)

    def _stand_in_for_what_lacks(self, error: BaseException) -> bool:
        """Stand in for the missing package that made an import fail.

        Returns whether a stand-in was added. If so, the import can be tried again.
        """
        package = (getattr(error, "name", None) or "").split(".", 1)[0]
        present = {"", self.module.split(".", 1)[0], *LEDGER.packages}
        if type(error) is not ModuleNotFoundError or package in present or not is_absent(package):
            return False
        stand_in_for(package)
        return True

    def _give_up_or_go_on(self, error: BaseException) -> None:
        """Raise an error if leaving out failing statements cannot help, or is already on.

        It cannot help if no package has a stand-in and PyTorch is not imported. Otherwise, leave
        out failing statements from now on.
        """
        if LENIENT[0] or not (LEDGER.packages or "torch" in sys.modules):
            raise error
        LENIENT[0] = True

    def _import(self) -> ModuleType:
        if os.path.dirname(self.path) in self.roots:
            return self._import_file()
        first = self.module.split(".", 1)[0]
        path = getattr(sys.modules.get(first), "__file__", None)
        if isinstance(path, str) and not LEDGER.in_tree(path):
            raise ImportError(
                "the package %r is %s in this env, so %s cannot be imported"
                % (first, path, self.path)
            )
        module = importlib.import_module(self.module)
        if os.path.realpath(str(module.__file__)) != os.path.realpath(self.path):
            raise ImportError(
                "%s is %s in this env, and not %s" % (self.module, module.__file__, self.path),
                name=self.module,
            )
        return module

    def _import_file(self) -> ModuleType:
        """Import a file that is in no package, and return its module.

        The module has the file's name, or another one if that name is taken.
        """
        name = os.path.splitext(os.path.basename(self.path))[0]
        name = "_kernel_" + name if name in sys.modules else name
        spec = importlib.util.spec_from_file_location(
            name, self.path, loader=Loader(name, self.path)
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            sys.modules.pop(name, None)
            raise
        return module

    def _value_of(self, module: ModuleType, node: ast.expr, expression: str) -> Any:
        if isinstance(node, ast.Call):
            function = self._value_of(module, node.func, expression)
            arguments = [ast.literal_eval(argument) for argument in node.args]
            return function(
                *arguments,
                **{str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords},
            )
        if isinstance(node, ast.Attribute):
            return getattr(self._value_of(module, node.value, expression), node.attr)
        if isinstance(node, ast.Subscript):
            return self._value_of(module, node.value, expression)[ast.literal_eval(node.slice)]
        assert isinstance(node, ast.Name)
        error = LEDGER.missing.get(module.__name__, {}).get(node.id)
        if error is not None:
            raise error
        try:
            return vars(module)[node.id]
        except KeyError:
            if "*" in LEDGER.missing.get(module.__name__, {}):
                raise LEDGER.missing[module.__name__]["*"] from None
            file = os.path.basename(self.path)
            raise AttributeError("%s defines no %s in this env" % (file, expression)) from None


def _is_of_the_machine(error: BaseException) -> bool:
    """Return whether the machine caused an error: memory, a disk or a file was missing.

    Then another attempt may succeed.
    """
    seen: dict[int, BaseException] = {}
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen[id(link)] = link
        link = link.__cause__ or link.__context__
    return any(isinstance(cause, (OSError, MemoryError)) for cause in seen.values())
