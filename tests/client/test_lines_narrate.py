"""The narrator: one sentence for each thing that happens, in both persons, and nothing twice."""

from __future__ import annotations

import dataclasses
import re

import pytest

from client.cards import Style
from client.lines import Narrator
from client.lines.narrate import fits_words
from client.lines.show import rules_lines, score_lines, table_lines, turn_lines, welcome_lines
from client.phrases import said
from client.sentences import render
from client.view import View, WaitRow, make_view
from engine.cards import parse_card
from engine.errors import Sentence
from engine.explain import explain
from engine.rules import PRESETS, RuleSet
from engine.state import GameState
from p2p.feeds.faults import Fault
from p2p.rounds.audit import NO_CHECKS, AuditedFault, Verdict
from p2p.rounds.news import News
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import Knocking, LinkView, RoundScore, Wait
from tests.client.positions import key_of, player, snapshot_of, view_of
from tests.engine.helpers import record, rules_with

ANA, BOGDAN = key_of("Ana"), key_of("Bogdan")
OTHER = "hand Bogdan Qc Qd Qh\n"
STATE = record(f"stock 3c\npile 7c 7d\nhand Ana 9c 9h 4s\n{OTHER}turn Ana\n")
VIEW = view_of(STATE)
PLAIN = Style()


def faces(*texts: str) -> tuple[int, ...]:
    return tuple(parse_card(text, 1, 0) for text in texts)


def tell(*news: News, before: View | None = VIEW, after: View = VIEW) -> list[str]:
    return Narrator(PLAIN).tell(news, before, after)


def card(name: str, seat: int, text: str, **values: object) -> News:
    return News(name, {"seat": seat, "face": faces(text)[0], "packs": 1, **values})


def cards(name: str, seat: int, *texts: str, **values: object) -> News:
    return News(name, {"seat": seat, "faces": faces(*texts), "packs": 1, **values})


@pytest.mark.parametrize(
    ("news", "said"),
    [
        (News("joined", {"player": BOGDAN, "name": "Bogdan", "bot": False}), ["Bogdan has joined the table."]),
        (
            News("joined", {"player": BOGDAN, "name": "Bogdan", "bot": True}),
            ["Bogdan, a bot, has joined. Whoever owns the machine it runs on could read its cards."],
        ),
        (News("joined", {"player": ANA, "name": "Ana", "bot": False}), ["You are at the table Kitchen."]),
        (News("left", {"player": BOGDAN, "name": "Bogdan"}), ["Bogdan has left the table."]),
        (News("ready", {"seat": 1}), ["Bogdan is ready."]),
        (News("ready", {"seat": 0}), ["You are ready."]),
        (
            News("swapped", {"seat": 1, "up_face": faces("Ah")[0], "hand_face": faces("3d")[0], "packs": 1}),
            ["Bogdan lays out A♥ and takes up 3♦."],
        ),
        (card("declared", 1, "3c"), ["Bogdan shows 3♣."]),
        (
            News("eldest", {"seat": 1, "rank": 1, "by": "upcard"}),
            ["Bogdan leads: the first three among the upcards."],
        ),
        (News("eldest", {"seat": 0, "rank": 12, "by": "hand"}), ["You lead: you were dealt an ace to the hand."]),
        (News("eldest", {"seat": 0, "rank": -1, "by": "seat"}), ["You lead."]),
        (cards("played", 1, "7c", "7h", zone="hand"), ["Bogdan plays 7♣ 7♥."]),
        (cards("played", 0, "Td", zone="upcards"), ["You play 10♦ from your upcards."]),
        (News("drew", {"seat": 1, "count": 1, "own": False}), ["Bogdan draws 1 card."]),
        (News("drew", {"seat": 0, "count": 2, "own": False}), []),
        (cards("drew", 0, "4c", "5d", count=2, own=True), ["You draw 4♣ 5♦."]),
        (cards("hand", 0, "4c", "5d"), ["Your hand: 4♣ 5♦."]),
        (News("picked_up", {"seat": 1, "count": 6}), ["Bogdan picks up 6 cards."]),
        (card("flipped", 1, "4c", legal=False), ["Bogdan flips 4♣: it can't be played."]),
        (card("flipped", 0, "4c", legal=True), ["You flip 4♣."]),
        (News("out", {"seat": 1, "place": 2}), ["Bogdan is out: second."]),
        (News("turn", {"seat": 1}), []),
        (News("said", {"player": BOGDAN, "name": "Bogdan", "text": "oh\x1b[2J\u202e"}), ["Bogdan> oh[2J"]),
        (
            News("saved", {"path": "/x/r1.round", "round": 1}),
            ["The round is saved; `shithead verify last` checks it at any time:", "/x/r1.round"],
        ),
        (
            News("unsaved", {"reason": "no space left", "round": 1}),
            ["The round could not be saved (no space left)."],
        ),
        (News("phase", {"phase": Phase.ARRANGE}), None),
        (News("phase", {"phase": Phase.PREPARE}), []),
        (News("no such event", {}), []),
        (
            News("error", {"sentence": Sentence("a", "It broke."), "remedy": Sentence("b", "Mend it.")}),
            ["It broke.", "Mend it."],
        ),
    ],
)
def test_what_is_said(news: News, said: list[str] | None) -> None:
    lines = tell(news)
    assert lines == said if said is not None else len(lines) == 1


