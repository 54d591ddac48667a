"""The rules in force, as people would explain them, made from the options.

What is said follows from the rule set alone, so it can't differ from what is played. Lines are sentences with
named values, like errors; only ``client`` formats them for a person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from engine.cards import RANKS, TEN
from engine.options import (
    MOST_COPIES_TIE,
    SUIT_TIE_PREFIX,
    ArrangeRule,
    ChanceRule,
    JokerPower,
    JumpIn,
    NextDealer,
    PickUpRule,
    Ranks,
    ReplayAfterQuartet,
    ReverseCount,
    StartRule,
    TurnLimitResult,
    UpcardPickUp,
)
from engine.rules import PLAYERS_PER_PACK, RuleSet
from engine.tables import nameable_ranks


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence of the rules: ``template`` with its named ``values``, about ``options``.

    ``differs``: one of these options is not the default.
    """

    template: str
    values: Mapping[str, object]
    options: tuple[str, ...]
    differs: bool

    def __str__(self) -> str:
        return self.template.format(**self.values)


Said = tuple[str, str, dict[str, object]]
"""Options (with blanks between), template, values."""


def explain(rules: RuleSet) -> list[Line]:
    """The rules in the order in which people tell them: cards, deal, start, turns, special cards, picking up,
    upcards and downcards, the end.
    """
    default = RuleSet()
    lines = []
    for part in _PARTS:
        for names, template, values in part(rules):
            options = tuple(names.split())
            differs = any(getattr(rules, name) != getattr(default, name) for name in options)
            lines.append(Line(template, values, options, differs))
    return lines


def _ranks(ranks: Ranks) -> str:
    return ", ".join("10" if rank == TEN else RANKS[rank] for rank in ranks)


def _say(options: str, template: str, **values: object) -> Said:
    return options, template, values


def _cards(rules: RuleSet) -> Iterator[Said]:
    if rules.packs:
        yield _say("packs", "There are {packs} packs of 52 cards, shuffled together.", packs=rules.packs)
    else:
        yield _say(
            "packs",
            "There is one pack of 52 cards for up to {players} players, and one more for every {players} more.",
            players=PLAYERS_PER_PACK,
        )
    if rules.jokers:
        several = rules.jokers > 1
        template = "Each pack comes with {count} jokers." if several else "Each pack comes with one joker."
        yield _say("jokers", template, count=rules.jokers)
    else:
        yield _say("jokers", "There are no jokers.")


def _deal(rules: RuleSet) -> Iterator[Said]:
    down, up, hand = rules.deal
    match rules.arrange:
        case ArrangeRule.CHOOSE:
            yield _say(
                "deal arrange",
                "Everybody gets {down} downcards and {hand} cards in the hand, lays {up} of these out as "
                "upcards, and all turn them up together.",
                down=down,
                hand=up + hand,
                up=up,
            )
        case ArrangeRule.SWAP:
            yield _say(
                "deal",
                "Everybody gets {down} downcards, {up} upcards and {hand} cards in the hand.",
                down=down,
                up=up,
                hand=hand,
            )
            yield _say("arrange", "Before play everybody may exchange hand cards for own upcards.")
        case _:
            yield _say(
                "deal",
                "Everybody gets {down} downcards, {up} upcards and {hand} cards in the hand.",
                down=down,
                up=up,
                hand=hand,
            )
            yield _say("arrange", "Cards are played as they were dealt: nothing is exchanged.")


_START: Final[Mapping[StartRule, str]] = {
    StartRule.UPCARD_THEN_HAND: (
        "Whoever got the first 3 as an upcard leads; without one, whoever has a 3 in the hand; then the same "
        "with 4, 5 and so on."
    ),
    StartRule.HAND_LOWEST: "Whoever has the lowest card in the hand leads, counting from 3 up and the 2 last.",
    StartRule.UPCARDS_AFTER_ARRANGE: "Whoever has the lowest upcard after exchanging leads.",
    StartRule.DEALER_LEFT: "The player at the dealer's left leads.",
    StartRule.RANDOM: "A lot decides who leads.",
    StartRule.WORST_UPCARDS: "Whoever has the worst upcards leads.",
}


