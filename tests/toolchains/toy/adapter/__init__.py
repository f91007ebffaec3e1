"""The toy compiler inside an env: a kernel's function returns the program."""

import toy


class Adapter:
    name = "toy"
    version = toy.__version__

    def files(self):
        return []

    def use_cache_dir(self, directory, diagnose):
        """It keeps nothing."""

    def reload_env(self):
        """It reads no environment variables."""

    def observe(self, beacon, passes):
        """It has no passes."""

    def set_target(self, target):
        """Nobody asks."""

    def knows_target(self, target):
        return target["arch"] == "t1"

    def compile(self, job, function, on_stage, on_made):
        blob = toy.compile_program(function(**job["constexprs"]), job["target"]["arch"], on_stage)
        on_made("blob", blob)
        return {"artifacts": {"blob": len(blob)}}, {"blob": blob}

    def kernel_line(self, error, job, function):
        return None
