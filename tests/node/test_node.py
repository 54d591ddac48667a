"""Nodes: real sockets on loopback, real disks, whole rounds."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from client.hosting import Host, Policy
from engine.errors import Sentence
from engine.rules import RuleSet, with_options
from p2p.dealing import ElGamalDealing
from p2p.errors import LocalProtocolError, NetworkProblem
from p2p.network.frames import Linked, Refuse
from p2p.node.node import Node
from p2p.rounds.audit import verify_file
from p2p.rounds.news import News
from p2p.rounds.phases import Phase
from p2p.rounds.roundfile import list_rounds
from tests.node.conftest import PATIENCE_S, Evening, until


def is_over(number: int):  # type: ignore[no-untyped-def]
    return lambda s: s.round is not None and s.round.number == number and s.round.phase is Phase.CLOSED


async def test_a_round_is_played_saved_and_verified_alike_by_everyone(evening: Evening) -> None:
    evening.dealing = ElGamalDealing()
    nodes = await evening.table("Ana", "Bogdan", "Carmen")
    evening.seat_bots()
    await nodes[0].offer_round()
    for node in nodes:
        await until(node, is_over(1))
    files = [list_rounds(node.config.data_dir / "rounds") for node in nodes]
    assert [len(found) for found in files] == [1, 1, 1]
    verdicts = [verify_file(found[0]) for found in files]
    assert {v.verdict for v in verdicts} == {"fair"}
    assert len({(v.finish, v.shithead, tuple(p.key for p in v.players)) for v in verdicts}) == 1


async def test_a_round_whose_file_nobody_could_read_is_said_to_be_with_sizes_and_names_and_not_written(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = await evening.table("Ana", "Bogdan")
    rounds = nodes[0].config.data_dir / "rounds"
    told: list[News] = []
    nodes[0].subscribe(lambda news: told.extend(n for n in news if n.name == "unsaved"))
    evening.seat_bots()
    with monkeypatch.context() as small:
        small.setattr("p2p.rounds.roundfile.MAX_FILE_BYTES", 9_000)
        await nodes[0].offer_round()
        await asyncio.gather(*(until(node, is_over(1)) for node in nodes))
    (reason,) = (news.values["sentence"] for news in told)
    assert isinstance(reason, Sentence) and reason.code == "round_too_big_to_save"
    assert reason.values["name"] in ("Ana", "Bogdan")
    assert not rounds.exists()
    # The next one is saved, and is not held up by that one.
    await nodes[0].offer_round()
    await asyncio.gather(*(until(node, is_over(2)) for node in nodes))
    (verdict,) = (verify_file(path, evening.dealing) for path in list_rounds(rounds))
    assert (verdict.round, verdict.verdict) == (2, "fair")


async def test_a_round_that_the_disk_did_not_take_is_saved_with_the_next_one(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = await evening.table("Ana", "Bogdan")
    rounds = nodes[0].config.data_dir / "rounds"
    told: list[str] = []
    nodes[0].subscribe(lambda news: told.extend(str(n.values["reason"]) for n in news if n.name == "unsaved"))
    evening.seat_bots()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr("p2p.rounds.roundfile.os.fsync", full)
        await nodes[0].offer_round()
        await asyncio.gather(*(until(node, is_over(1)) for node in nodes))
    assert told == ["No space left on device"]
    assert not list(rounds.iterdir()), "nothing half-written is left"
    await nodes[0].offer_round()
    await asyncio.gather(*(until(node, is_over(2)) for node in nodes))
    verdicts = [verify_file(path, evening.dealing) for path in list_rounds(rounds)]
    assert sorted((v.round, v.verdict) for v in verdicts) == [(1, "fair"), (2, "fair")]


async def test_the_shithead_deals_the_next_round(evening: Evening) -> None:
    nodes = await evening.table("Ana", "Bogdan")
    evening.seat_bots()
    for number in (1, 2):
        await nodes[0].offer_round()
        await asyncio.gather(*(until(node, is_over(number)) for node in nodes))
    score = nodes[1].snapshot.score
    assert [line.number for line in score] == [1, 2]
    round_ = nodes[0].snapshot.round
    assert round_ is not None and round_.state is not None
    assert round_.seats[round_.state.dealer] == score[0].shithead


async def test_names_that_are_taken_and_full_tables_are_refused_in_words(evening: Evening) -> None:
    await evening.open("Ana", seats=2)
    with pytest.raises(NetworkProblem) as taken:
        await Node.join_table(evening.config("ana", operator=b""), ("127.0.0.1", evening.nodes[0].port))
    assert taken.value.code == "name_taken" and "ana already" in str(taken.value)
    await evening.join("Bogdan")
    with pytest.raises(NetworkProblem) as full:
        await Node.join_table(evening.config("Carmen"), ("127.0.0.1", evening.nodes[0].port))
    assert full.value.code == "table_full" and "it has 2 seats" in str(full.value)


async def test_the_acting_host_announces_the_preset_that_is_played_and_nobody_else_does(evening: Evening) -> None:
    ana, bogdan = await evening.table("Ana", "Bogdan")
    for rules, name in (
        (RuleSet(), "wikipedia"),
        (RuleSet.preset("party"), "party"),
        (with_options(RuleSet.preset("party"), {"jokers": "1"}), "custom"),
    ):
        ana.rules = rules
        ad = ana._outward.make_ad()
        assert ad is not None and ad.rules == name
    guests = bogdan._outward.make_ad()
    assert guests is not None and guests.rules == ""


async def test_whom_a_person_gives_the_last_seat_is_not_told_that_the_table_is_full(evening: Evening) -> None:
    ana = await evening.open("Ana", seats=2)
    # What a host's program does by itself beside the person, who is asked.
    hosting = asyncio.create_task(Host(ana, Policy(seats=2)).run())
    try:
        bogdan = await evening.join("Bogdan")
        assert len(bogdan.snapshot.players) == len(ana.snapshot.players) == 2
        assert ana.snapshot.door == ()
    finally:
        hosting.cancel()
        await asyncio.gather(hosting, return_exceptions=True)


async def test_the_host_can_turn_somebody_away(evening: Evening) -> None:
    host = await evening.open("Ana")

    async def turn_away() -> None:
        snapshot = await until(host, lambda s: bool(s.door))
        await host.refuse(snapshot.door[0].key)

    task = asyncio.create_task(turn_away())
    with pytest.raises(NetworkProblem) as refused:
        await Node.join_table(evening.config("Bogdan"), ("127.0.0.1", host.port))
    await task
    assert refused.value.code == "turned_away"
    assert host.snapshot.door == ()


async def test_somebody_sent_away_is_told_and_is_gone_for_all(evening: Evening) -> None:
    ana, bogdan, carmen = await evening.table("Ana", "Bogdan", "Carmen")
    await ana.kick(carmen.key)
    async with asyncio.timeout(PATIENCE_S):
        await carmen.gone.wait()
    assert carmen.gone_why == "kicked"
    await until(bogdan, lambda s: len(s.players) == 2)


async def test_nobody_is_sent_away_in_mid_round(evening: Evening) -> None:
    ana, bogdan = await evening.table("Ana", "Bogdan")
    await ana.offer_round()
    await until(ana, lambda s: s.round is not None and s.round.phase is Phase.ARRANGE)
    with pytest.raises(LocalProtocolError) as problem:
        await ana.kick(bogdan.key)
    assert problem.value.code == "seated"


async def test_a_table_closed_by_its_host_ends_for_everyone(evening: Evening) -> None:
    ana, bogdan, carmen = await evening.table("Ana", "Bogdan", "Carmen")
    await ana.close_table()
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(bogdan.gone.wait(), carmen.gone.wait())
    assert (bogdan.gone_why, carmen.gone_why) == ("closed", "closed")


async def test_who_leaves_a_round_of_two_has_lost_it(evening: Evening) -> None:
    ana, bogdan = await evening.table("Ana", "Bogdan")
    await ana.offer_round()
    await until(bogdan, lambda s: s.round is not None and s.round.phase is Phase.ARRANGE)
    await bogdan.leave()
    snapshot = await until(ana, is_over(1))
    assert snapshot.score[0].kind == "forfeit"
    assert snapshot.score[0].shithead == bogdan.key
    (file,) = list_rounds(ana.config.data_dir / "rounds")
    assert verify_file(file, evening.dealing).verdict == "unproven"


async def test_who_leaves_a_round_of_three_ends_it_unfinished(evening: Evening) -> None:
    ana, bogdan, carmen = await evening.table("Ana", "Bogdan", "Carmen")
    await ana.offer_round()
    await until(carmen, lambda s: s.round is not None and s.round.phase is Phase.ARRANGE)
    await carmen.leave()
    for node in (ana, bogdan):
        snapshot = await until(node, is_over(1))
        assert snapshot.score[0].kind == "unfinished"
    await until(ana, lambda s: len(s.players) == 2)
    evening.seat_bots(ana, bogdan)
    await ana.offer_round()
    for node in (ana, bogdan):
        await until(node, is_over(2))


async def test_a_silent_player_can_be_given_up_after_the_grace_and_not_before(evening: Evening) -> None:
    ana, bogdan, carmen = await evening.table("Ana", "Bogdan", "Carmen", grace_s=2)
    await ana.offer_round()
    for node in evening.nodes:
        await until(node, lambda s: s.round is not None and s.round.phase is Phase.ARRANGE)
    with pytest.raises(LocalProtocolError) as early:
        await ana.void()
    assert early.value.code == "not_yet_overdue"
    dora = await evening.join("Dora")
    evening.seat_bots(ana, bogdan)
    await until(dora, lambda s: s.round is not None and s.round.overdue)
    with pytest.raises(LocalProtocolError) as beside:
        await dora.void()
    assert beside.value.code == "not_in_round"
    await until(ana, lambda s: s.round is not None and s.round.overdue)
    await ana.void()
    for node in (ana, bogdan):
        snapshot = await until(node, is_over(1))
        assert snapshot.score[0].kind == "unfinished"
        assert snapshot.round is not None and snapshot.round.ending is not None
        assert snapshot.round.ending.debts == ((carmen.key, "ready"),)


async def test_a_person_is_asked_for_the_next_round_and_may_say_no(evening: Evening) -> None:
    ana, bogdan = await evening.table("Ana", "Bogdan", consent=False)
    await ana.offer_round()
    await until(bogdan, lambda s: s.asked)
    assert not ana.snapshot.asked, "who offers has said yes"
    await bogdan.answer_offer(False)
    await until(ana, lambda s: s.round is not None and s.round.phase is Phase.DEAD)
    await ana.offer_round()
    snapshot = await until(bogdan, lambda s: s.asked)
    assert snapshot.round is not None and (snapshot.round.number, snapshot.round.attempt) == (1, 2)


async def test_what_a_host_chooses_while_a_round_is_offered_is_for_the_next_one(evening: Evening) -> None:
    ana, bogdan = await evening.table("Ana", "Bogdan", consent=False)
    ana.rules, ana.limits = RuleSet(refill_to=4), (0, 0, 50)
    await ana.offer_round()
    await until(bogdan, lambda s: s.asked)
    ana.rules, ana.limits = RuleSet(refill_to=5), (30, 0, 60)
    await bogdan.answer_offer(True)
    for node in (ana, bogdan):
        await until(node, lambda s: s.round is not None and s.round.phase is Phase.ARRANGE)
        assert node.snapshot.round is not None
        assert (node.snapshot.round.rules.refill_to, node.snapshot.round.limits) == (4, (0, 0, 50))
    await until(bogdan, lambda s: bogdan.rules.refill_to == 4)
    assert bogdan.limits == (0, 0, 50), "whoever acts for the host goes on as it was"
    assert (ana.rules.refill_to, ana.limits) == (5, (30, 0, 60))


async def test_whoever_joins_by_a_plain_address_learns_how_many_may_sit_there(evening: Evening) -> None:
    await evening.open("Ana", seats=3)
    bogdan = await evening.join("Bogdan")
    assert bogdan.seats == 3


async def test_a_link_that_others_alone_have_is_told_as_relayed(evening: Evening) -> None:
    ana, bogdan, carmen = await evening.table("Ana", "Bogdan", "Carmen")
    told: list[object] = []
    ana.subscribe(lambda news: told.extend(n.values["status"] for n in news if n.name == "link"))
    # Bogdan stays linked with Carmen, who says so; only this link ends, and is not made again.
    await until(ana, lambda s: ana._links.are_linked(carmen.key, bogdan.key))
    ana._links.changed(bogdan.key, "lost")
    await until(ana, lambda s: "relayed" in told)
    ana._links.heard(carmen.key, Linked((ana.key,)))
    await until(ana, lambda s: "lost" in told)
    assert told == ["relayed", "lost"]


async def test_chat_reaches_everyone_once(evening: Evening) -> None:
    ana, *_ = await evening.table("Ana", "Bogdan", "Carmen")
    heard: dict[str, list[str]] = {"Bogdan": [], "Carmen": []}
    done = asyncio.Event()

    def listen(name: str) -> None:
        def listener(news: tuple[News, ...]) -> None:
            heard[name] += [str(item.values["text"]) for item in news if item.name == "said"]
            if all(len(lines) == 2 for lines in heard.values()):
                done.set()

        evening.nodes[["Ana", "Bogdan", "Carmen"].index(name)].subscribe(listener)

    listen("Bogdan")
    listen("Carmen")
    await ana.say("hello  there")
    await ana.say("again")
    async with asyncio.timeout(PATIENCE_S):
        await done.wait()
    assert heard == {"Bogdan": ["hello there", "again"], "Carmen": ["hello there", "again"]}
    with pytest.raises(LocalProtocolError):
        await ana.say("x" * 401)


async def test_a_peer_that_starts_again_takes_its_seat_and_plays_on(evening: Evening) -> None:
    ana, bogdan = await evening.table("Ana", "Bogdan")
    await ana.offer_round()
    for node in (ana, bogdan):
        await until(node, lambda s: s.round is not None and s.round.phase is Phase.ARRANGE)
    await bogdan.close()
    evening.nodes.remove(bogdan)
    await until(ana, lambda s: any(p.link.status == "lost" for p in s.players))
    again = await Node.join_table(evening.config("Bogdan"), ("127.0.0.1", ana.port))
    evening.nodes.append(again)
    assert again.key == bogdan.key
    evening.seat_bots(ana, again)
    for node in (ana, again):
        snapshot = await until(node, is_over(1))
        assert snapshot.score[0].kind == "finished"


async def test_two_nodes_cannot_use_one_port(evening: Evening) -> None:
    host = await evening.open("Ana")
    config = evening.config("Bogdan")
    taken = type(config)(config.data_dir, "Bogdan", loopback=True, port=host.port, dealing=evening.dealing)
    with pytest.raises(NetworkProblem) as busy:
        await Node.open_table(taken, "Other", seats=5, rules=RuleSet())
    assert busy.value.code == "port_busy"


async def test_nobody_at_an_address_is_said_in_words(evening: Evening, tmp_path: Path) -> None:
    with pytest.raises(NetworkProblem) as nobody:
        await Node.join_table(evening.config("Ana"), ("127.0.0.1", 9))
    assert nobody.value.code == "no_answer"


async def test_two_of_one_name_at_the_door_are_not_both_let_in(evening: Evening) -> None:
    """The second admission would be the host's own breach: it is refused in words instead."""
    ana = await evening.open("Ana")
    joins = [
        asyncio.create_task(Node.join_table(evening.config(name), ("127.0.0.1", ana.port)))
        for name in ("Cat", "cat")
    ]
    snapshot = await until(ana, lambda s: len(s.door) == 2)
    first, second = (knock.key for knock in snapshot.door)
    await ana.admit(first)
    with pytest.raises(LocalProtocolError) as problem:
        await ana.admit(second)
    assert problem.value.code == "cannot_admit"
    ends = await asyncio.gather(*joins, return_exceptions=True)
    evening.nodes += [end for end in ends if isinstance(end, Node)]
    refused = [end for end in ends if isinstance(end, NetworkProblem)]
    assert len(evening.nodes) == 2
    assert [end.code for end in refused] == ["name_taken"]
    assert ana._table.core is not None and ana._table.core.session.table_faults == []