def _start(rules: RuleSet) -> Iterator[Said]:
    yield _say("start", _START[rules.start])
    if rules.start is StartRule.HAND_LOWEST:
        if rules.start_tie == MOST_COPIES_TIE:
            yield _say(
                "start_tie",
                "Of several, the one with most cards of that rank leads, then the nearest to the dealer's left.",
            )
        elif rules.start_tie.startswith(SUIT_TIE_PREFIX):
            yield _say(
                "start_tie",
                "Of several, the suit decides who leads, in the order {suits}.",
                suits=", ".join(rules.start_tie.removeprefix(SUIT_TIE_PREFIX)),
            )
        else:
            yield _say("start_tie", "Of several, the one nearest to the dealer's left leads.")
    if rules.lead_must_be_start_rank:
        yield _say(
            "lead_must_be_start_rank", "The first lead holds a card of the rank that decided, if the hand has one."
        )
    else:
        yield _say("lead_must_be_start_rank", "The first lead may be any card, or several of one rank.")


def _turn(rules: RuleSet) -> Iterator[Said]:
    yield _say("", "On your turn, play one card or several of one rank, equal to the top card or higher.")
    yield _say(
        "refill_to",
        "After playing from the hand, make it up to {count} from the stock while there is one.",
        count=rules.refill_to,
    )
    if rules.draw_follow_up:
        yield _say(
            "draw_follow_up",
            "A card just drawn that has the rank just played may be laid at once, and so on; then say that you "
            "are done.",
        )
    if rules.jump_in is not JumpIn.OFF:
        yield _say("jump_in", "Whoever can complete a quartet on the pile may do so out of turn.")


def _special(rules: RuleSet) -> Iterator[Said]:
    if rules.reset:
        yield _say("reset", "{ranks}: goes on anything, and anything goes on it.", ranks=_ranks(rules.reset))
    else:
        yield _say("reset", "There is no card that anything goes on: a 2 is the lowest card.")
    if rules.burn:
        yield _say(
            "burn",
            "{ranks}: goes on anything, burns the pile, and the same player plays again.",
            ranks=_ranks(rules.burn),
        )
    else:
        yield _say("burn", "There is no card that burns the pile.")
    if rules.ceiling:
        yield _say("ceiling", "{ranks}: the next card has to be as low or lower.", ranks=_ranks(rules.ceiling))
        if (rules.burn or _joker_is(rules, JokerPower.BURN)) and rules.ten_on_ceiling:
            yield _say("ten_on_ceiling", "A card that burns may be played on it all the same.")
        elif rules.burn or _joker_is(rules, JokerPower.BURN):
            yield _say("ten_on_ceiling", "A card that burns may not be played on it, unless it is low enough.")
    if rules.transparent:
        yield _say(
            "transparent",
            "{ranks}: goes on anything, and what lies under it is to be beaten.",
            ranks=_ranks(rules.transparent),
        )


def _turning(rules: RuleSet) -> Iterator[Said]:
    if rules.skip:
        template = "{ranks}: the next player misses a turn; several skip one player each."
        if not rules.skip_per_card:
            template = "{ranks}: the next player misses a turn, however many are played."
        yield _say("skip skip_per_card", template, ranks=_ranks(rules.skip))
    if rules.reverse or _joker_is(rules, JokerPower.REVERSE):
        once = rules.reverse_count is ReverseCount.ONCE
        if rules.reverse:
            yield _say("reverse", "{ranks}: the direction of play turns.", ranks=_ranks(rules.reverse))
        yield _say(
            "reverse_count",
            "Several cards that turn the direction turn it once."
            if once
            else "Of several cards that turn the direction, each turns it.",
        )
    if rules.again:
        yield _say("again", "{ranks}: the same player has to play again.", ranks=_ranks(rules.again))


def _joker_is(rules: RuleSet, power: JokerPower) -> bool:
    return rules.jokers > 0 and rules.joker_power is power


_JOKERS: Final[Mapping[JokerPower, str]] = {
    JokerPower.REVERSE: (
        "Joker: goes on anything, what lies under it is to be beaten, and the direction of play turns."
    ),
    JokerPower.WILD: "Joker: counts as any rank of {ranks} that its player names.",
    JokerPower.GIVE: "Joker: its player names an opponent, who takes the pile; the same player plays again.",
    JokerPower.NEXT_TAKES: "Joker: the next player has to take the pile.",
    JokerPower.BURN: "Joker: burns the pile like a ten.",
    JokerPower.TRANSPARENT: "Joker: goes on anything, and what lies under it is to be beaten.",
    JokerPower.HIGH: "Joker: one rank higher than the ace.",
}


