"""How strong the bots are: who is the shithead how often, in rounds of two under each preset.

    python benchmarks/bench_bots.py [ROUNDS]

``beginner`` is a player who lays one lowest card that fits and knows nothing else. Each pairing plays its rounds
from both seats. Prints shares and asserts nothing: which way they have to lean is tested.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from client.tactics import Level, choose
from engine.actions import actions
from engine.cards import pack_size
from engine.game import apply, deal, mask
from engine.moves import PlayerMove, Ready
from engine.rules import PRESETS, RuleSet, packs_for
from engine.state import NOBODY, GameState, Phase

DEFAULT_ROUNDS = 300
BEGINNER = "beginner"
PAIRS = (
    (Level.EASY, Level.RANDOM),
    (Level.EASY, BEGINNER),
    (Level.EASY, Level.NORMAL),
    (Level.NORMAL, BEGINNER),
)


def chosen(state: GameState, seat: int, who: Level | str, rng: Random) -> PlayerMove:
    """The move of a seat that is to move."""
    seen = mask(state, seat)
    if isinstance(who, Level):
        move = choose(seen, seat, who, rng)
        if move is None:
            raise ValueError(f"{who} has no move")
        return move
    return Ready(seat) if state.phase is Phase.ARRANGE else next(iter(actions(seen)))


def shithead(rules: RuleSet, seed: int, players: tuple[Level | str, ...]) -> int:
    """The seat that lost a round, or ``NOBODY`` where it reached its limit."""
    rng = Random(seed)
    faces = list(range(pack_size(packs_for(rules, len(players)), rules.jokers)))
    rng.shuffle(faces)
    state = deal(rules, len(players), seed % len(players), faces)
    while state.phase is not Phase.OVER:
        seat = state.ready.index(False) if state.phase is Phase.ARRANGE else state.turn
        state = apply(state, chosen(state, seat, players[seat], rng))
    return state.shithead


def main(rounds: int) -> None:
    """Measure and print."""
    for one, other in PAIRS:
        for preset in PRESETS:
            lost: Counter[str] = Counter()
            for seed in range(rounds):
                players = (one, other) if seed % 2 else (other, one)
                loser = shithead(RuleSet.preset(preset), seed // 2, players)
                lost["nobody" if loser == NOBODY else str(players[loser])] += 1
            shares = ", ".join(f"{name} {count / rounds:.0%}" for name, count in lost.most_common())
            print(f"{one} against {other}, {preset}: lost by {shares}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_ROUNDS)
