"""The full screen on this terminal: whether it can be shown, and how it is to look."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from client.cards import Style, style_for
from client.settings import Settings, load, save, save_name

if TYPE_CHECKING:
    from client.commands.seat import Seat
    from client.standing_in import StandIn
    from client.tui.client import Overlay, ScreenClient
    from client.tui.state import Look
    from p2p.node.node import Node

THINK_SEEN_S: Final = 0.7
"""A bot in one's own seat moves so that one can follow it."""

WIDE_LANGUAGES: Final = ("ja", "ko", "zh")
"""Where terminals often show card suits two cells wide; letters are safe there."""


def wants_screen(seat: Seat, *, says: bool = False) -> bool:
    """Whether to fill the screen at a table. ``says``: why not, where a person might wonder."""
    if seat.lines or seat.events is sys.stdout or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    if not can_fill() and says:
        click.echo(
            "This terminal (TERM) can't show a full screen: plain lines it is, as with --lines.", file=seat.out
        )
    return can_fill()


def can_fill() -> bool:
    """Whether this terminal can show a full screen."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return sys.platform == "win32" or os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")


def is_mono() -> bool:
    """Whether no colours are wanted at all (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR"))


def look_for(settings: Settings, ascii_only: bool) -> Look:
    """How the screen is to look by the settings and on this terminal."""
    from client.tui.state import Look

    return Look(
        _suits(settings.suits, ascii_only),
        settings.order,
        settings.motion,
        settings.sound,
        settings.mouse,
        settings.theme,
        settings.guide,
    )


def _suits(wanted: str, ascii_only: bool) -> Style:
    if ascii_only or wanted == "letters":
        return Style(ascii=True)
    style = style_for(sys.stdout.encoding)
    if wanted == "auto" and not style.ascii:
        from client.tui.probe import suit_cells

        # The terminal knows best; where it does not say, the language is a hint.
        width = suit_cells() if can_fill() else None
        if width is not None:
            return Style(ascii=width != 1)
        language = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
        return Style(ascii=language.startswith(WIDE_LANGUAGES))
    return style


def make_screen(
    node: Node,
    seat: Seat,
    rounds: int | None,
    seat_bots: Callable[[int], Awaitable[None]] | None,
    standing_in: StandIn,
    *,
    is_back: bool = False,
) -> ScreenClient:
    """A person's full screen at ``node``'s table; ``is_back``: where they sat before.

    Raises ``UsageProblem`` for settings that can't be read.
    """
    from client.tui.client import ScreenClient

    path = seat.data.settings
    first = look_for(load(path), seat.ascii_only)

    def store(look: Look) -> None:
        changes: dict[str, str | bool] = {
            "order": look.order,
            "theme": look.theme,
            "motion": look.motion,
            "sound": look.sound,
            "mouse": look.mouse,
            "guide": look.guide,
        }
        if look.style != first.style:
            changes["suits"] = "letters" if look.style.ascii else "symbols"
        save(path, changes)

    def store_name(name: str) -> str:
        from client.names import check_own_name

        kept = check_own_name(name)
        save_name(path, kept)
        return kept

    return ScreenClient(
        node,
        look=first,
        auto=seat.auto,
        rounds=rounds,
        seat_bots=seat_bots,
        store=store,
        store_name=store_name,
        watch=_watch(node),
        standing_in=standing_in,
        is_back=is_back,
        is_mono=is_mono(),
    )


def _watch(node: Node) -> Callable[[Path, Look, Callable[[], None]], Awaitable[Overlay]]:
    async def watch(path: Path, look: Look, changed: Callable[[], None]) -> Overlay:
        from client.replay import load_replay
        from client.tui.replaying import ReplayScreen

        shown = await asyncio.to_thread(load_replay, path, node.config.dealing, look.style)
        return ReplayScreen(shown, look, changed)

    return watch


__all__ = ["THINK_SEEN_S", "can_fill", "is_mono", "look_for", "make_screen", "wants_screen"]
