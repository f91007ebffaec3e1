"""The loom inside an env: a kernel is a ``loom.pattern``."""

import loom


class Adapter:
    name = "loom"
    version = loom.__version__

    def files(self):
        return []

    def use_cache_dir(self, directory, diagnose):
        """The loom has no cache."""

    def reload_env(self):
        """The loom reads no environment variables."""

    def observe(self, beacon, passes):
        """The loom has no passes."""

    def set_target(self, target):
        """The loom never asks for the target."""

    def knows_target(self, target):
        return target["arch"] == "h90"

    def compile(self, job, function, on_stage, on_made):
        cloth, shared = loom.weave(function, job["constexprs"], on_stage)
        on_made("cloth", cloth)
        on_made("threads", str(function.threads))
        return {"artifacts": {"cloth": len(cloth)}, "shared": shared}, {"cloth": cloth}

    def kernel_line(self, error, job, function):
        return None
