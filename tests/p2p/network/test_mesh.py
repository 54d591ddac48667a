"""Everyone linked to everyone."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from p2p.errors import NetworkProblem
from p2p.network import link as link_module
from p2p.network import mesh as mesh_module
from p2p.network.budget import CARDS_BURST, Allowance
from p2p.network.certificates import public_bytes
from p2p.network.frames import Bye, CloseCode, Knock, Refuse
from p2p.network.gossip import make_addresses
from p2p.network.link_types import LinkStatus
from tests.p2p.network.helpers import Lan, Player, key_of, kill, soon

KNOCK = Knock(table_id=b"", name="Ann", operator=b"")


async def meet(*players: Player) -> None:
    """Tell everyone everyone's address, and wait until all are linked."""
    members = {player.key: [player.address] for player in players}
    for player in players:
        player.mesh.set_members(members)
    for player in players:
        await player.bell.until(lambda player=player: len(player.mesh.peers) == len(players) - 1)


async def test_five_players_are_all_linked_and_each_broadcast_reaches_all(lan: Lan) -> None:
    players = [await lan.player(number) for number in range(1, 6)]
    for player in players:
        # What is said while a second link is being closed may be lost: each new link hears it again.
        player.greeting = KNOCK
    await meet(*players)
    for player in players:
        others = {other.key for other in players if other is not player}
        await player.bell.until(lambda player=player, others=others: {peer for peer, _ in player.frames} == others)


async def test_of_two_links_the_one_dialled_by_the_smaller_key_stays(lan: Lan) -> None:
    one, two = await lan.player(1), await lan.player(2)
    await soon(asyncio.gather(one.mesh.connect(two.address), two.mesh.connect(one.address)))
    smaller, bigger = sorted((one, two), key=lambda player: player.key)
    await smaller.bell.until(lambda: len(smaller.mesh.endpoint.links) == 1)
    await bigger.bell.until(lambda: len(bigger.mesh.endpoint.links) == 1)
    await smaller.bell.until(lambda: bigger.key in smaller.mesh.peers)
    await bigger.bell.until(lambda: smaller.key in bigger.mesh.peers)
    # Frames pass both ways over what is left, and it is the right one.
    assert smaller.mesh.send(bigger.key, KNOCK) and bigger.mesh.send(smaller.key, KNOCK)
    await smaller.bell.until(lambda: (bigger.key, KNOCK) in smaller.frames)
    await bigger.bell.until(lambda: (smaller.key, KNOCK) in bigger.frames)
    assert [link.dialled for link in smaller.mesh.endpoint.links] == [True]
    assert [link.dialled for link in bigger.mesh.endpoint.links] == [False]
    assert smaller.downs == [] and bigger.downs == []


async def test_a_second_dial_of_the_same_side_leaves_one_link(lan: Lan) -> None:
    one, two = await lan.player(1), await lan.player(2)
    await soon(one.mesh.connect(two.address))
    await soon(one.mesh.connect(two.address))
    await two.bell.until(lambda: len(two.ups) >= 1)
    assert one.mesh.send(two.key, KNOCK)
    await two.bell.until(lambda: (one.key, KNOCK) in two.frames)
    await one.bell.until(lambda: len(one.mesh.endpoint.links) == 1)
    assert one.downs == [] and two.downs == []


async def test_a_killed_peer_that_starts_again_is_linked_again(lan: Lan) -> None:
    one, two = await lan.player(1), await lan.player(2)
    await meet(one, two)
    kill(two.mesh.endpoint)
    again = await lan.player(2)
    # Same key, another instance: the old link, still up on one's side, gives way at once.
    await soon(again.mesh.connect(one.address))
    await one.bell.until(lambda: one.ups.count(again.key) == 2)
    assert one.mesh.send(again.key, KNOCK)
    await again.bell.until(lambda: (one.key, KNOCK) in again.frames)
    assert one.mesh.address_of(again.key) == again.address


