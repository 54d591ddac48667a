"""What several commands share: options, what they become, and how an error is told."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from client.clocks import DEFAULT_GRACE_S, MAX_LIMIT_S, MIN_GRACE_S
from client.datadir import DataDir, find
from client.problems import UsageProblem
from engine.errors import ShitheadError

if TYPE_CHECKING:
    from engine.rules import RuleSet

MAX_NUMBER_DIGITS: Final = 9
"""Of a number that is typed: more than any option takes."""

MAX_SHOWN_CHARACTERS: Final = 40
"""Of what was typed instead of a number: enough to know it again."""


def _from_to(low: float, high: float | None) -> str:
    return f"from {low:g} on" if high is None else f"from {low:g} to {high:g}"


class WholeNumber(click.IntRange):
    """A whole number from ``min`` to ``max``, and a sentence for what is none."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; ends in click's usage error for anything else."""
        text = str(value).strip()
        number = int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_NUMBER_DIGITS else None
        low = self.min or 0
        if number is None or number < low or (self.max is not None and number > self.max):
            self.fail(
                f"{text[:MAX_SHOWN_CHARACTERS]!r} is not a whole number {_from_to(low, self.max)}.", param, ctx
            )
        return number

    def _describe_range(self) -> str:
        # click shows it as 0<=x<=3600.
        return _from_to(self.min or 0, self.max)


class Seconds(click.FloatRange):
    """A number of seconds from ``min`` to ``max``, and a sentence for what is none."""

    name = "seconds"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds; ends in click's usage error for anything else."""
        low = self.min or 0.0
        try:
            number = float(str(value))
        except ValueError:
            number = math.nan
        if not (number >= low and (self.max is None or number <= self.max)):
            text = str(value)[:MAX_SHOWN_CHARACTERS]
            self.fail(f"{text!r} is not a number of seconds {_from_to(low, self.max)}.", param, ctx)
        return number

    def _describe_range(self) -> str:
        return _from_to(self.min or 0.0, self.max)


class Commands(click.Group):
    """A group of commands that asks about a mistyped one whether another was meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that ``args`` begins with; ends in click's usage error where there is none."""
        typed = args[0]
        if not typed.startswith("-") and self.get_command(ctx, typed) is None:
            from client.house import meant

            there = self.list_commands(ctx)
            ctx.fail(f"There is no command {typed!r}{meant(typed, there)}. There are: {', '.join(there)}.")
        return super().resolve_command(ctx, args)


Decorated = TypeVar("Decorated", bound=Callable[..., Any])

LEVELS: Final = ("normal", "easy", "random")
"""How well a bot plays (client.bots)."""

MAX_BOTS: Final = 9
"""R6: at most ten players, and the person who seats the bots is one."""

PRESET_NAMES: Final = ("wikipedia", "wikipedia_old", "pagat", "backpacker", "party", "nordic")
"""Those of ``engine.rules.PRESETS``: a help text must not wait for the engine; a test compares them."""

MAX_SEATS: Final = 10
MIN_SEATS: Final = 2
"""R6, as ``engine.rules`` has it: a help text must not wait for the engine; a test compares them."""

MAX_PORT: Final = 65535
"""Ports are 16 bits (RFC 768), as ``p2p.network.addresses`` has it: a help text must not wait for that either."""

MAX_RULES_BYTES: Final = 64 << 10
"""Of a file of rules: one with every option has two kilobytes, the rest is for comments."""


@dataclass(slots=True)
class Options:
    """The options that every command has; given before or after the command's name, the later one wins."""

    data_dir: str | None = None
    trace: Path | None = None

    @property
    def data(self) -> DataDir:
        """The data directory meant."""
        return find(self.data_dir, os.environ)


