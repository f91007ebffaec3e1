"""A group of commands that names the one that was most likely meant."""

from __future__ import annotations

from difflib import get_close_matches

import click


class CommandGroup(click.Group):
    """Suggests a command where there is none of the name that was typed."""

    def resolve_command(self, context: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """See click. Raises UsageError with the commands that are spelled most like it."""
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            # click knows only of commands that are imported by now
            alike = get_close_matches(args[0], self.list_commands(context), n=2)
            if not alike or "Did you mean" in error.format_message():
                raise
            raise click.UsageError(f"{error.format_message()} Did you mean {' or '.join(map(repr, alike))}?", context) from None