def test_the_offer_asks_only_whom_it_asks() -> None:
    news = News("contract", {"round": 2, "players": (ANA, BOGDAN)})
    assert tell(news, after=view_of(asked=True)) == [
        "Round 2 is offered to Ana and Bogdan. Do you play? `yes` or `no`."
    ]
    assert tell(news) == ["Round 2: Ana and Bogdan."]


def test_words_and_seats() -> None:
    news = News("words", {"words": ("lemon", "raven", "bus"), "seats": (ANA, BOGDAN), "dealer": 1})
    lines = tell(news)
    assert lines[0].startswith("Table words: lemon-raven-bus.")
    assert lines[1] == "Seats, clockwise: Ana and Bogdan. Bogdan deals."


def test_a_ten_burns() -> None:
    lines = tell(
        cards("played", 1, "Td", zone="hand"),
        News("burnt", {"seat": 1, "count": 5, "by": "ten"}),
        News("turn", {"seat": 1}),
    )
    assert lines == [
        "Bogdan plays 10♦.",
        "The pile burns: 5 cards are out of the round.",
        "Bogdan plays again.",
    ]


def test_a_quartet_over_several_plays_burns() -> None:
    burnt = News("burnt", {"seat": 1, "count": 4, "by": "quartet"})
    assert tell(cards("played", 1, "7h", "7s", zone="hand"), burnt)[1] == "The pile burns: four sevens."
    assert tell(card("flipped", 1, "Kc", legal=True), burnt)[1] == "The pile burns: four kings."
    assert tell(burnt) == ["The pile burns: a run of equal cards."]


def test_the_next_player_after_a_burn_that_ended_somebodys_cards_does_not_play_again() -> None:
    lines = tell(
        cards("played", 0, "Td", zone="hand"),
        News("burnt", {"seat": 0, "count": 5, "by": "ten"}),
        News("out", {"seat": 0, "place": 1}),
        News("turn", {"seat": 1}),
    )
    assert lines[-1] == "You are out: first!"


