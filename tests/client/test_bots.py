"""The bots: sensible, deterministic, blind to what their seat cannot see, and never the reason for a stall."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from client.bots import BotPlayer, Level, choose, next_move, parse_level
from engine.errors import RuleError
from engine.game import apply, check, deal, mask
from engine.moves import Flip, PickUp, Play, PlayerMove, Ready, Swap
from engine.rules import RuleSet
from engine.state import GameState, Phase, Result
from p2p.errors import LocalProtocolError
from tests.client.nodes import House
from tests.client.positions import snapshot_of
from tests.engine.helpers import record, rules_with, shuffled

LONGEST_SENSIBLE_ACTIONS = 483
"""docs/rules.md 1.14: sensible bots ended every deal within as many."""


def to_move(state: GameState) -> int:
    if state.phase is Phase.ARRANGE:
        return next(seat for seat in range(state.players) if not state.ready[seat])
    return state.turn


def play_open(players: int, seed: int, levels: list[Level], rules: RuleSet | None = None) -> GameState:
    rules = rules or RuleSet()
    rng = Random(seed)
    state = deal(rules, players, seed % players, shuffled(players, seed, rules))
    while state.phase is not Phase.OVER:
        seat = to_move(state)
        move = choose(mask(state, seat), seat, levels[seat], rng)
        assert move is not None
        state = apply(state, move)
    return state


def texts(state: GameState, move: PlayerMove | None) -> list[str]:
    from engine.cards import card_text

    assert isinstance(move, Play)
    return sorted(card_text(state.faces[position], state.packs) for position in move.positions)


def chosen(body: str, **more: str) -> tuple[GameState, PlayerMove | None]:
    """What Ana's normal bot does in a position, without whims."""
    state = record(body, **more)
    return state, choose(state, 0, Level.NORMAL, NoWhim())


class NoWhim(Random):
    """A generator after which the bot always does what it thinks best."""

    def random(self) -> float:
        return 0.99


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_sensible_bots_always_come_to_an_end(players: int) -> None:
    for seed in range(100):
        state = play_open(players, seed, [Level.NORMAL] * players)
        assert state.result is Result.FINISHED
        assert state.action_count <= LONGEST_SENSIBLE_ACTIONS


@pytest.mark.parametrize("players", [6, 8])
def test_sensible_bots_play_with_two_packs(players: int) -> None:
    for seed in range(4):
        assert play_open(players, seed, [Level.NORMAL] * players).result is Result.FINISHED


def test_the_normal_bot_beats_the_random_one() -> None:
    lost: Counter[int] = Counter()
    for seed in range(40):
        lost[play_open(2, seed, [Level.NORMAL, Level.RANDOM]).shithead] += 1
    assert lost[1] > 35


def test_the_random_bot_plays_only_what_is_legal_and_may_stall() -> None:
    state = play_open(3, 1, [Level.RANDOM] * 3, rules_with(turn_limit="150"))
    assert state.result in (Result.FINISHED, Result.STALLED)


def test_equal_arguments_give_equal_moves() -> None:
    assert play_open(3, 7, [Level.NORMAL] * 3) == play_open(3, 7, [Level.NORMAL] * 3)


@pytest.mark.parametrize("level", list(Level))
def test_faces_that_the_seat_does_not_see_change_nothing(level: Level) -> None:
    rng = Random(3)
    state = deal(RuleSet(), 3, 0, shuffled(3, 5))
    for step in range(120):
        if state.phase is Phase.OVER:
            break
        seat = to_move(state)
        blind = choose(mask(state, seat), seat, level, Random(step))
        assert blind == choose(state, seat, level, Random(step))
        state = apply(state, choose(mask(state, seat), seat, Level.NORMAL, rng) or Ready(seat))


def test_it_lays_out_its_best_cards() -> None:
    state = deal(RuleSet(), 2, 1, shuffled(2, 11))
    for seat in (0, 1):
        while not state.ready[seat]:
            move = choose(mask(state, seat), seat, Level.NORMAL, Random(0))
            assert isinstance(move, Swap | Ready)
            state = apply(state, move)
            if isinstance(move, Ready):
                break

    def worth(position: int) -> int:
        rank = state.rank_at(position)
        return {0: 20, 8: 19}.get(rank, rank)

    for seat in (0, 1):
        assert min(map(worth, state.ups[seat])) >= max(map(worth, state.hands[seat]))


OTHER = "hand Bogdan Qc Qd Qh\n"


def test_it_plays_the_lowest_set_that_fits() -> None:
    state, move = chosen(f"pile 4c\nhand Ana 3d 5d 5h 9s Ks\n{OTHER}turn Ana\n")
    assert texts(state, move) == ["5d", "5h"]


