"""A rule set: one value for every option of docs/rules.md 3.1, presets, and its one text form.

This version plays the options in :data:`PLAYED`; the others can be read, written and shown, and
:func:`check_playable` refuses them by name. It also refuses options that contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Final

from engine.cards import RANKS, pack_size
from engine.contradictions import check_consistent
from engine.errors import RuleError
from engine.options import (
    BOOLEAN,
    DEAL,
    MAX_JOKERS_PER_PACK,
    MAX_TURN_LIMIT_ACTIONS,
    MAX_ZONE_CARDS,
    PACKS,
    RANKS_KIND,
    SEAT_TIE,
    TIE,
    ArrangeRule,
    ChanceRule,
    DealShape,
    JokerPower,
    JumpIn,
    Kind,
    NextDealer,
    PickUpRule,
    Ranks,
    ReplayAfterQuartet,
    ReverseCount,
    StartRule,
    TurnLimitResult,
    UpcardPickUp,
    choice,
    number,
    parse_option,
)

ENGINE_REVISION: Final = 2
"""Rises whenever the same moves could lead to another state; peers with different ones don't play
together.
"""

MIN_PLAYERS: Final = 2
MAX_PLAYERS: Final = 10
"""R6: 2 to 5 players with one pack, 6 to 10 with two."""

PLAYERS_PER_PACK: Final = 5
"""R6: ``packs = ceil(players / 5)``."""

POWERS: Final = ("reset", "burn", "ceiling", "transparent", "skip", "reverse", "again")
"""The options that give ranks powers (3.2)."""

DEFAULT_DEAL: Final = DealShape(3, 3, 3)
"""R9."""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Every option by its name in docs/rules.md 3.1; the defaults are the current Wikipedia rules.

    The first seven are the powers: the ranks that have each (rank numbers, ascending). ``packs`` 0 is
    ``auto``.
    """

    reset: Ranks = (RANKS.index("2"),)
    burn: Ranks = (RANKS.index("T"),)
    ceiling: Ranks = ()
    transparent: Ranks = ()
    skip: Ranks = ()
    reverse: Ranks = ()
    again: Ranks = ()
    ten_on_ceiling: bool = True
    transparent_breaks_run: bool = True
    skip_per_card: bool = True
    reverse_count: ReverseCount = ReverseCount.EACH
    jokers: int = 0
    joker_power: JokerPower = JokerPower.REVERSE
    jump_in: JumpIn = JumpIn.OFF
    pick_up: PickUpRule = PickUpRule.VOLUNTARY
    upcard_pick_up: UpcardPickUp = UpcardPickUp.PILE
    combine_last_hand: bool = False
    blind_pick_up: bool = False
    upcards_strict: bool = False
    chance: ChanceRule = ChanceRule.OFF
    quartet_beats_all: bool = False
    burn_run: int = 4
    replay_after_quartet: ReplayAfterQuartet = ReplayAfterQuartet.MUST
    draw_follow_up: bool = False
    start: StartRule = StartRule.UPCARD_THEN_HAND
    start_tie: str = SEAT_TIE
    lead_must_be_start_rank: bool = False
    deal: DealShape = DEFAULT_DEAL
    refill_to: int = 3
    arrange: ArrangeRule = ArrangeRule.SWAP
    packs: int = 0
    next_dealer: NextDealer = NextDealer.LOSER
    turn_limit: int = 1000
    turn_limit_result: TurnLimitResult = TurnLimitResult.STALLED

    @staticmethod
    def preset(name: str) -> RuleSet:
        """The preset of that name (3.5); ``RuleError("bad_rules")`` if there is none."""
        if name not in PRESETS:
            raise RuleError(
                "bad_rules",
                "There is no preset {preset}; there are {presets}.",
                preset=name,
                presets=", ".join(PRESETS),
            )
        return with_options(RuleSet(), PRESETS[name])


KINDS: Final[Mapping[str, Kind]] = {
    "reset": RANKS_KIND,
    "burn": RANKS_KIND,
    "ceiling": RANKS_KIND,
    "transparent": RANKS_KIND,
    "skip": RANKS_KIND,
    "reverse": RANKS_KIND,
    "again": RANKS_KIND,
    "ten_on_ceiling": BOOLEAN,
    "transparent_breaks_run": BOOLEAN,
    "skip_per_card": BOOLEAN,
    "reverse_count": choice(ReverseCount),
    "jokers": number(0, MAX_JOKERS_PER_PACK),
    "joker_power": choice(JokerPower),
    "jump_in": choice(JumpIn),
    "pick_up": choice(PickUpRule),
    "upcard_pick_up": choice(UpcardPickUp),
    "combine_last_hand": BOOLEAN,
    "blind_pick_up": BOOLEAN,
    "upcards_strict": BOOLEAN,
    "chance": choice(ChanceRule),
    "quartet_beats_all": BOOLEAN,
    "burn_run": number(2, 12),
    "replay_after_quartet": choice(ReplayAfterQuartet),
    "draw_follow_up": BOOLEAN,
    "start": choice(StartRule),
    "start_tie": TIE,
    "lead_must_be_start_rank": BOOLEAN,
    "deal": DEAL,
    "refill_to": number(1, MAX_ZONE_CARDS),
    "arrange": choice(ArrangeRule),
    "packs": PACKS,
    "next_dealer": choice(NextDealer),
    "turn_limit": number(1, MAX_TURN_LIMIT_ACTIONS),
    "turn_limit_result": choice(TurnLimitResult),
}
"""How the value of each option is read and written."""