def test_the_end_of_a_round() -> None:
    over = {"round": 3, "result": "finished", "finish": (BOGDAN,), "shithead": ANA, "debts": (), "left": ()}
    assert tell(News("over", over)) == [
        "Round 3 is over.",
        "First: Bogdan.",
        "You are the shithead.",
        "`start` begins another round.",
    ]
    given_up = {**over, "result": "unfinished", "finish": (), "shithead": None, "debts": ((BOGDAN, "move"),)}
    guest = view_of(STATE, acting_host=BOGDAN)
    lines = tell(News("over", given_up), before=guest, after=guest)
    assert lines[:2] == [
        "Round 3 ends unfinished: nobody is the shithead.",
        "Bogdan was waited for in vain to play.",
    ]
    assert lines[-1] == "Bogdan can start another round."
    alone = view_of(STATE, players=(player("Ana"),))
    assert tell(News("over", {**over, "left": (BOGDAN,)}), after=alone)[-2:] == [
        "Bogdan had left the round.",
        "Waiting for others to join.",
    ]
    for kind in ("stalled", "forfeit", "faulted", "something new"):
        assert tell(News("over", {**over, "result": kind}))[0].startswith("Round 3")


def verdict(kind: str) -> News:
    faults = (AuditedFault("Bogdan", "fork", "00", Sentence("fork", "{player} forked.", {"player": "Bogdan"})),)
    audit = Verdict(
        kind,
        1,
        (),
        (),
        None,
        faults if kind == "cheating" else (),
        {**NO_CHECKS, "shuffles": 2, "moves": 58},
        Sentence("stops", "It does not hold {player}'s reveal.", {"player": "Bogdan"}),
        (),
    )
    return News("verdict", {"round": 1, "verdict": kind, "audit": audit})


def test_verdicts() -> None:
    assert tell(verdict("fair"))[0].startswith("Was it fair? Yes, as far as can be checked: 2 shuffles proven")
    assert tell(verdict("cheating")) == [
        "Was it fair? No: it holds the proof of a breach.",
        "A breach: Bogdan forked.",
    ]
    assert tell(verdict("unproven")) == ["Was it fair? Not proven: It does not hold Bogdan's reveal."]
    assert tell(verdict("damaged"))[0].startswith("Was it fair? The saved file is damaged")
    assert tell(News("verdict", {"verdict": "fair"})) == []


def test_faults_are_said_with_names() -> None:
    fault = Fault(BOGDAN, "bad_digest", (bytes(32),), 7)
    lines = tell(News("fault", {"player": BOGDAN, "code": "bad_digest", "fault": fault}))
    assert lines == ["A breach: Bogdan signed a wrong state of the game."]


def test_the_door() -> None:
    news = News("knocked", {"player": key_of("Dora"), "name": "Dora", "bot": False, "address": "192.0.2.9"})
    assert tell(news) == ["Dora is at the door (192.0.2.9): `admit Dora` or `refuse Dora`."]
    guest = view_of(acting_host=BOGDAN)
    assert tell(news, before=guest, after=guest) == ["Dora is at the door; Bogdan decides."]


def test_a_lost_link_is_told_once_and_its_return_once() -> None:
    narrator = Narrator(PLAIN)

    def link(status: str) -> list[str]:
        return narrator.tell([News("link", {"player": BOGDAN, "status": status, "rtt_ms": 4})], VIEW, VIEW)

    assert link("good") == []
    assert link("lost") == ["The link to Bogdan is lost."]
    assert link("lost") == []
    assert link("good") == ["The link to Bogdan is back."]
    assert link("slow") == []
    assert narrator.tell([News("link", {"player": ANA, "status": "lost", "rtt_ms": None})], VIEW, VIEW) == []


def test_long_waits_are_told_once() -> None:
    narrator = Narrator(PLAIN)

    def waiting(seconds: int, overdue: bool = False) -> list[str]:
        waits = (WaitRow("Bogdan", False, "move", seconds, 0, 60), WaitRow("Ana", True, "ready", 99))
        view = dataclasses.replace(VIEW, waits=waits, overdue=overdue)
        return narrator.tell([], view, view)

    assert waiting(5) == []
    assert waiting(15) == ["Waiting for Bogdan to play."]
    assert waiting(16) == []
    assert waiting(61, overdue=True) == [
        "Bogdan has been waited for 61 s to play. `void` gives the round up for everybody: it ends unfinished, "
        "nobody is the shithead, and that Bogdan was waited for is on record. Till then all wait."
    ]
    assert waiting(62, overdue=True) == []
    beside = dataclasses.replace(VIEW, in_round=False)
    waits = (WaitRow("Bogdan", False, "move", 61, 0, 60),)
    assert Narrator(PLAIN).tell([], beside, dataclasses.replace(beside, waits=waits, overdue=True))[-1:] == [
        "Bogdan has been waited for 61 s to play: whoever plays with Bogdan can give the round up."
    ]
    assert narrator.tell([], VIEW, VIEW) == []
    assert waiting(20) == ["Waiting for Bogdan to play."]