def test_it_leads_low() -> None:
    state, move = chosen(f"hand Ana 2d 5d 9s Tc\n{OTHER}turn Ana\n")
    assert texts(state, move) == ["5d"]


def test_it_keeps_a_deuce_while_something_else_fits() -> None:
    state, move = chosen(f"pile 9c\nhand Ana 2d Ts Ad\n{OTHER}turn Ana\n")
    assert texts(state, move) == ["Ad"]


@pytest.mark.parametrize(("pile", "card"), [("Kc", "2d"), ("3c 4c 6c 8c Kc", "Ts")])
def test_a_ten_is_for_big_piles(pile: str, card: str) -> None:
    state, move = chosen(f"pile {pile}\nhand Ana 2d Ts 4d\n{OTHER}turn Ana\n")
    assert texts(state, move) == [card]


def test_it_completes_a_quartet_even_with_high_cards() -> None:
    state, move = chosen(f"pile Kc Kd\nhand Ana Kh Ks Ad\n{OTHER}turn Ana\n")
    assert texts(state, move) == ["Kh", "Ks"]


def test_it_keeps_back_a_second_ace_while_there_is_a_stock() -> None:
    state, move = chosen(f"stock 7c 8c 9c\npile Kc\nhand Ana Ad Ah 3d\n{OTHER}turn Ana\n")
    assert len(texts(state, move)) == 1


def test_it_picks_up_only_when_it_must() -> None:
    _, move = chosen(f"pile Kc\nhand Ana 4d 5d\n{OTHER}turn Ana\n")
    assert isinstance(move, PickUp)


def test_it_flips_when_nothing_else_is_left() -> None:
    _, move = chosen(f"pile 4c\ndown Ana 9d 9h 9s\n{OTHER}turn Ana\n")
    assert isinstance(move, Flip)


def test_it_does_nothing_out_of_turn_or_with_a_card_on_its_way() -> None:
    state = record(f"pile 4c\nhand Ana 9d 9h 9s\n{OTHER}turn Bogdan\n")
    assert choose(state, 0, Level.NORMAL, Random(0)) is None
    mine = replace(state, turn=0)
    position = mine.hands[0][0]
    faces = tuple(-1 if place == position else face for place, face in enumerate(mine.faces))
    assert choose(mine, 0, Level.NORMAL, Random(0)) is not None
    assert choose(replace(mine, faces=faces), 0, Level.NORMAL, Random(0)) is None


def test_its_moves_are_legal_from_a_snapshot_too() -> None:
    state = record(f"pile 4c\nhand Ana 9d 9h 9s\n{OTHER}turn Ana\n")
    move = next_move(snapshot_of(state, 0), Level.NORMAL, Random(0))
    assert move is not None
    assert check(state, move) is None
    assert next_move(snapshot_of(state, 1), Level.NORMAL, Random(0)) is None
    assert next_move(snapshot_of(None), Level.NORMAL, Random(0)) is None


def test_levels_by_name() -> None:
    assert parse_level("normal") is Level.NORMAL
    assert parse_level("easy") is Level.EASY
    with pytest.raises(RuleError) as unknown:
        parse_level("hard")
    assert unknown.value.code == "bad_level"


async def test_bots_play_a_whole_round_on_their_nodes() -> None:
    house = House("Ana", "Bogdan", "Carmen", seed=4, asked=("Bogdan",))
    over = asyncio.Event()
    house.nodes[0].subscribe(lambda news: over.set() if any(n.name == "over" for n in news) else None)
    bots = [BotPlayer(node, Level.NORMAL, 0, Random(i)) for i, node in enumerate(house.nodes)]
    for bot in bots:
        bot.start()
    await house.nodes[0].offer_round()
    async with asyncio.timeout(120):
        await over.wait()
    for bot in bots:
        await bot.close()
        await bot.close()
    ending = house.nodes[0].snapshot.score[0]
    assert ending.kind == "finished"
    assert [node.listeners for node in house.nodes] == [1, 0, 0]


async def test_a_bot_drops_a_move_when_the_table_has_changed_while_it_thought() -> None:
    house = House("Ana", "Bogdan", seed=1)
    node = house.nodes[0]
    await node.offer_round()
    refused = asyncio.Event()

    async def act(move: PlayerMove, stamp: bytes | None = None) -> None:
        refused.set()
        raise LocalProtocolError("stale", "The table has changed meanwhile: look again.")

    real, node.act = node.act, act  # type: ignore[method-assign]
    bot = BotPlayer(node, Level.NORMAL, 0, Random(0))
    bot.start()
    async with asyncio.timeout(120):
        await refused.wait()
    node.act = real  # type: ignore[method-assign]
    done = asyncio.Event()
    node.subscribe(lambda news: done.set() if any(n.name == "ready" for n in news) else None)
    node.tell()
    async with asyncio.timeout(120):
        await done.wait()
    await bot.close()