OPTION_NAMES: Final = tuple(sorted(KINDS))

PRESETS: Final[Mapping[str, Mapping[str, str]]] = {
    "wikipedia": {},
    "wikipedia_old": {
        "start": "hand_lowest",
        "lead_must_be_start_rank": "true",
        "pick_up": "forced_only",
        "upcards_strict": "true",
    },
    "pagat": {"upcard_pick_up": "pile_plus_one", "next_dealer": "rotate"},
    "backpacker": {"transparent": "3", "ceiling": "7", "skip": "8", "ten_on_ceiling": "false"},
    "party": {
        "skip": "3",
        "ceiling": "7",
        "transparent": "8",
        "reverse": "9",
        "jokers": "2",
        "joker_power": "reverse",
    },
    "nordic": {"chance": "chance", "draw_follow_up": "true"},
}
"""The presets of docs/rules.md 3.5: what each changes, in text form."""

PLAYED: Final = frozenset(OPTION_NAMES) - {"jump_in"}
"""The options of which this version plays every value, :data:`UNPLAYED_VALUES` excepted."""

UNPLAYED_VALUES: Final = frozenset(
    {
        ("joker_power", "give"),
        ("joker_power", "next_takes"),
        ("start", "upcards_after_arrange"),
        ("start", "worst_upcards"),
    }
)
"""Values of played options that this version does not play."""


def with_options(rules: RuleSet, changes: Mapping[str, str]) -> RuleSet:
    """``rules`` with the options in ``changes`` set, values in text form; ``RuleError("bad_rules")`` as
    `from_items`.
    """
    values: dict[str, object] = {}
    for name, text in changes.items():
        if name not in KINDS:
            raise RuleError("bad_rules", "There is no option {option}.", option=name)
        values[name] = parse_option(name, KINDS[name], text)
    # The kinds above give each field its type; a test holds every kind to its field.
    return replace(rules, **values)  # type: ignore[arg-type]


def to_items(rules: RuleSet) -> tuple[tuple[str, str], ...]:
    """Every option and its value in text form, sorted by name: what is signed and hashed."""
    return tuple((name, KINDS[name].write(getattr(rules, name))) for name in OPTION_NAMES)


def from_items(items: Iterable[tuple[str, str]]) -> RuleSet:
    """The rule set of :func:`to_items`, strictly.

    Raises ``RuleError("bad_rules")`` when an option is unknown, missing, named twice or out of order, or when
    a value is not in its one form.
    """
    pairs = tuple(items)
    names = tuple(name for name, _ in pairs)
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise RuleError("bad_rules", "There is no option {option}.", option=unknown[0])
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RuleError("bad_rules", "The option {option} is named twice.", option=twice)
    missing = sorted(set(OPTION_NAMES) - set(names))
    if missing:
        raise RuleError("bad_rules", "The option {option} is missing.", option=missing[0])
    if names != OPTION_NAMES:
        raise RuleError("bad_rules", "The options are not sorted by name.")
    return with_options(RuleSet(), dict(pairs))


def changed_items(rules: RuleSet) -> tuple[tuple[str, str], ...]:
    """The options of ``rules`` that are not the default, sorted by name, in text form."""
    default = dict(to_items(RuleSet()))
    return tuple((name, text) for name, text in to_items(rules) if text != default[name])


@lru_cache(maxsize=16)
def preset_named(rules: RuleSet) -> str | None:
    """The name of the preset that ``rules`` are; None for rules of one's own."""
    return next((name for name in PRESETS if RuleSet.preset(name) == rules), None)


def packs_for(rules: RuleSet, players: int) -> int:
    """How many packs ``players`` players use (R6)."""
    return rules.packs or -(-players // PLAYERS_PER_PACK)


def check_played(rules: RuleSet) -> None:
    """Raise unless this version plays ``rules`` with some number of players.

    ``RuleError("not_yet")`` names the first option (by name) that it does not play, ``"contradiction"`` two
    options that can't both hold.
    """
    for name, text in changed_items(rules):
        if name not in PLAYED or (name, text) in UNPLAYED_VALUES:
            raise RuleError(
                "not_yet",
                "This version does not play the option {option}={value} yet.",
                option=name,
                value=text,
            )
    check_consistent(rules)


def check_playable(rules: RuleSet, players: int) -> None:
    """Raise unless this version plays ``rules`` with ``players`` players.

    As :func:`check_played`; ``RuleError("does_not_fit")`` says that there are too few or too many players for the
    packs or the game (R6, R7), with the names of both options.
    """
    check_played(rules)
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise RuleError(
            "does_not_fit",
            "The game is for {least} to {most} players, not {players}.",
            least=MIN_PLAYERS,
            most=MAX_PLAYERS,
            players=players,
        )
    cards = pack_size(packs_for(rules, players), rules.jokers)
    needed = players * sum(rules.deal)
    if needed > cards:
        raise RuleError(
            "does_not_fit",
            "With {option}={deal}, {players} players need {needed} cards; with {other}={packs} there are {cards}.",
            option="deal",
            other="packs",
            deal=KINDS["deal"].write(rules.deal),
            packs=KINDS["packs"].write(rules.packs),
            players=players,
            needed=needed,
            cards=cards,
        )


if set(KINDS) != {field.name for field in fields(RuleSet)}:  # pragma: no cover - guards an edit of this file
    raise TypeError("every option needs a kind and every kind an option")