def dealing(**changes: int) -> View:
    snapshot = snapshot_of(STATE)
    assert snapshot.round is not None
    none = {"accepted": 2, "keys": 0, "shuffled": 0, "proven": 0, "agreed": 0}
    phase = Phase.PREPARE
    round_ = dataclasses.replace(snapshot.round, phase=phase, state=None, **{**none, **changes})  # type: ignore[arg-type]
    return make_view(dataclasses.replace(snapshot, round=round_))


def test_the_progress_of_the_deal() -> None:
    assert tell(before=dealing(), after=dealing(shuffled=1)) == ["Shuffled by 1 of 2."]
    assert tell(before=dealing(shuffled=1), after=dealing(shuffled=1)) == []
    words = News("words", {"words": ("a", "b", "c"), "seats": (ANA, BOGDAN), "dealer": 0})
    lines = tell(words, before=dealing(shuffled=1), after=dealing(shuffled=2, proven=2, agreed=2))
    assert lines[0] == "Shuffled by 2 of 2."
    assert lines[1].startswith("All 2 shuffles are proven")
    assert lines[2].startswith("Table words")


@pytest.mark.parametrize(
    ("fits", "words"),
    [
        ("23456789TJQKA", "anything"),
        ("29TJQKA", "9 or higher or a 2"),
        ("2TQKA", "queen or higher, a 2 or a 10"),
        ("2TA", "a 2, a 10 or an ace"),
        ("2T8", "a 2, an 8 or a 10"),
        ("", ""),
    ],
)
def test_what_fits_in_words(fits: str, words: str) -> None:
    assert fits_words(tuple(fits)) == words


@pytest.mark.parametrize(
    ("beat", "fits", "words"),
    [
        ("J", "2TJQKA", "jack or higher, a 2 or a 10"),
        ("Q", "2TQKA", "queen or higher, a 2 or a 10"),
        ("K", "2TKA", "king or higher, a 2 or a 10"),
        ("A", "2TA", "a 2, a 10 or an ace"),
        ("A", "2TKA", "a 2, a 10, a king or an ace"),
        ("9", "29TJQKA", "9 or higher or a 2"),
        ("T", "2TJQKA", "10 or higher or a 2"),
        # Equal cards won't do.
        ("J", "2TQKA", "queen or higher, a 2 or a 10"),
        ("T", "2TJQKA", "10 or higher or a 2"),
        ("9", "2TJQKA", "10 or higher or a 2"),
        ("A", "2T", "a 2 or a 10"),
        # A rank that the next one has to keep below.
        ("7", "234567T", "7 or lower or a 10"),
        ("9", "23456789T", "9 or lower or a 10"),
        ("9", "2345678T", "8 or lower or a 10"),
        ("7", "234567KA", "7 or lower, a king or an ace"),
        ("7", "2T", "a 2 or a 10"),
        # Looked through, several powers beside each other, a joker.
        ("J", "289TJQKA", "jack or higher, a 2, an 8, a 9 or a 10"),
        ("Q", "2JQKAX", "queen or higher, a 2, a jack or a joker"),
        ("2", "23456789TJQKA", "anything"),
        ("X", "2T", "a 2 or a 10"),
    ],
)
def test_lower_ranks_that_fit_by_a_power_are_named_by_themselves(beat: str, fits: str, words: str) -> None:
    assert fits_words(tuple(fits), beat) == words


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("upcards", [False, True])
def test_what_fits_is_said_truly_under_every_preset(preset: str, upcards: bool) -> None:
    zone = "up" if upcards else "hand"
    for beat in "23456789TJQKA":
        state = record(f"pile {beat}c\n{zone} Ana 3d Kd\nhand Bogdan Qs\nturn Ana\n", rules=preset)
        pile = make_view(snapshot_of(state)).pile
        assert pile is not None
        said = fits_words(pile.fits, pile.to_beat)
        assert _meant(said) == {rank for rank in pile.fits if rank != "X"}, (beat, said)
        if pile.to_beat and "or higher" in said:
            first = said.split()[0]
            assert RANK_ORDER.index(_rank_of(first)) in (
                RANK_ORDER.index(pile.to_beat),
                RANK_ORDER.index(pile.to_beat) + 1,
            )


