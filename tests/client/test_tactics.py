"""The bots under house rules: sensible with every option, beatable where promised, and always at an end."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random

import pytest

from client.bots import BotPlayer
from client.tactics import Level, choose
from engine.cards import RANKS, card_text
from engine.errors import RuleError
from engine.game import actions, apply, mask
from engine.moves import Chance, Choose, Done, Flip, Name, PickUp, Play, PlayAs, PlayerMove, Ready
from engine.rules import PRESETS, RuleSet, check_playable, with_options
from engine.state import GameState, Phase, Result
from tests.client.nodes import House
from tests.engine.helpers import record, rules_with
from tests.engine.options_of import POWER_NAMES, SOME_POWERS, VALUES, dealt_under

OTHER = "hand Bogdan Qc Qd Qh\n"


class NoWhim(Random):
    """A generator after which the bot always does what it thinks best."""

    def random(self) -> float:
        return 0.99


def play(rules: RuleSet, seed: int, *levels: Level | str) -> GameState:
    """A whole open round; ``lowest`` is a player who lays one lowest card and knows nothing else."""
    rng = Random(seed)
    state = dealt_under(rules, len(levels), seed)
    while state.phase is not Phase.OVER:
        arranging = state.phase is Phase.ARRANGE
        seat = state.ready.index(False) if arranging else state.turn
        seen, level = mask(state, seat), levels[seat]
        if isinstance(level, Level):
            move = choose(seen, seat, level, rng)
        else:
            move = Ready(seat) if arranging else next(iter(actions(seen)), None)
        assert move is not None
        state = apply(state, move)
    return state


def some_rules(seed: int, players: int) -> RuleSet:
    """Any playable mix of up to ten options."""
    rng = Random(seed)
    while True:
        by_rank = {"2": "reset", "T": "burn"}
        by_rank |= {rank: rng.choice(SOME_POWERS) for rank in rng.sample(RANKS, rng.randint(0, 4))}
        changes = {
            power: ",".join(rank for rank in RANKS if power in by_rank.get(rank, "").split())
            for power in POWER_NAMES
        }
        if rng.random() < 0.3:
            changes |= {"jokers": "2", "joker_power": "wild"}
        changes |= {name: rng.choice(VALUES[name]) for name in rng.sample(sorted(VALUES), rng.randint(0, 10))}
        rules = with_options(RuleSet(), {**changes, "turn_limit": "1000"})
        try:
            check_playable(rules, players)
        except RuleError:
            continue
        return rules


@pytest.mark.parametrize("level", [Level.NORMAL, Level.EASY])
@pytest.mark.parametrize("preset", PRESETS)
def test_bots_finish_under_every_preset(preset: str, level: Level) -> None:
    rules = RuleSet.preset(preset)
    for players in (2, 3, 5):
        for seed in range(12):
            assert play(rules, seed, *[level] * players).result is Result.FINISHED


def test_bots_end_under_any_mix_of_options_and_nearly_always_by_a_shithead() -> None:
    results: Counter[Result] = Counter()
    for seed in range(240):
        players = 2 + seed % 4
        level = Level.EASY if seed % 3 == 0 else Level.NORMAL
        results[play(some_rules(seed, players), seed, *[level] * players).result] += 1
    # What is left are rules that hardly can end: the lowest rank asks for lower ones and for another card.
    assert results[Result.FINISHED] >= 234


def test_the_random_bot_ends_too_at_the_limit_if_need_be() -> None:
    for seed in range(20):
        rules = with_options(some_rules(seed, 3), {"turn_limit": "100"})
        assert play(rules, seed, *[Level.RANDOM] * 3).phase is Phase.OVER


def test_the_easy_bot_loses_against_who_always_lays_the_lowest_card() -> None:
    lost = Counter(play(RuleSet(), seed, Level.EASY, "lowest").shithead for seed in range(100))
    assert lost[0] > 1.5 * lost[1]


def test_the_easy_bot_is_no_match_for_the_normal_one() -> None:
    lost = Counter(play(RuleSet(), seed, Level.EASY, Level.NORMAL).shithead for seed in range(60))
    assert lost[0] > 2 * lost[1]


def test_the_easy_bot_gets_cards_away_while_it_can() -> None:
    state = record(f"pile 4c\nhand Ana 9d 2h Ts Kd\n{OTHER}turn Ana\n")
    moves = [choose(state, 0, Level.EASY, Random(seed)) for seed in range(80)]
    assert all(isinstance(move, Play) for move in moves)
    laid = Counter(
        card_text(state.faces[p], 1) for move in moves if isinstance(move, Play) for p in move.positions
    )
    assert set(laid) == {"9d", "2h", "Ts", "Kd"}


def best(body: str, rules: str) -> tuple[GameState, PlayerMove | None]:
    """What Ana's normal bot does in a position."""
    state = record(body, rules=rules)
    return state, choose(state, 0, Level.NORMAL, NoWhim())


def texts(state: GameState, positions: tuple[int, ...]) -> list[str]:
    return sorted(card_text(state.faces[position], state.packs) for position in positions)


def test_it_chooses_its_best_cards_as_upcards_and_then_is_ready() -> None:
    dealt = "hand Ana 3d 4h Ts 2d Kc 5c\nhand Bogdan Qc Qd Qh 6c 6d 6h\nphase arrange\n"
    state, move = best(dealt, "wikipedia arrange=choose")
    assert isinstance(move, Choose)
    assert texts(state, move.positions) == ["2d", "Kc", "Ts"]
    assert choose(apply(state, move), 0, Level.NORMAL, NoWhim()) == Ready(0)