def data_options(command: Decorated) -> Decorated:
    """Adds ``--data-dir`` and ``--trace``, which go into the context's `Options`."""

    def data_dir(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
        if value is not None:
            ctx.ensure_object(Options).data_dir = value

    def trace(ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
        if value is not None:
            ctx.ensure_object(Options).trace = value

    command = click.option(
        "--trace",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        expose_value=False,
        callback=trace,
        help="Append what the network does to FILE, one JSON object a line, without secrets.",
    )(command)
    return click.option(
        "--data-dir",
        metavar="DIR",
        expose_value=False,
        callback=data_dir,
        help="Where identity, rounds and settings are kept (else SHITHEAD_HOME, else the system's place).",
    )(command)


def seat_options(command: Decorated) -> Decorated:
    """Adds what everybody who sits down can say: name, own bot, line mode, events."""
    for option in (
        click.option(
            "--events",
            metavar="FILE",
            help="Append what happens to FILE, one JSON object a line; - is standard output.",
        ),
        click.option("--lines", is_flag=True, help="Plain lines, for pipes and screen readers."),
        click.option("--ascii", "ascii_only", is_flag=True, help="Letters for suits, nothing beyond ASCII."),
        click.option(
            "--level", type=click.Choice(LEVELS), default="normal", show_default=True, help="How bots play."
        ),
        click.option("--auto", is_flag=True, help="A bot plays my seat, and is shown as one."),
        click.option(
            "--rounds",
            type=WholeNumber(min=1),
            metavar="K",
            help="Stop after K finished rounds.",
        ),
        click.option("--name", help="My name at the table (asked once, then remembered)."),
    ):
        command = option(command)
    return command


def rules_options(command: Decorated) -> Decorated:
    """Adds ``--rules`` and ``--set``."""
    command = click.option(
        "--set",
        "changes",
        multiple=True,
        metavar="OPTION=VALUE",
        help="Change one option of the rules; may be repeated.",
    )(command)
    return click.option(
        "--rules",
        "rules_name",
        default="wikipedia",
        show_default=True,
        metavar="PRESET|FILE",
        help=f"The rules: a preset ({', '.join(PRESET_NAMES)}), "
        "or a TOML file (has a path separator or ends in .toml).",
    )(command)


def limit_options(command: Decorated) -> Decorated:
    """Adds ``--turn``, ``--arrange`` and ``--grace``, in seconds."""
    for option in (
        click.option(
            "--grace",
            "grace_s",
            type=WholeNumber(MIN_GRACE_S, MAX_LIMIT_S),
            default=DEFAULT_GRACE_S,
            show_default=True,
            metavar="S",
            help="After so many seconds of waiting (after the limit, if any) a round may be given up.",
        ),
        click.option(
            "--arrange",
            "arrange_s",
            type=WholeNumber(0, MAX_LIMIT_S),
            default=0,
            metavar="S",
            help="After so many seconds of arranging a player's own program says ready (else never).",
        ),
        click.option(
            "--turn",
            "turn_s",
            type=WholeNumber(0, MAX_LIMIT_S),
            default=0,
            metavar="S",
            help="After so many seconds of a turn a player's own program plays for them (else never).",
        ),
    ):
        command = option(command)
    return command


def new_option(command: Decorated) -> Decorated:
    """Adds ``--new``."""
    option = click.option("--new", "is_new", is_flag=True, help="Don't return to the table I was at before.")
    return option(command)


def search_option(command: Decorated) -> Decorated:
    """Adds ``--search``."""
    return click.option(
        "--search",
        "searches",
        is_flag=True,
        help="Ask every address of this network; helps where firewalls are in the way, on both sides at once.",
    )(command)


def read_rules(name: str, changes: tuple[str, ...]) -> RuleSet:
    """The rule set of ``--rules`` and ``--set``.

    Raises ``RuleError`` as ``client.house.changed_rules``, and ``UsageProblem`` for a name that there is not, a
    file that can't be read or is wrong (with file, line, word and what was expected) or a ``--set`` without ``=``.
    """
    from client.house import changed_rules, meant
    from engine.rules import PRESETS, RuleSet

    is_file = name.endswith(".toml") or "/" in name or os.sep in name
    if not is_file and name not in PRESETS:
        raise UsageProblem(
            "no_preset",
            "There is no preset {name}{hint}; there are {presets}.",
            name=name,
            hint=meant(name, PRESETS),
            presets=", ".join(PRESETS),
        )
    rules = _rules_file(Path(name)) if is_file else RuleSet.preset(name)
    values: dict[str, str] = {}
    for change in changes:
        option, equals, value = change.partition("=")
        if not equals or not option.strip():
            raise UsageProblem(
                "bad_set", "--set wants OPTION=VALUE, such as --set refill_to=4, not {text}.", text=change
            )
        values[option.strip()] = value.strip()
    return changed_rules(rules, values)


def _rules_file(path: Path) -> RuleSet:
    from client.house import meant
    from client.reading import read_small_text
    from engine.housefile import HouseRulesError, rules_from_toml

    try:
        return rules_from_toml(read_small_text(path, MAX_RULES_BYTES))
    except OSError as error:
        raise UsageProblem(
            "rules_unreadable",
            "The rules {path} can't be read ({reason}).",
            path=str(path),
            reason=error.strerror or str(error),
        ) from error
    except UnicodeDecodeError as error:
        raise UsageProblem("rules_damaged", "The rules {path} are no text in UTF-8.", path=str(path)) from error
    except HouseRulesError as error:
        sentence = error.sentence
        # The engine knows the line and the word; which file it was is known here, and what could be meant.
        template = "The rules {path}: " + sentence.template.replace("{word}", "{word}{hint}", 1)
        hint = meant(error.word.strip("'\""), error.meant)
        raise UsageProblem(
            sentence.code, template, **{**sentence.values, "path": str(path), "hint": hint}
        ) from error


def shown(place: object) -> str:
    """A path as it may be printed: whoever made the file may have named it to move the cursor."""
    from client.cards import clean

    return clean(str(place))


def told(error: ShitheadError) -> str:
    """An error in words: what happened and, where it is known, what to do."""
    from client.sentences import render_error

    return " ".join(render_error(error))


def is_interactive() -> bool:
    """Whether a person can be asked: input and output are both terminals."""
    return sys.stdin.isatty() and sys.stderr.isatty()
