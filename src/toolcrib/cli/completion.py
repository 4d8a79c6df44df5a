"""`toolcrib completion`: the Tab key, for three shells."""

from __future__ import annotations

import click

from toolcrib.cli.command import Choices, Command, Form, examples
from toolcrib.cli.output import print_json

HOW_TO = {
    "bash": 'eval "$(toolcrib completion bash)"    # in ~/.bashrc',
    "zsh": 'eval "$(toolcrib completion zsh)"    # in ~/.zshrc, after compinit',
    "fish": "toolcrib completion fish | source    # in ~/.config/fish/config.fish",
}


@click.command(
    cls=Command,
    epilog=examples(*HOW_TO.values()),
    json="`{shell, how_to, script}`.",
)
@click.argument("shell", type=click.Choice(list(HOW_TO)), metavar="bash|zsh|fish")
@click.pass_obj
def completion(choices: Choices, shell: str) -> None:
    """Print a script for the Tab key in your shell."""
    from click.shell_completion import get_completion_class

    from toolcrib.cli.program import program

    completer = get_completion_class(shell)
    assert completer is not None, "click knows every shell that the argument allows"
    script = completer(program, {}, "toolcrib", "_TOOLCRIB_COMPLETE").source()
    if choices.form is Form.JSON:
        print_json({"shell": shell, "how_to": HOW_TO[shell], "script": script})
    else:
        click.echo(f"# To use it: {HOW_TO[shell]}\n{script}")