async def test_nobody_but_whose_door_was_knocked_at_lets_in_or_turns_away(evening: Evening) -> None:
    ana = await evening.open("Ana")
    mal = await evening.open("Mal")
    vic = Node._prepare(evening.config("Vic"))
    evening.nodes.append(vic)
    await vic._connect()
    knocking = asyncio.create_task(vic._knocker.knock(("127.0.0.1", ana.port), None, lambda: None))
    snapshot = await until(ana, lambda s: bool(s.door))
    assert mal._table.mesh is not None and mal._table.core is not None
    await mal._table.mesh.connect(("127.0.0.1", vic.port), vic.key)
    mal._table.mesh.send(vic.key, mal._table.core.have())
    mal._table.mesh.send(vic.key, Refuse("refused"))
    mal._table.mesh.drop(vic.key)
    await ana.admit(snapshot.door[0].key)
    async with asyncio.timeout(PATIENCE_S):
        await knocking
    assert vic.snapshot.table == ana.snapshot.table


async def test_what_is_told_shows_in_the_snapshot_that_it_is_told_with(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it happens while a snapshot is being made: whoever listens from then on would know nothing."""
    ana = await evening.open()
    table, make = ana._table, ana._table.in_worker
    problems = [NetworkProblem("no_mdns", reason="taken")]

    async def in_worker(work: Callable[[], object]) -> object:
        made = await make(work)
        if problems:
            ana._outward.reach_problem(problems.pop())
        return made

    monkeypatch.setattr(table, "in_worker", in_worker)
    told: asyncio.Future[tuple[str, ...]] = asyncio.get_running_loop().create_future()

    def heard(news: tuple[News, ...]) -> None:
        if any(item.name == "error" for item in news) and not told.done():
            told.set_result(ana.snapshot.notices)

    ana.subscribe(heard)
    await table.refresh()
    async with asyncio.timeout(PATIENCE_S):
        assert await told == ("no_mdns",)