RANK_ORDER = "23456789TJQKA"


def _rank_of(word: str) -> str:
    return {"10": "T", "jack": "J", "queen": "Q", "king": "K", "ace": "A"}.get(word, word)


def _meant(said: str) -> set[str]:
    """The ranks that a reader takes such words for."""
    if said == "anything":
        return set(RANK_ORDER)
    found: set[str] = set()
    for word, _ in re.findall(r"(\w+) or (higher)", said):
        found |= set(RANK_ORDER[RANK_ORDER.index(_rank_of(word)) :])
    for word, _ in re.findall(r"(\w+) or (lower)", said):
        found |= set(RANK_ORDER[: RANK_ORDER.index(_rank_of(word)) + 1])
    found |= {_rank_of(word) for word in re.findall(r"\ban? (\w+)", said)} - {"joker"}
    return found


def test_my_turn_in_lines() -> None:
    assert turn_lines(VIEW, PLAIN) == [
        "Your turn.",
        "On the pile: 7♣ 7♦ (2 cards, two sevens on top).",
        "You may play 7 or higher or a 2.",
        "Hand: 4♠ 9♣ 9♥",
        "Choices: #1 9♣   #2 9♣ 9♥   #3 pick up 2",
    ]


def test_one_more_burns() -> None:
    state = record(f"pile 7c 7d 7h\nhand Ana 7s 4s\nup Ana Kd\n{OTHER}turn Ana\n")
    lines = turn_lines(view_of(state), PLAIN)
    assert "One more seven burns it." in lines
    assert "Upcards: K♦" in lines


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (f"hand Ana 4s\n{OTHER}turn Ana\n", "The pile is empty: any card can be led."),
        (f"pile Kc\nhand Ana 4s\n{OTHER}turn Ana\n", "None of your cards can be played: pick up."),
        (f"pile Kc\ndown Ana 4s - -\n{OTHER}turn Ana\n", "Only downcards are left. Which one do you flip?"),
        (f"pile Kc\nhand Ana 4s\n{OTHER}turn Bogdan\n", "It is Bogdan's turn."),
    ],
)
def test_other_turns(body: str, line: str) -> None:
    assert line in turn_lines(view_of(record(body)), PLAIN)


def test_the_table_in_letters() -> None:
    state = record(f"pile Kc\nstock 3c\nhand Ana 4s\nup Bogdan Td 2h\ndown Bogdan 3h - 3s\n{OTHER}turn Bogdan\n")
    door = (Knocking(key_of("Dora"), "Dora", b"", ""),)
    bogdan = dataclasses.replace(player("Bogdan"), met="renamed-key", link=LinkView("lost"))
    lines = table_lines(view_of(state, door=door, players=(player("Ana"), bogdan)), Style(ascii=True))
    assert "  Ana (you, host): hand 1; up none; down 0" in lines
    row = next(line for line in lines if line.startswith("  Bogdan"))
    assert row.startswith("  Bogdan (deals): hand 3; up 10d 2h; down 2; to move; link lost")
    assert "not the one you know" in row
    assert "Pile: Kc. Stock: 1. Burnt: 42." in lines
    assert "At the door: Dora." in lines
    assert all(line.isascii() for line in lines)


