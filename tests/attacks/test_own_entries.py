"""What a peer has made it does not check again; everyone else and the audit do."""

from __future__ import annotations

from collections import Counter
from random import Random

from p2p.dealing import TransparentDealing
from tests.p2p.peers import Table, fold_all
from tests.p2p.recorded import NAMES


class Counting(TransparentDealing):
    """Counts whose decks and shares it has been asked to check."""

    def __init__(self) -> None:
        self.decks = 0
        self.checked: Counter[int] = Counter()

    def check_deck(self, ground, deck):
        self.decks += 1
        return super().check_deck(ground, deck)

    def check_shares(self, ground, number, X, deck, openings, proof):  # noqa: N803
        self.checked[number] += 1
        return super().check_shares(ground, number, X, deck, openings, proof)


def test_own_shares_are_checked_by_all_others_and_by_the_audit() -> None:
    table = Table(NAMES[:3], seed=5)
    counting = {peer.me: Counting() for peer in table.peers}
    for peer in table.peers:
        peer.session.dealing = counting[peer.me]
    table.start()
    table.play()
    audit = Counting()
    session = fold_all(table.entries(), audit, Random(0), causal=True)
    assert session.current().everything().final.kind == "finished"
    for peer in table.peers:
        number = peer.round.number_of[peer.me]
        checked = counting[peer.me].checked
        assert checked[number] == 0
        assert all(checked[other] == audit.checked[other] > 0 for other in range(3) if other != number)
