"""What a CI system runs for a project: a workflow of GitHub, a pipeline of GitLab.

In: a project's ``matrix.toml``, and where it lies in its repository. Out: files for the repository, as text; none is written.

- :mod:`compat.workflows.groups`: which envs each of several jobs tries
- :mod:`compat.workflows.requirement`: where a CI system installs this package from
- :mod:`compat.workflows.files`: the files
"""

from compat.workflows.files import Files, System, workflow_files

__all__ = ["Files", "System", "workflow_files"]
