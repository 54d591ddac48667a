"""Rule sets for tests: any that can be played, and rounds lived through under them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hypothesis import strategies as st

from engine.cards import RANKS, pack_size
from engine.errors import RuleError
from engine.game import actions, apply, deal
from engine.moves import Move, PickUp, Ready, Swap, Unready
from engine.options import StartRule
from engine.rules import RuleSet, check_playable, packs_for, with_options
from engine.state import NOBODY, GameState, Phase

VALUES: dict[str, tuple[str, ...]] = {
    "ten_on_ceiling": ("true", "false"),
    "transparent_breaks_run": ("true", "false"),
    "skip_per_card": ("true", "false"),
    "reverse_count": ("each", "once"),
    "jokers": ("0", "2", "4"),
    "joker_power": ("reverse", "wild", "burn", "transparent", "high"),
    "pick_up": ("voluntary", "forced_only"),
    "upcard_pick_up": ("pile", "pile_plus_one", "pile_plus_set"),
    "combine_last_hand": ("false", "true"),
    "blind_pick_up": ("false", "true"),
    "upcards_strict": ("false", "true"),
    "chance": ("off", "chance", "chance_free"),
    "quartet_beats_all": ("false", "true"),
    "burn_run": ("4", "2", "3", "5"),
    "replay_after_quartet": ("must", "none"),
    "draw_follow_up": ("false", "true"),
    "start": ("upcard_then_hand", "hand_lowest", "dealer_left", "random"),
    "start_tie": ("seat", "most_copies", "suit/shdc"),
    "lead_must_be_start_rank": ("false", "true"),
    "deal": ("3/3/3", "2/2/5", "0/3/3", "3/0/3", "1/1/1"),
    "refill_to": ("3", "1", "5"),
    "arrange": ("swap", "choose", "none"),
    "packs": ("auto", "1", "2", "3"),
    "turn_limit": ("400", "30"),
    "turn_limit_result": ("stalled", "most_cards"),
}
"""Values that meet each other in the tests; the powers are drawn apart."""

POWER_NAMES = ("reset", "burn", "ceiling", "transparent", "skip", "reverse", "again")

SOME_POWERS = ("", "", "reset", "burn", "ceiling", "transparent", "skip", "reverse", "again", "skip reverse",
               "transparent reverse", "transparent skip", "ceiling skip", "ceiling again", "reset again",
               "ceiling reverse", "transparent again")  # fmt: skip
"""Powers that one rank can have together."""


@st.composite
def rule_sets(draw: st.DrawFn, players: int) -> RuleSet:
    """Any rule set that ``players`` players can play, half of the options at their defaults."""
    powers: dict[str, list[str]] = {name: [] for name in POWER_NAMES}
    by_rank = {"2": "reset", "T": "burn"}
    for rank in draw(st.lists(st.sampled_from(RANKS), max_size=5, unique=True)):
        by_rank[rank] = draw(st.sampled_from(SOME_POWERS))
    for rank in RANKS:
        for name in by_rank.get(rank, "").split():
            powers[name].append(rank)
    changes = {name: ",".join(ranks) for name, ranks in powers.items()}
    if draw(st.integers(0, 3)) == 0:
        changes["jokers"], changes["joker_power"] = "4", draw(st.sampled_from(("wild", *VALUES["joker_power"])))
    for name in draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=10, unique=True)):
        changes[name] = draw(st.sampled_from(VALUES[name]))
    changes.setdefault("turn_limit", "160")
    rules = with_options(RuleSet(), changes)
    try:
        check_playable(rules, players)
    except RuleError:
        harmless = {
            name: value
            for name, value in changes.items()
            if name not in ("deal", "arrange", "packs", "lead_must_be_start_rank")
        }
        rules = with_options(RuleSet(), harmless)
        check_playable(rules, players)
    return rules


def dealt_under(rules: RuleSet, players: int, seed: int) -> GameState:
    """An open round under ``rules``, just dealt."""
    rng = random.Random(seed)
    faces = list(range(pack_size(packs_for(rules, players), rules.jokers)))
    rng.shuffle(faces)
    eldest = rng.randrange(players) if rules.start is StartRule.RANDOM else NOBODY
    return deal(rules, players, rng.randrange(players), faces, eldest)


def lived_under(
    rules: RuleSet, players: int, seed: int, *, pick_ups: float = 0.3
) -> Iterator[tuple[GameState, Move]]:
    """A whole open round at random: each state with the move made in it."""
    rng = random.Random(seed)
    state = dealt_under(rules, players, seed)
    while state.phase is not Phase.OVER:
        moves = [move for move in actions(state) if not isinstance(move, Unready)]
        if state.phase is Phase.ARRANGE and rng.random() < 0.5:
            moves = [move for move in moves if isinstance(move, Ready)] or moves
        if state.phase is Phase.ARRANGE and rng.random() < 0.5:
            moves = [move for move in moves if not isinstance(move, Swap)]
        if rng.random() > pick_ups:
            moves = [move for move in moves if not isinstance(move, PickUp)] or moves
        move = rng.choice(moves)
        yield state, move
        state = apply(state, move)


def begun_at(rules: RuleSet, players: int, seed: int) -> GameState:
    """An open round under ``rules`` at its first lead; nothing was exchanged, the first choice taken."""
    state = dealt_under(rules, players, seed)
    while state.phase is not Phase.PLAY:
        moves = [move for move in actions(state) if not isinstance(move, Unready)]
        state = apply(state, next((move for move in moves if isinstance(move, Ready)), moves[0]))
    return state
