"""For each check of the fold: a cheat that it alone stops (or together with the check named beside it)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from engine import game
from engine.moves import Flip, Play, Swap
from engine.rules import RuleSet
from p2p.dealing import TransparentDealing
from p2p.dealing.interface import DealingError
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry
from p2p.rounds import judge
from p2p.rounds import round as round_module
from p2p.rounds.phases import Phase
from p2p.rounds.round import MAX_SWAPS
from tests.attacks.scenes import (
    Found,
    Scene,
    arranging,
    asked,
    choosing,
    is_flipping,
    named,
    playing,
    sitting,
    stopped,
)
from tests.p2p.cheats import changed, flipped, in_turn, legal_move
from tests.p2p.peers import Peer
from tests.p2p.recorded import is_in


@dataclass(frozen=True)
class Case:
    """A cheat, the code that everybody has to find, and the checks without which nobody would."""

    checks: tuple[str, ...]
    """Sites as ``module.function.number``; several where one would do and the other is a second line."""
    code: str
    run: Callable[[], Found]
    name: str

    def __str__(self) -> str:
        return self.name


CASES: list[Case] = []


def case(code: str, *checks: str) -> Callable[[Callable[[], Found]], Callable[[], Found]]:
    """Lists a function as a case."""

    def add(run: Callable[[], Found]) -> Callable[[], Found]:
        CASES.append(Case(checks, code, run, run.__name__))
        return run

    return add


def known(name: str, code: str, *checks: str, number: int = -1) -> None:
    """Lists one of the cheats of the tests of the table."""
    CASES.append(Case(checks, code, named(name, number), name.replace(" ", "_")))


# -- the entry and its place ---------------------------------------------------------------------

known("no such form", "bad_schema", "rounds.judge._check.0")
known("kind out of place", "bad_kind", "rounds.judge._check.2")
known("share before all agreed", "share_before_agreed", "rounds.judge._check.2")
known("seen itself", "bad_seen", "rounds.fold.Fold._bad_seen")
known("seen out of order", "bad_seen", "rounds.fold.Fold._bad_seen")
known("two keys under one number", "fork", "rounds.fold.Fold._note_fork")
known("two moves under one number", "fork", "rounds.fold.Fold._note_fork")


@case("bad_kind", "rounds.judge._check.3")
def more_entries_than_a_round_may_have() -> Found:
    scene = arranging()
    limit, round_module.MAX_ROUND_ENTRIES = round_module.MAX_ROUND_ENTRIES, 12  # type: ignore[misc]
    try:
        for _ in range(7):
            scene.cheater.write(_swap(scene.cheater))
        scene.table.settle()
    finally:
        round_module.MAX_ROUND_ENTRIES = limit  # type: ignore[misc]
    return scene.found()


def _swap(peer: Peer) -> e.Body:
    state = peer.state()
    return peer.session.intend(Swap(peer.seat, state.hands[peer.seat][0], state.ups[peer.seat][0]))


@case("bad_kind", "rounds.judge._check_author.0")
def shuffles_before_its_turn() -> Found:
    scene = stopped(e.Deck, 1)
    scene.write(e.Deck(scene.contract, bytes(32), bytes(52)))
    return scene.found()


@case("bad_kind", "rounds.judge._check_author.1", "rounds.judge._proof.1")
def proves_a_deck_it_has_not_made() -> Found:
    scene = stopped(e.Deck, 1)
    scene.write(e.Proof(scene.contract, bytes(32)))
    return scene.found()


@case("bad_kind", "rounds.judge._check_author.2")
def answers_when_another_is_asked() -> Found:
    scene = asked()
    scene.write(e.Pass(scene.contract))
    return scene.found()


@case("illegal_move", "rounds.judge._check_author.2", "rounds.judge._apply.0")
def picks_up_when_another_is_in_turn() -> Found:
    scene = playing(lambda peer: is_in(peer, Phase.PLAY) and peer.state().turn != peer.seat and _pile(peer))
    lens = scene.cheater.round.everything()
    parent = judge.chain_id(scene.cheater.round, lens.tip)
    digest = lens.digest(lens.tip)
    scene.write(e.Move(scene.contract, lens.tip.turn + 1, parent, digest, "pick_up", [], [], [], b""))
    return scene.found()


def _pile(peer: Peer) -> bool:
    return bool(peer.state().pile)


# -- offers and keys -----------------------------------------------------------------------------


@case("second_accept", "rounds.judge._accept.0")
def accepts_twice() -> Found:
    scene = stopped(e.Accept, 0)
    scene.write(e.Accept(scene.contract, bytes(32), bytes(32)))
    return scene.found()


@case("second_accept", "rounds.judge._decline.0")
def declines_what_it_has_accepted() -> Found:
    scene = stopped(e.Accept, 0)
    scene.write(e.Decline(scene.contract, "no"))
    return scene.found()


known("second accept", "second_accept", "rounds.judge._check.2")


@case("bad_kind", "rounds.judge._key.0")
def gives_two_keys() -> Found:
    scene = stopped(e.Key, 0)
    scene.write(_own_last(scene, "key").body)
    return scene.found()


def _own_last(scene: Scene, kind: str) -> Entry:
    line = scene.cheater.session.feeds.line[scene.cheater.me]
    return next(fact.entry for fact in reversed(line) if fact.entry.kind == kind)


@case("bad_kind", "rounds.judge._key.1")
def gives_a_key_before_all_have_accepted() -> Found:
    # In a dead attempt the table of phases has a place for keys, since they may have been under way.
    scene = stopped(e.Accept, 0)
    scene.honest.on_write = None
    scene.honest.write(e.Decline(scene.contract, "not_now"))
    scene.table.settle()
    own = scene.cheater.session._own[scene.contract]
    part = scene.cheater.dealing.make_key(scene.cheater.round.ground, 0, own.seed)
    scene.write(e.Key(scene.contract, part.X, part.Y, part.proof, own.coin))
    return scene.found()


known("another coin", "bad_commitment", "rounds.judge._key.2")
known("key without proof", "bad_key", "rounds.judge._key.3")

# -- decks ---------------------------------------------------------------------------------------


@case("bad_kind", "rounds.judge._deck.0")
def shuffles_before_all_keys_are_there() -> Found:
    # Possible in a dead attempt alone; see above.
    scene = stopped(e.Key, 0)
    scene.honest.on_write = None
    scene.honest.write(e.Leave(scene.contract, []))
    scene.table.settle()
    scene.write(e.Deck(scene.contract, b"", bytes(104)))
    return scene.found()


known("deck on nothing", "bad_deck", "rounds.judge._deck.1")


@case("bad_deck", "rounds.judge._deck.2")
def shuffles_under_another_key_than_the_deck_before() -> Found:
    # The last one has signed two keys; who shuffles second takes the one that the first did not take.
    scene = stopped(e.Deck, 1, players=3)
    first, second, third = (scene.table.by_number(number) for number in range(3))
    first.on_write = None
    first.work()
    deck = next(entry for entry in first.sent if entry.kind == "deck")
    before = next(fact.entry for fact in third.session.feeds.line[third.me] if fact.entry.kind == "key")
    parts = (third.dealing.make_key(scene.cheater.round.ground, 2, bytes([seed]) * 32) for seed in range(50))
    versions = (
        third.sign_again(before, changed(before.body, x=part.X, y=part.Y, proof=part.proof)) for part in parts
    )
    other = next(version for version in versions if version.id < before.id)
    second.session.receive(deck)
    second.session.receive(other)
    made = second.dealing.shuffle(
        second.round.ground, 1, bytes(32), second.round.everything().deck_of(0).joint, deck.body.deck
    )
    entry = second.sign(e.Deck(scene.contract, deck.id, made.deck))
    judged = third.session
    for one in (deck, other, entry):
        judged.receive(one)
    scene.table.peers = [third, second]
    return scene.found() - {(False, "fork")}


@case("bad_deck", "rounds.judge._deck.3")
def names_a_deck_before_the_first_one() -> Found:
    scene = sitting(number=0)

    def write(peer: Peer, body: e.Body) -> list[e.Body]:
        return [changed(body, previous=bytes(32))] if isinstance(body, e.Deck) else [body]

    scene.cheater.on_write = write
    scene.table.start()
    return scene.found()


class _CancellingKeys(TransparentDealing):
    """Finds that the keys add up to nothing, as all players together could bring about."""

    def joint_key(self, keys: object) -> bytes:
        raise DealingError("joint_key", "the keys do not add up to a joint key")


@case("bad_deck", "rounds.judge._deck.4")
def shuffles_under_keys_that_cancel_out() -> Found:
    scene = sitting(number=0)
    scene.honest.session.dealing = _CancellingKeys()
    scene.table.start()
    return scene.found()


known("deck of no points", "bad_deck", "rounds.judge._deck.5")


@case("bad_kind", "rounds.judge._proof.0")
def proves_twice() -> Found:
    scene = stopped(e.Deck, 0)
    scene.write(_own_last(scene, "proof").body)
    return scene.found()


known("false proof", "bad_proof", "rounds.fold.Fold.note_proof", "rounds.judge._agreed.1")
known("doubled card", "bad_proof", "rounds.fold.Fold.note_proof", "rounds.judge._agreed.1")


@case("bad_agreed", "rounds.judge._agreed.0")
def agrees_twice() -> Found:
    scene = stopped(e.Agreed, 0)
    scene.write(_own_last(scene, "agreed").body)
    return scene.found()


known("another agreement", "bad_agreed", "rounds.judge._agreed.1")

# -- shares --------------------------------------------------------------------------------------


def _deal_shares(scene: Scene) -> e.Shares:
    body = _own_last(scene, "shares").body
    assert isinstance(body, e.Shares)
    return body


@case("bad_schema", "rounds.judge._shares.1")
def gives_positions_that_do_not_ascend() -> Found:
    scene = stopped(e.Shares, 0)
    earlier = _deal_shares(scene)
    cause, positions, shares = earlier.openings[0]
    scene.cheater.put(scene.cheater.sign(changed(earlier, openings=[(cause, positions[::-1], shares[::-1])])))
    scene.table.settle()
    return scene.found()


known("share for an uncalled card", "uncalled_share", "rounds.judge._shares.2")


@case("uncalled_share", "rounds.judge._shares.3")
def gives_shares_twice() -> Found:
    scene = stopped(e.Shares, 0)
    scene.write(_deal_shares(scene))
    return scene.found()


known("false share", "bad_share", "rounds.judge._shares.4")
known("false proof of shares", "bad_share", "rounds.judge._shares.4")


def _hand_play(scene: Scene) -> e.Move:
    """A legal play of closed cards from the hand."""
    peer = scene.cheater
    options = [m for m in game.actions(peer.state()) if isinstance(m, Play)]
    body = peer.session.intend(options[0])
    assert isinstance(body, e.Move)
    assert body.shares
    return body


def _can_play_closed(peer: Peer) -> bool:
    if not in_turn(peer) or not peer.state().hands[peer.seat]:
        return False
    state = peer.session.current().everything().state
    options = [m for m in game.actions(peer.state()) if isinstance(m, Play)]
    return bool(options) and not state.is_public(options[0].positions[0])


@case("bad_schema", "rounds.judge._open_own.0")
def plays_a_closed_card_without_its_share() -> Found:
    scene = playing(_can_play_closed)
    scene.write(changed(_hand_play(scene), positions=[], shares=[], proof=b""))
    return scene.found()


@case("bad_schema", "rounds.judge._open_own.1")
def proves_nothing() -> Found:
    scene = playing(lambda peer: in_turn(peer) and _pile(peer))
    parent = legal_move(scene.table, scene.cheater)
    scene.write(changed(parent, action="pick_up", places=[], positions=[], shares=[], proof=bytes(96)))
    return scene.found()


@case("bad_share", "rounds.judge._open_own.2")
def plays_a_card_with_a_false_proof() -> Found:
    scene = playing(_can_play_closed)
    play = _hand_play(scene)
    scene.write(changed(play, proof=flipped(play.proof)))
    return scene.found()


@case("illegal_move", "rounds.judge._open_own.3")
def plays_a_card_that_it_cannot_know() -> Found:
    # The others have not yet given their shares of the card it has drawn.
    scene = playing(_can_play_closed)
    peer, other = scene.cheater, scene.honest
    writes = lambda one, body: [] if isinstance(body, e.Shares) else [body]  # noqa: E731
    other.on_write = writes
    stock = peer.state().stock
    peer.write(peer.session.intend(next(m for m in game.actions(peer.state()) if isinstance(m, Play))))
    scene.table.settle()
    if other.state().turn == other.seat:
        scene.table.move(other)
        scene.table.settle()
    round_ = peer.round
    lens = round_.everything()
    position = stock[0]
    number = round_.number_of[peer.me]
    cause = judge.chain_id(round_, lens.tip)
    seed = peer.session._own[round_.contract].seed
    (opening,), proof = peer.dealing.shares(
        round_.ground, number, seed, lens.agreement.deck, [(cause, (position,))]
    )
    scene.write(
        e.Move(
            round_.contract,
            lens.tip.turn + 1,
            cause,
            lens.digest(lens.tip),
            "play",
            [position],
            [position],
            list(opening.shares),
            proof,
        )
    )
    return scene.found()


@case("bad_share", "rounds.judge._open_own.2", "rounds.judge._open_own.4")
def plays_a_card_with_a_false_share() -> Found:
    scene = playing(_can_play_closed)
    play = _hand_play(scene)
    scene.write(changed(play, shares=[flipped(share) for share in play.shares]))
    return scene.found()


# -- rearranging and the start -------------------------------------------------------------------


@case("illegal_move", "rounds.judge._swap.1")
def swaps_after_saying_ready() -> Found:
    scene = arranging()
    swap = _swap(scene.cheater)
    scene.write(e.Ready(scene.contract), swap)
    return scene.found()


@case("illegal_move", "rounds.judge._swap.2")
def swaps_without_end() -> Found:
    scene = arranging()
    for _ in range(MAX_SWAPS + 1):
        scene.cheater.write(_swap(scene.cheater))
    scene.table.settle()
    return scene.found()


@case("illegal_move", "rounds.judge._swap.3")
def swaps_with_anothers_hand() -> Found:
    scene = arranging()
    state, seat = scene.cheater.state(), scene.cheater.seat
    scene.write(e.Swap(scene.contract, state.hands[1 - seat][0], state.ups[seat][0], b"", b""))
    return scene.found()


def _choice(peer: Peer, last: bool = False) -> e.Choose:
    own = peer.state().hands[peer.seat]
    return e.Choose(peer.round.contract, sorted(own[-3:] if last else own[:3]))


@case("illegal_move", "rounds.judge._choose.1")
def chooses_after_saying_ready() -> Found:
    scene = choosing()
    scene.write(_choice(scene.cheater), e.Ready(scene.contract), _choice(scene.cheater))
    return scene.found()


@case("illegal_move", "rounds.judge._choose.2")
def chooses_without_end() -> Found:
    scene = choosing()
    bodies = [_choice(scene.cheater), _choice(scene.cheater, last=True)]
    scene.write(*[bodies[count % 2] for count in range(MAX_SWAPS + 1)])
    return scene.found()


@case("bad_kind", "rounds.judge._ready.0")
def is_ready_twice() -> Found:
    scene = arranging()
    scene.write(e.Ready(scene.contract), e.Ready(scene.contract))
    return scene.found()


@case("bad_declare", "rounds.judge._declare.1")
def declares_anothers_card() -> Found:
    scene = asked()
    scene.cheater = scene.honest
    state = scene.cheater.state()
    scene.write(e.Declare(scene.contract, state.hands[1 - scene.cheater.seat][0], b"", b""))
    return scene.found()


# -- moves ---------------------------------------------------------------------------------------

known("wrong parent", "illegal_move", "rounds.judge._move.1")
known("wrong turn", "illegal_move", "rounds.judge._move.2")
known("wrong digest", "bad_digest", "rounds.judge._move.3")
known("somebody else's card", "illegal_move", "rounds.judge._apply.0")


@case("illegal_move", "rounds.judge._move.4")
def opens_a_card_of_anothers_hand() -> Found:
    scene = playing(_can_play_closed)
    other = scene.cheater.state().hands[1 - scene.cheater.seat][0]
    scene.write(changed(_hand_play(scene), places=[other], positions=[other], shares=[bytes(32)]))
    return scene.found()


@case("bad_schema", "rounds.judge._read_action.2")
def makes_a_move_that_there_is_not() -> Found:
    scene = playing()
    scene.write(changed(legal_move(scene.table, scene.cheater), action="dance", places=[]))
    return scene.found()


@case("illegal_move", "rounds.judge._read_action.0")
def takes_a_chance_without_a_stock() -> Found:
    scene = playing(lambda peer: in_turn(peer) and not peer.state().stock)
    move = legal_move(scene.table, scene.cheater)
    scene.write(changed(move, action="chance", places=[], positions=[], shares=[], proof=b""))
    return scene.found()


@case("illegal_move", "rounds.judge._read_action.1")
def flips_a_slot_that_there_is_not() -> Found:
    scene = playing()
    move = legal_move(scene.table, scene.cheater)
    scene.write(changed(move, action="flip", places=[7], positions=[], shares=[], proof=b""))
    return scene.found()


def _flip(scene: Scene) -> e.Move:
    flip = next(m for m in game.actions(scene.cheater.state()) if isinstance(m, Flip))
    body = scene.cheater.session.intend(flip)
    assert isinstance(body, e.Move)
    return body


@case("bad_schema", "rounds.judge._check_flip_share.0")
def flips_without_its_share() -> Found:
    scene = _flipping()
    scene.write(changed(_flip(scene), positions=[], shares=[]))
    return scene.found()


@case("bad_share", "rounds.judge._check_flip_share.1")
def flips_with_a_false_share() -> Found:
    scene = _flipping()
    flip = _flip(scene)
    scene.write(changed(flip, proof=flipped(flip.proof)))
    return scene.found()


def _flipping() -> Scene:
    for seed in range(30):
        for number in (0, 1):
            try:
                return playing(is_flipping, number=number, seed=seed)
            except AssertionError:
                continue
    raise AssertionError("nobody ever comes to flip")


# -- endings -------------------------------------------------------------------------------------

known("wrong result", "bad_result", "rounds.judge._result.0")


@case("bad_result", "rounds.judge._result.1")
def signs_a_result_twice() -> Found:
    scene = stopped(e.Result, 0)
    scene.write(_own_last(scene, "result").body)
    return scene.found()


@case("bad_kind", "rounds.judge._reveal.0")
def reveals_twice() -> Found:
    scene = stopped(e.Reveal, 0)
    scene.write(_own_last(scene, "reveal").body)
    return scene.found()


known("wrong seed", "bad_commitment", "rounds.judge._reveal.1")

# -- the table -----------------------------------------------------------------------------------

GIL = Peer("Gil")


def _at_table(*bodies: e.Body, number: int = 0) -> Found:
    scene = sitting()
    scene.cheater = scene.table.peers[number]
    scene.write(*bodies)
    return scene.found()


@case("bad_kind", "rounds.members.check_admission.0")
def admits_a_key_that_is_nobodys() -> Found:
    return _at_table(e.Admit(bytes([1]) + bytes(31), "Gil", b""))


@case("bad_kind", "rounds.members.check_admission.0", "rounds.members.check_admission.4")
def admits_somebody_twice() -> Found:
    scene = sitting()
    other = scene.honest
    scene.write(e.Admit(other.me, other.name, b""))
    return scene.found()


@case("bad_kind", "rounds.members.check_admission.1")
def admits_under_an_operator_who_is_not_there() -> Found:
    return _at_table(e.Admit(GIL.me, "Gil", Peer("Hal").me))


@case("bad_kind", "rounds.members.check_admission.2")
def admits_a_name_in_two_spellings() -> Found:
    return _at_table(e.Admit(GIL.me, " Gil", b""))


@case("bad_kind", "rounds.members.check_admission.3")
def admits_a_name_that_is_none() -> Found:
    return _at_table(e.Admit(GIL.me, "\u202egil", b""))


@case("bad_kind", "rounds.members.check_admission.4")
def admits_a_name_that_is_taken() -> Found:
    scene = sitting()
    scene.write(e.Admit(GIL.me, scene.honest.name.upper(), b""))
    return scene.found()


def _start(**values: object) -> Found:
    scene = sitting()
    host = scene.table.peers[0]
    scene.cheater = host
    offer = host.session.offer(RuleSet(), [peer.me for peer in scene.table.peers])
    scene.write(changed(offer, **values))
    return scene.found()


@case("bad_start", "rounds.members.check_start.0")
def offers_a_roster_in_another_order() -> Found:
    scene = sitting()
    offer = scene.cheater.session.offer(RuleSet(), [peer.me for peer in scene.table.peers])
    assert isinstance(offer, e.Start)
    scene.write(changed(offer, roster=offer.roster[::-1]))
    return scene.found()


@case("bad_start", "rounds.members.check_start.1")
def offers_a_roster_with_another_name() -> Found:
    scene = sitting()
    offer = scene.cheater.session.offer(RuleSet(), [peer.me for peer in scene.table.peers])
    assert isinstance(offer, e.Start)
    (key, _, operator), *rest = offer.roster
    scene.write(changed(offer, roster=[(key, "Zoe", operator), *rest]))
    return scene.found()


@case("bad_start", "rounds.members.check_start.2")
def offers_a_round_to_two_of_one_name() -> Found:
    scene = sitting(3)
    first, second, _ = scene.table.peers
    # Two members let somebody in at once; neither can know of the other.
    first.write(e.Admit(GIL.me, "Gil", b""))
    second.write(e.Admit(Peer("Hal").me, "gil", b""))
    scene.table.settle()
    scene.cheater = first
    members = first.session.members()
    roster = [(key, member.name, member.operator) for key, member in sorted(members.items())]
    offer = first.session.offer(RuleSet(), [peer.me for peer in scene.table.peers])
    scene.write(changed(offer, roster=roster))
    return scene.found()


@case("bad_start", "rounds.members.check_start.3")
def offers_a_round_that_leaves_no_time() -> Found:
    return _start(limits=[0, 0, 0])


@case("bad_start", "rounds.members.check_start.4")
def offers_a_round_out_of_turn() -> Found:
    return _start(round=2)


@case("bad_start", "rounds.members.check_start.5")
def chooses_who_deals() -> Found:
    return _start(seats=[0, 1], dealer=[0])


@case("bad_start", "rounds.members.check_start.6")
def offers_escrow() -> Found:
    return _start(escrow=True)


@case("bad_start", "rounds.members.check_start.7")
def offers_rules_that_are_none() -> Found:
    return _start(rules=[("no_such_option", "1")])


@case("bad_start", "rounds.members.check_start.8")
def offers_another_number_of_packs() -> Found:
    return _start(packs=2)


@case("bad_schema", "rounds.fold.Fold._judge_at_table.0")
def admits_in_no_form() -> Found:
    scene = sitting()
    scene.cheater.put(scene.cheater.sign_raw("admit", [b"no key"]))
    scene.table.settle()
    return scene.found()


@case("bad_kind", "rounds.fold.Fold.check_admission.0")
def admits_more_than_a_table_may_have() -> Found:
    scene = sitting()
    admitted = len(scene.table.peers) - 1
    for number in range(e.MAX_ADMISSIONS - admitted + 1):
        guest = Peer(f"Guest {number}")
        scene.cheater.write(e.Admit(guest.me, guest.name, b""))
    scene.table.settle()
    return scene.found()


@case("bad_kind", "rounds.fold.Fold._judge_at_table.2")
def dismisses_somebody_in_a_round() -> Found:
    scene = arranging()
    scene.write(e.Dismiss(scene.honest.me, "x"))
    return scene.found()


@case("bad_kind", "rounds.fold.Fold._judge_at_table.3")
def leaves_the_table_in_a_round() -> Found:
    scene = arranging()
    scene.write(e.Leave(scene.cheater.session.table, []))
    return scene.found()


@case("bad_kind", "rounds.fold.Fold._require_member.0")
def admits_after_being_sent_away() -> Found:
    scene = sitting()
    host, guest = scene.table.peers
    scene.cheater = guest
    host.write(e.Dismiss(guest.me, "x"))
    scene.table.settle()
    scene.write(e.Admit(GIL.me, "Gil", b""))
    return scene.found()


@case("bad_start", "rounds.fold.Fold._judge_start.1")
def offers_a_round_while_one_goes_on() -> Found:
    scene = sitting()
    offer = scene.cheater.session.offer(RuleSet(), [peer.me for peer in scene.table.peers])
    scene.table.start()
    scene.write(msgspec.structs.replace(offer))
    return scene.found()