async def test_a_lost_link_is_dialled_again_by_identity(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (mesh_module, link_module):
        for name, value in {"PING_SECONDS": 0.02, "SLOW_SECONDS": 0.06, "LOST_SECONDS": 0.15}.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(mesh_module, "TICK_SECONDS", 0.02)
    one, two = await lan.player(1), await lan.player(2)
    await meet(one, two)
    port = two.mesh.endpoint.port
    kill(two.mesh.endpoint)
    await one.bell.until(lambda: (two.key, LinkStatus.LOST) in one.statuses)
    assert (two.key, LinkStatus.SLOW) in one.statuses
    await two.mesh.close()
    again = await lan.player(2, port=port)
    await one.bell.until(lambda: one.ups.count(again.key) >= 2)
    await again.bell.until(lambda: one.key in again.mesh.peers)


async def test_a_peer_that_leaves_says_so(lan: Lan) -> None:
    one, two = await lan.player(1), await lan.player(2)
    await soon(one.mesh.connect(two.address))
    await two.bell.until(lambda: two.ups == [one.key])
    await one.mesh.close()
    await two.bell.until(lambda: two.downs == [(one.key, CloseCode.DONE)])
    assert not two.mesh.send(one.key, KNOCK)


async def test_a_member_no_longer_wanted_is_not_dialled(lan: Lan) -> None:
    one, two = await lan.player(1), await lan.player(2)
    one.mesh.set_members({two.key: [("127.0.0.1", 9)]})
    one.mesh.set_members({})
    assert [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("dial")] != []
    for _ in range(5):
        await asyncio.sleep(0)
    assert [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("dial")] == []


async def test_a_refused_peer_gets_the_code(lan: Lan) -> None:
    one, two = await lan.player(1), await lan.player(2)
    two.refusal = Refuse(code="closed_table")
    with pytest.raises(NetworkProblem) as caught:
        await soon(one.mesh.connect(two.address))
    assert caught.value.code == "refused"
    assert caught.value.sentence.values["reason"] == "closed_table"
    assert two.ups == [] and dict(two.mesh.peers) == {}


async def test_addresses_pass_through_a_third_peer_and_are_dialled(lan: Lan) -> None:
    one, two, three = [await lan.player(number) for number in (1, 2, 3)]
    await soon(one.mesh.connect(two.address))
    await soon(three.mesh.connect(two.address))
    two.mesh.set_members({one.key: [], three.key: []})
    one.mesh.set_members({three.key: []})  # wanted, but nobody knows where
    three.mesh.announce([three.address])
    await one.bell.until(lambda: three.key in one.mesh.peers)


async def test_addresses_signed_by_another_are_not_taken(lan: Lan) -> None:
    one, two, three = [await lan.player(number) for number in (1, 2, 3)]
    await soon(two.mesh.connect(one.address))
    one.mesh.set_members({three.key: []})
    honest = make_addresses(key_of(3), 1, [three.address])
    forged = type(honest)(honest.author, 2, (("127.0.0.1", 9),), honest.signature)
    two.mesh.broadcast(forged)
    two.mesh.broadcast(honest)  # were the forged one held, this older number would be ignored
    await one.bell.until(lambda: three.key in one.mesh.peers)


async def test_own_key_among_the_members_is_ignored(lan: Lan) -> None:
    one = await lan.player(1)
    one.mesh.set_members({one.key: [one.address]})
    assert [task for task in asyncio.all_tasks() if task.get_name().startswith("dial")] == []


async def test_handler_mistakes_are_reported_and_the_link_lives(lan: Lan) -> None:
    one, two = await lan.player(1), await lan.player(2)
    reports: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: reports.append(context["exception"]))
    await soon(one.mesh.connect(two.address))
    await two.bell.until(lambda: two.ups == [one.key])
    kept, calls = two.frame, itertools.count()

    def frame(peer: bytes, frame: object) -> None:
        if next(calls) == 0:
            raise ZeroDivisionError
        kept(peer, frame)  # type: ignore[arg-type]

    two.frame = frame  # type: ignore[method-assign]
    one.mesh.send(two.key, KNOCK)
    one.mesh.send(two.key, Refuse(code="second"))
    await two.bell.until(lambda: two.frames == [(one.key, Refuse(code="second"))])
    assert [type(report) for report in reports] == [ZeroDivisionError]


async def test_a_bye_of_unknown_meaning_is_still_a_goodbye(lan: Lan) -> None:
    one, two = await lan.player(1), await lan.player(2)
    await soon(one.mesh.connect(two.address))
    await two.bell.until(lambda: two.ups == [one.key])
    one.mesh.send(two.key, Bye(code="moon_full"))
    await two.bell.until(lambda: two.downs == [(one.key, CloseCode.DONE)])


# -- strangers that link and say nothing


