"""The command ``shithead``: finds the command typed, and turns every error into a sentence and an exit code.

Nothing heavy is imported here: `--help` must not wait for cryptography and network libraries. A command's
module is imported when it is typed.
"""

from __future__ import annotations

import errno
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from client.commands.common import Commands, Options, data_options
from client.problems import EXIT_GOOD, EXIT_NEGATIVE, EXIT_SIGNAL, EXIT_USAGE, exit_code
from client.streams import fill_missing, mute
from engine.errors import ShitheadError

COMMANDS: Final[tuple[str, ...]] = (
    "play",
    "host",
    "join",
    "tables",
    "verify",
    "replay",
    "history",
    "rounds",
    "record",
    "rules",
    "doctor",
    "where",
)
"""In the order of the help text: what a person types first comes first."""

SCARCE: Final = frozenset(
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS", "EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "EAGAIN")
    if hasattr(errno, name)
)
"""What the system says when it has no more of something, or a disk fails: no bug of ours."""

FIRST_WORDS: Final = """\
Shithead, a card game for 2 to 10 on a LAN. Type one of these:

  shithead play              play against bots, on this machine only
  shithead host              open a table on this network
  shithead join              sit down at one
  shithead verify            was the last round fair?
  shithead --help            everything else
"""


class _Commands(Commands):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"client.commands.{cmd_name}")
        command = module.command
        if not isinstance(command, click.Command):
            raise TypeError(f"client.commands.{cmd_name} has no command")
        return command


def _print_version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from engine import __version__
    from p2p.network.frames import PROTOCOL_HIGH, PROTOCOL_LOW

    protocol = str(PROTOCOL_HIGH) if PROTOCOL_LOW == PROTOCOL_HIGH else f"{PROTOCOL_LOW}-{PROTOCOL_HIGH}"
    click.echo(f"shithead {__version__} (protocol {protocol})")
    ctx.exit()


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@data_options
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the versions of the program and of its protocol.",
)
@click.pass_context
def cli(ctx: click.Context) -> int:
    """Shithead, the card game, over a LAN: no server, no dealer to trust, and every deal can be verified."""
    if ctx.invoked_subcommand is None:
        click.echo(FIRST_WORDS, nl=False)
    return EXIT_GOOD


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line (default: that of the process) and returns the exit code; never raises."""
    options = Options()
    fill_missing()
    try:
        return _outcome(arguments, options)
    except OSError:
        # Not even the sentence about it could be said.
        mute(sys.stdout)
        mute(sys.stderr)
        return EXIT_USAGE


def _outcome(arguments: Sequence[str] | None, options: Options) -> int:
    """The exit code of a command line, once every error has been told."""
    output = sys.stdout
    try:
        _tolerate_encodings()
        wrong = foreign_package()
        if wrong is not None:
            click.echo(wrong, err=True)
            return EXIT_USAGE
        args = None if arguments is None else list(arguments)
        result = cli.main(args, prog_name="shithead", standalone_mode=False, obj=options)
        sys.stdout.flush()
        return result if isinstance(result, int) else EXIT_GOOD
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo(err=True)
        return EXIT_SIGNAL
    except ShitheadError as error:
        _say(error)
        return exit_code(error)
    except (BrokenPipeError, SystemExit) as stop:
        # Whoever read our output has gone (`… | head`); nothing is wrong with that. click makes an exit of it,
        # and wraps the stream.
        if isinstance(stop, SystemExit) and sys.stdout is output:
            return stop.code if isinstance(stop.code, int) else EXIT_NEGATIVE
        mute(sys.stdout)
        return EXIT_GOOD
    except OSError as error:
        return _failed(error, options)
    except MemoryError as error:
        return _refused("there is no memory left", error, options)
    except Exception as error:
        return _crashed(error, options)


def foreign_package() -> str | None:
    """A sentence if one of our three packages is somebody else's of the same name; None if all are ours.

    ``client`` and ``engine`` are plain names, and another program in the same environment may use them too.
    """
    import client
    import engine
    import p2p

    home = Path(__file__).parent.parent
    for package in (client, engine, p2p):
        found = package.__file__
        if found is None or Path(found).parent.parent != home:
            return (
                f"Another package called {package.__name__!r} is in the way ({found or 'a bare directory'}). "
                "Install shithead in a virtual environment of its own, or with pipx."
            )
    return None


def _tolerate_encodings() -> None:
    # A terminal without the character gets a question mark, and never an exception in mid-round.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _say(error: ShitheadError) -> None:
    from client.commands.common import told

    click.echo(told(error), err=True)


def _failed(error: OSError, options: Options) -> int:
    """The system did not do what it should: for a reason of its own, or because we asked for nonsense."""
    if error.errno in SCARCE:
        return _refused(error.strerror or str(error), error, options)
    return _crashed(error, options)


def _refused(reason: str, error: BaseException, options: Options) -> int:
    _report(error, options)
    try:
        sys.stdout.flush()
    except OSError:
        mute(sys.stdout)
    click.echo(
        f"The system refuses something that this program needs ({reason}), so it stopped. Finished rounds are "
        "saved, and so is a seat in a round that goes on.",
        err=True,
    )
    return EXIT_USAGE


def _report(error: BaseException, options: Options) -> Path | None:
    """Where the traceback of an error was written; None if nowhere."""
    from client.commands.logs import write_crash

    try:
        data = options.data
    except ShitheadError:
        data = None
    return write_crash(error, data)


def _crashed(error: Exception, options: Options) -> int:
    """Our own bug: the traceback goes to a file, a sentence to the person."""
    place = _report(error, options)
    where = f"What happened is written in {place}: " if place else ""
    click.echo(
        f"shithead has a bug, and stopped ({type(error).__name__}). Finished rounds are saved. "
        f"{where}please report it with that file; it holds no keys and no cards.",
        err=True,
    )
    return EXIT_NEGATIVE


if __name__ == "__main__":
    sys.exit(main())