def test_the_table_says_once_for_whom_it_waits() -> None:
    waits = (Wait(BOGDAN, "ready", 3.0),)
    snapshot = snapshot_of(STATE)
    assert snapshot.round is not None
    round_ = dataclasses.replace(snapshot.round, phase=Phase.PREPARE, state=None, waits=waits)
    lines = table_lines(make_view(dataclasses.replace(snapshot, round=round_)), PLAIN)
    assert lines.count("Waiting for Bogdan to be ready.") == 1


def test_the_score() -> None:
    score = (
        RoundScore(1, "finished", (ANA,), BOGDAN),
        RoundScore(2, "stalled", (), None),
        RoundScore(3, "unfinished", (), None),
    )
    assert score_lines(view_of(STATE, score=score), PLAIN) == [
        "Round 1: 1. Ana, shithead Bogdan.",
        "Round 2: no shithead.",
        "Round 3: unfinished.",
        "Shithead so far: Bogdan 1.",
    ]
    assert score_lines(VIEW, PLAIN) == ["No round has ended yet."]


def test_the_rules_in_force() -> None:
    lines = rules_lines(rules_with(deal="2/2/4", next_dealer="winner"), 3)
    assert "* Everybody gets 2 downcards, 2 upcards and 4 cards in the hand." in lines
    assert "* The player who was out first deals next." in lines
    assert lines[-1] == "Lines with * differ from the usual rules: deal=2/2/4, next_dealer=winner."
    assert sum(line.startswith("* ") for line in lines) == 2
    usual = rules_lines(RuleSet(), 6)
    assert all(line.startswith("  ") for line in usual)
    assert "  That is two packs for 6." in usual


@pytest.mark.parametrize("preset", PRESETS)
def test_the_rules_are_what_the_engine_explains(preset: str) -> None:
    rules = RuleSet.preset(preset)
    told = {line[2:] for line in rules_lines(rules, 0)}
    assert {str(line) for line in explain(rules)} <= told


def test_the_welcome() -> None:
    lines = welcome_lines(view_of(notices=("no_mdns",)), PLAIN)
    assert "Others reach this table at 192.0.2.7:47101." in lines
    assert any("multicast" in line for line in lines)
    assert "At the table: Bogdan." in lines
    at_home = welcome_lines(view_of(addresses=("127.0.0.1:4", "[::1]:4")), PLAIN)
    assert not any("Others reach" in line for line in at_home)
    bot = dataclasses.replace(player("Bogdan"), is_bot=True)
    lines = welcome_lines(view_of(STATE, players=(player("Ana"), bot)), PLAIN)
    assert "Bogdan is a bot. Whoever owns the machine it runs on could read its cards." in lines
    assert any(line.startswith("Round 1: ") for line in lines)


def test_a_view_of_every_state_can_be_shown() -> None:
    states: list[GameState | None] = [None, STATE]
    for state in states:
        for style in (Style(), Style(ascii=True)):
            assert table_lines(view_of(state), style)
            assert turn_lines(view_of(state), style)


def test_a_big_pile_is_shown_from_the_top_and_says_so() -> None:
    big = record(f"pile 3c 3d 4c 4d 5c 5d 6c 6d 7c 7d\nhand Ana 9c 9h 4s\n{OTHER}turn Ana\n")
    lines = turn_lines(view_of(big), PLAIN)
    assert any(line.startswith("On the pile, of 10 cards the top 8: 4♣ 4♦ 5♣") for line in lines)
    assert any(line.startswith("On the pile: ") for line in turn_lines(view_of(STATE), PLAIN))


def test_one_burnt_card_is_one() -> None:
    assert render(said("burnt_ten", count=1)) == "The pile burns: 1 card is out of the round."
    assert render(said("burnt_ten", count=2)) == "The pile burns: 2 cards are out of the round."
