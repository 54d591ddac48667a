"""Watching a round again: every position of it, from any eyes, on a screen and in lines."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from client.cards import Style, card_label
from client.commands.replay import _working
from client.replay import NoReplay, Replay, hand_texts, load_replay
from client.replay_lines import ReplayLines
from client.tui.replaying import ReplayScreen, Watching, press_replay, replay_rows
from client.tui.state import Look
from engine.cards import card_text
from engine.errors import Sentence
from engine.rules import RuleSet
from engine.state import Phase as GamePhase
from p2p.dealing import TransparentDealing
from p2p.rounds import roundfile
from p2p.rounds.roundfile import Head, encode
from tests.client.tui.scenes import as_text
from tests.client.tui.test_properties import FACE, check_size
from tests.p2p.peers import Table

NAMES = ("Ana", "Bogdan", "Carmen")


def save(table: Table, directory: Path, ending: str = "finished") -> Path:
    contract = table.peers[0].round.contract
    head = Head(contract, 1, "2026-05-12T20:14:00+00:00", "test", table.peers[0].me, ending)
    return roundfile.write(directory, "2026-05-12-Kitchen-r1-00000000", encode(head, table.entries()))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    table = Table(NAMES, seed=7)
    table.start()
    table.play()
    path = save(table, tmp_path_factory.mktemp("rounds"))
    return load_replay(path, TransparentDealing())


def test_it_goes_from_the_deal_to_the_end(played: Replay) -> None:
    assert sorted(played.names) == list(NAMES)
    assert played.is_open
    assert played.moments[0].state.phase is GamePhase.ARRANGE
    assert played.moments[-1].state.phase is GamePhase.OVER
    turns = [moment.turn for moment in played.moments]
    assert turns == sorted(turns)
    assert turns[-1] == played.moments[-1].state.action_count
    assert {*played.finish, played.shithead} == set(NAMES)


def test_every_card_is_known_and_none_is_lost(played: Replay) -> None:
    for moment in played.moments:
        assert sorted(moment.state.faces) == list(range(52))


def test_what_happened_is_told_in_the_words_of_the_line_mode(played: Replay) -> None:
    told = [line for moment in played.moments for line in moment.told]
    assert any(" leads" in line for line in told)
    assert sum(" plays " in line or " picks up " in line or " flips " in line for line in told) >= 20
    assert sum(" is out: " in line for line in told) == 2


def test_a_players_eyes_see_what_that_player_saw(played: Replay) -> None:
    index = len(played.moments) // 3
    seen = played.seen(index, 0)
    assert "??" not in hand_texts(seen, 0)
    public = [p for p in seen.hands[1] if seen.is_public(p)]
    assert sum(text != "??" for text in hand_texts(seen, 1)) == len(public)
    assert all(seen.faces[p] < 0 for slots in seen.downs for p in slots if p >= 0 and not seen.is_public(p))


def test_a_screen_from_somebodys_eyes_shows_no_other_face(played: Replay) -> None:
    look = Look(style=Style(ascii=True))
    for index in range(0, len(played.moments), 7):
        for eyes in range(3):
            text = as_text(replay_rows(played, Watching(index, eyes), look, 80, 24))
            shown = {rank.replace("10", "T") + suit for rank, suit in FACE.findall(text)}
            state = played.moments[index].state

            hidden = {
                card_text(state.faces[p], 1)
                for seat in range(3)
                for zone in (state.hands[seat] if seat != eyes else (), state.downs[seat])
                for p in zone
                if p >= 0 and not state.is_public(p)
            } | {card_text(state.faces[p], 1) for p in state.stock}
            assert not shown & hidden


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (120, 40)])
def test_screens_keep_to_their_size(played: Replay, size: tuple[int, int]) -> None:
    for index in (0, len(played.moments) // 2, len(played.moments) - 1):
        for eyes in (None, 1):
            check_size(replay_rows(played, Watching(index, eyes), Look(), *size), *size)  # type: ignore[arg-type]


def test_keys_step_jump_and_change_eyes(played: Replay) -> None:
    at = press_replay("right", played, Watching())
    assert at.index == 1
    at = press_replay("left", played, press_replay("left", played, at))
    assert at.index == 0
    for key in ("1", "0", "enter"):
        at = press_replay(key, played, at)
    assert played.moments[at.index].turn == 10
    assert press_replay("end", played, at).index == len(played.moments) - 1
    assert press_replay("e", played, at).eyes == 0
    assert press_replay("o", played, press_replay("e", played, at)).eyes is None
    assert press_replay("a", played, at).is_auto


def lines_of(played: Replay, *typed: str) -> list[str]:
    said: list[str] = []
    ReplayLines(played, None, Style(), said.append).run(typed or None)
    return said


def test_through_a_pipe_all_of_it_comes_as_lines(played: Replay) -> None:
    said = lines_of(played)
    told = [line for index in range(len(played.moments)) for line in played.told(index, None, Style())]
    assert [line[6:] for line in said if line[6:] in told] == told
    assert said[-1] == f"The shithead is {played.shithead}."


def test_at_a_keyboard_it_goes_a_step_at_a_time(played: Replay) -> None:
    said = lines_of(played, "", "5", "b", "eyes ana", "eyes nobody", "what", "quit", "all")
    assert "The shithead is" not in "\n".join(said)
    text = "\n".join(said)
    assert "??" in text
    assert "Players: " in text
    assert "to turn 12" in text


def test_a_round_that_was_given_up_shows_only_what_all_saw(tmp_path: Path) -> None:
    table = Table(NAMES, seed=3)
    table.start()
    table.play_until(lambda: table.peers[0].state().action_count >= 6)
    shown = load_replay(save(table, tmp_path, "unfinished"), TransparentDealing())
    assert not shown.is_open
    assert shown.shithead is None
    assert any("??" in hand_texts(shown.seen(len(shown.moments) - 1, None), seat) for seat in range(3))
    said: list[str] = []
    ReplayLines(shown, None, Style(), said.append).run(None)
    assert any("stay closed" in line for line in said)


def test_a_round_without_a_deal_says_so(tmp_path: Path) -> None:
    table = Table(NAMES, seed=3)
    table.settle()
    host = table.peers[0]
    host.write(host.session.offer(RuleSet(), [host.me, table.peers[1].me]))
    with pytest.raises(NoReplay, match="before the cards were dealt"):
        load_replay(save(table, tmp_path, "unfinished"), TransparentDealing())


def test_exchanges_are_told_one_by_one(played: Replay) -> None:
    swaps = [moment for moment in played.moments if any(" lays out " in line for line in moment.told)]
    assert swaps
    before = played.moments[0].state
    for moment in swaps:
        seat = next(seat for seat in range(3) if before.ups[seat] != moment.state.ups[seat])
        (up,) = set(moment.state.ups[seat]) - set(before.ups[seat])
        (hand,) = set(moment.state.hands[seat]) - set(before.hands[seat])
        texts = [card_label(card_text(moment.state.faces[p], 1), Style()) for p in (up, hand)]
        assert moment.told == (f"{played.names[seat]} lays out {texts[0]} and takes up {texts[1]}.",)
        assert moment.turn == 0
        before = moment.state


def test_a_player_is_told_which_cards_came_from_the_stock(played: Replay) -> None:
    draws = [(index, moment) for index, moment in enumerate(played.moments) if moment.drawn]
    assert draws
    for index, moment in draws:
        ((seat, positions),) = moment.drawn
        name = played.names[seat]
        cards = " ".join(card_label(card_text(moment.state.faces[p], 1), Style()) for p in positions)
        closed = f"{name} draws {len(positions)} card{'s' if len(positions) > 1 else ''}."
        opened = f"{name} draws {cards}."
        assert opened in played.told(index, seat, Style())
        assert opened in played.told(index, None, Style())
        other = played.told(index, (seat + 1) % 3, Style())
        assert closed in other and opened not in other


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
def test_help_is_a_key_away(played: Replay, size: tuple[int, int]) -> None:
    rows = replay_rows(played, Watching(), Look(), *size)
    assert "? help" in as_text(rows)
    assert "Esc" in as_text(rows)
    at = press_replay("?", played, Watching(index=3))
    rows = replay_rows(played, at, Look(), *size)
    check_size(rows, *size)  # type: ignore[arg-type]
    assert "E, Tab: from the eyes of the next player." in as_text(rows)
    assert press_replay("?", played, at) == Watching(index=3)
    assert press_replay("right", played, at) == Watching(index=4)


class Terminal(io.StringIO):
    """Standard error at a keyboard."""

    def isatty(self) -> bool:
        return True


def test_that_a_round_is_being_opened_is_said_and_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    for out, expected in ((Terminal(), "Opening the round"), (io.StringIO(), "")):
        monkeypatch.setattr("sys.stderr", out)
        with pytest.raises(NoReplay), _working():
            assert out.getvalue().startswith(expected)
            raise NoReplay(Sentence("none", "Nothing is there.", {}))
        assert out.getvalue().endswith("\033[K") is bool(expected)


async def test_escape_ends_what_lies_over_the_replay_first(played: Replay) -> None:
    screen = ReplayScreen(played, Look())
    for first in ("?", "4"):
        assert screen.key(first)
        assert screen.key("escape"), first
        assert screen.at == Watching()
    assert not screen.key("escape")
    assert screen.key("?")
    assert not screen.key("q")


@pytest.mark.parametrize("width", [60, 79, 80, 120])
def test_the_keys_of_a_replay_fit_their_line(played: Replay, width: int) -> None:
    last = as_text(replay_rows(played, Watching(), Look(), width, 24)).splitlines()[-1]
    assert last.endswith("? help  Esc back")
    assert ("12, Enter: to turn 12" in last) is (width >= 80)