def _jokers(rules: RuleSet) -> Iterator[Said]:
    if rules.jokers:
        named = {"ranks": _ranks(nameable_ranks(rules))} if rules.joker_power is JokerPower.WILD else {}
        yield _say("jokers joker_power", _JOKERS[rules.joker_power], **named)


def _quartet(rules: RuleSet) -> Iterator[Said]:
    yield _say(
        "burn_run",
        "{count} cards of one rank in a row on the pile burn it, whoever played them.",
        count=rules.burn_run,
    )
    if rules.replay_after_quartet is ReplayAfterQuartet.MUST:
        yield _say("replay_after_quartet", "Whoever completed them plays again.")
    else:
        yield _say("replay_after_quartet", "The next player leads then.")
    if rules.transparent or rules.jokers:
        if rules.transparent_breaks_run:
            yield _say(
                "transparent_breaks_run", "A card in between breaks the row, even one that is looked through."
            )
        else:
            yield _say("transparent_breaks_run", "Cards that are looked through don't break the row.")
    if rules.quartet_beats_all:
        yield _say(
            "quartet_beats_all burn_run",
            "{count} or more cards of one rank in one play go on any card that does not ask for low ones.",
            count=rules.burn_run,
        )
    else:
        yield _say("quartet_beats_all", "Played in one go they have to be playable like any other cards.")


def _picking_up(rules: RuleSet) -> Iterator[Said]:
    if rules.pick_up is PickUpRule.VOLUNTARY:
        yield _say("pick_up", "Instead of playing you may pick up the pile; who can't play has to.")
    else:
        yield _say("pick_up", "Only who can't play picks up the pile, and has to.")
    chance: Mapping[ChanceRule, str] = {
        ChanceRule.CHANCE: (
            "Who can't play may first turn the top card of the stock: if it fits it is played, else it is picked "
            "up with the pile."
        ),
        ChanceRule.CHANCE_FREE: (
            "Instead of playing you may turn the top card of the stock: if it fits it is played, else it is "
            "picked up with the pile."
        ),
    }
    if rules.chance in chance:
        yield _say("chance", chance[rules.chance])


def _last_cards(rules: RuleSet) -> Iterator[Said]:
    yield _say("", "Upcards are played when hand and stock are used up, downcards when the upcards are gone too.")
    if rules.combine_last_hand:
        yield _say(
            "combine_last_hand",
            "The last hand cards, if all of one rank, may be played together with equal upcards.",
        )
    else:
        yield _say("combine_last_hand", "Hand cards and upcards are not played together.")
    if rules.upcards_strict:
        yield _say("upcards_strict", "An upcard has to be higher than the top card; an equal one won't do.")
    along: Mapping[UpcardPickUp, str] = {
        UpcardPickUp.PILE: "Picking up from the upcards leaves them where they are.",
        UpcardPickUp.PILE_PLUS_ONE: "Picking up from the upcards takes one of them along.",
        UpcardPickUp.PILE_PLUS_SET: "Picking up from the upcards takes one of them along, or several equal ones.",
    }
    yield _say("upcard_pick_up", along[rules.upcard_pick_up])
    yield _say(
        "", "A downcard is turned up unseen, one a turn; if it does not fit, it is picked up with the pile."
    )
    if rules.blind_pick_up:
        yield _say("blind_pick_up", "Instead of turning up a downcard you may pick up the pile.")
    else:
        yield _say("blind_pick_up", "With downcards only, you have to turn one up.")


def _end(rules: RuleSet) -> Iterator[Said]:
    yield _say("", "Whoever has no cards left is out; the last one with cards is the shithead.")
    dealers: Mapping[NextDealer, str] = {
        NextDealer.LOSER: "The shithead deals next.",
        NextDealer.ROTATE: "The player at the dealer's left deals next.",
        NextDealer.WINNER: "The player who was out first deals next.",
        NextDealer.RANDOM: "A lot decides who deals next.",
    }
    yield _say("next_dealer", dealers[rules.next_dealer])
    if rules.turn_limit_result is TurnLimitResult.STALLED:
        template = "After {count} moves the round stops, and nobody has lost."
    else:
        template = "After {count} moves the round stops, and the player with most cards has lost."
    yield _say("turn_limit turn_limit_result", template, count=rules.turn_limit)


_PARTS: Final[tuple[Callable[[RuleSet], Iterator[Said]], ...]] = (
    _cards,
    _deal,
    _start,
    _turn,
    _special,
    _turning,
    _jokers,
    _quartet,
    _picking_up,
    _last_cards,
    _end,
)