async def test_so_many_strangers_may_be_linked_and_members_come_in_all_the_same(
    lan: Lan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mesh_module, "MAX_STRANGERS", 3)
    host = await lan.player(1)
    strangers = [await lan.player(number) for number in range(2, 6)]
    for stranger in strangers[:3]:
        await soon(stranger.mesh.connect(host.address))
    with pytest.raises(NetworkProblem) as caught:
        await soon(strangers[3].mesh.connect(host.address))
    assert caught.value.code == "busy"
    host.mesh.set_members({strangers[3].key: []})
    await soon(strangers[3].mesh.connect(host.address))
    assert len(host.mesh.peers) == 4


async def test_a_silent_stranger_gives_way_to_the_next_and_a_guest_does_not(
    lan: Lan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mesh_module, "MAX_STRANGERS", 2)
    monkeypatch.setattr(mesh_module, "KNOCK_SECONDS", 0.0)
    host = await lan.player(1)
    guest, silent, knocking = [await lan.player(number) for number in range(2, 5)]
    host.mesh.is_guest = lambda key: key == guest.key
    for stranger in (guest, silent, knocking):
        await soon(stranger.mesh.connect(host.address))
    await silent.bell.until(lambda: silent.downs == [(host.key, CloseCode.REFUSED)])
    await host.bell.until(lambda: set(host.mesh.peers) == {guest.key, knocking.key})


async def test_a_host_on_the_network_fills_only_a_part_of_the_places(
    lan: Lan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mesh_module, "is_loopback", lambda address: False)
    host = await lan.player(1)
    strangers = [await lan.player(number) for number in range(2, 3 + mesh_module.MAX_STRANGERS_PER_HOST)]
    for stranger in strangers[:-1]:
        await soon(stranger.mesh.connect(host.address))
    with pytest.raises(NetworkProblem) as caught:
        await soon(strangers[-1].mesh.connect(host.address))
    assert caught.value.code == "busy"
    assert mesh_module.MAX_STRANGERS_PER_HOST < mesh_module.MAX_STRANGERS


async def test_a_stranger_that_is_not_at_the_door_is_unlinked_in_time(
    lan: Lan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mesh_module, "STRANGER_SECONDS", 0.0)
    monkeypatch.setattr(mesh_module, "TICK_SECONDS", 0.01)
    host, silent, guest = [await lan.player(number) for number in range(1, 4)]
    host.mesh.is_guest = lambda key: key == guest.key
    await soon(guest.mesh.connect(host.address))
    await soon(silent.mesh.connect(host.address))
    await silent.bell.until(lambda: silent.downs == [(host.key, CloseCode.REFUSED)])
    assert guest.downs == [] and set(host.mesh.peers) <= {guest.key, silent.key}


async def test_address_lists_of_made_up_peers_push_nobodys_out_and_go_no_further(
    lan: Lan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mesh_module, "MAX_CARDS", 8)
    host, member, stranger = [await lan.player(number) for number in range(1, 4)]
    host.mesh.set_members({member.key: [member.address]})
    await host.bell.until(lambda: member.key in host.mesh.peers)
    member.mesh.announce([member.address])
    await soon(stranger.mesh.connect(host.address))
    stranger.mesh.announce([stranger.address])
    for number in range(10, 40):
        card = make_addresses(key_of(number), 1, [("127.0.0.1", 9)])
        host.mesh._take_card(stranger.key, card)
        host.mesh._take_card(member.key, card)
    async with asyncio.timeout(8):
        while member.key not in host.mesh._cards:  # noqa: ASYNC110 - a card taken in tells nobody
            await asyncio.sleep(0)
    for number in range(40, 60):
        host.mesh._take_card(member.key, make_addresses(key_of(number), 1, [("127.0.0.1", 9)]))
    assert len(host.mesh._cards) <= 8 and member.key in host.mesh._cards
    made_up = {public_bytes(key_of(number)) for number in range(10, 60)}
    assert not made_up & set(stranger.mesh._cards)


async def test_address_lists_are_checked_only_so_often_for_one_who_brings_them(
    lan: Lan, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, member = await lan.player(1), await lan.player(2)
    host.mesh.set_members({member.key: []})
    checked: list[object] = []
    monkeypatch.setattr(mesh_module, "is_from_author", lambda card: checked.append(card) or False)
    host.mesh._checks._of[member.key] = Allowance(CARDS_BURST, 0.0)
    for number in range(500):
        host.mesh._take_card(member.key, make_addresses(key_of(9), number, []))
    assert len(checked) == CARDS_BURST