@pytest.mark.parametrize("level", [Level.EASY, Level.RANDOM])
def test_the_others_choose_something(level: Level) -> None:
    state = dealt_under(rules_with(arrange="choose"), 2, 5)
    move = choose(mask(state, 0), 0, level, Random(1))
    assert isinstance(move, Choose)
    assert choose(mask(apply(state, move), 0), 0, level, Random(1)) == Ready(0)


def test_it_turns_a_chance_card_only_when_some_ranks_fit() -> None:
    body = "pile {top}\nstock 8c 9c\nhand Ana 4c 5c\n" + OTHER + "turn Ana\n"
    assert best(body.format(top="7d"), "wikipedia chance=chance")[1] == Chance(0)
    assert best(body.format(top="7d"), "wikipedia")[1] == PickUp(0)
    barely = best(body.format(top="Ad"), "wikipedia chance=chance burn=")[1]
    assert barely == PickUp(0)
    assert isinstance(best(body.format(top="3d"), "wikipedia chance=chance_free")[1], Play)


WILD = "wikipedia jokers=2 joker_power=wild"


def test_it_keeps_a_wild_joker_while_another_card_fits() -> None:
    state, move = best(f"pile 9c\nhand Ana X1 Ad 4c\n{OTHER}turn Ana\n", WILD)
    assert isinstance(move, Play)
    assert texts(state, move.positions) == ["Ad"]


def test_it_names_a_wild_joker_so_that_few_cards_follow() -> None:
    _, move = best(f"pile 9c\nhand Ana X1 4c\n{OTHER}turn Ana\n", WILD)
    assert isinstance(move, PlayAs)
    assert move.rank == RANKS.index("A")


def test_it_completes_a_quartet_with_a_wild_joker() -> None:
    _, move = best(f"pile 9c 9d 9h\nhand Ana X1 Kc\n{OTHER}turn Ana\n", WILD)
    assert isinstance(move, PlayAs)
    assert move.rank == RANKS.index("9")


@pytest.mark.parametrize(("pile", "rank"), [("7c", "A"), ("9c 9d 9h", "9")])
def test_it_names_a_joker_that_it_turned_up(pile: str, rank: str) -> None:
    _, move = best(f"pile {pile}\ndown Ana X1 4c -\n{OTHER}turn Ana\nAna flips 1\n", WILD)
    assert move == Name(0, RANKS.index(rank))


FOLLOW = "stock {drawn} 8s 8d\npile 3c\nhand Ana {card} Ad As\nhand Bogdan Qc Qd Qh\nturn Ana\nAna plays {card}\n"


def test_it_lays_a_low_card_that_it_has_just_drawn_and_keeps_a_high_one() -> None:
    rules = "wikipedia draw_follow_up=true"
    state, move = best(FOLLOW.format(card="5c", drawn="5d"), rules)
    assert isinstance(move, Play)
    assert texts(state, move.positions) == ["5d"]
    assert best(FOLLOW.format(card="Kc", drawn="Kd"), rules)[1] == Done(0)
    assert best(FOLLOW.format(card="5c", drawn="9d"), rules)[1] == Done(0)


@pytest.mark.parametrize(("rule", "expected"), [("pile_plus_one", ["4d"]), ("pile_plus_set", ["4d", "4h"])])
def test_its_worst_upcards_go_along_with_the_pile(rule: str, expected: list[str]) -> None:
    state, move = best(f"pile Kc\nup Ana 4d 4h 9s\n{OTHER}turn Ana\n", f"wikipedia upcard_pick_up={rule}")
    assert isinstance(move, PickUp)
    assert len(move.upcards) == len(expected)
    assert texts(state, move.upcards)[0][0] == "4"


def test_it_flips_rather_than_picking_up() -> None:
    _, move = best(f"pile Kc\ndown Ana 4d 4h -\n{OTHER}turn Ana\n", "wikipedia blind_pick_up=true")
    assert isinstance(move, Flip)


def test_it_does_not_lock_itself_in() -> None:
    body = "pile 3c\nhand Ana 4c {other} Kd\n" + OTHER + "turn Ana\n"
    rules = "wikipedia again=4 ceiling=4"
    state, move = best(body.format(other="9d"), rules)
    assert isinstance(move, Play)
    assert texts(state, move.positions) == ["9d"]
    state, move = best(body.format(other="3d"), rules)
    assert isinstance(move, Play)


MIX = {"arrange": "choose", "jokers": "2", "joker_power": "wild", "chance": "chance", "draw_follow_up": "true"}


@pytest.mark.parametrize(
    "rules",
    [RuleSet.preset("party"), RuleSet.preset("nordic"), rules_with(**MIX, upcard_pick_up="pile_plus_set")],
    ids=["party", "nordic", "mix"],
)
async def test_bots_play_house_rules_on_their_nodes(rules: RuleSet) -> None:
    house = House("Ana", "Bogdan", "Carmen", seed=4)
    over = asyncio.Event()
    host = house.nodes[0]
    host.rules = rules
    host.subscribe(lambda news: over.set() if any(item.name == "over" for item in news) else None)
    levels = (Level.NORMAL, Level.EASY, Level.NORMAL)
    bots = [BotPlayer(node, level, 0, Random(7)) for node, level in zip(house.nodes, levels, strict=True)]
    for bot in bots:
        bot.start()
    await host.offer_round()
    async with asyncio.timeout(120):
        await over.wait()
    for bot in bots:
        await bot.close()
    assert host.snapshot.score[0].kind == "finished"
    assert host.snapshot.round is not None
    assert host.snapshot.round.faults == ()
