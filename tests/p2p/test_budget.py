"""Allowances: what one peer may cost the others, whatever it sends."""

from __future__ import annotations

from p2p.network import budget
from p2p.network.budget import Allowance, Attention, Inflow, Rates

ANA, MALLORY = b"a" * 32, b"m" * 32
SIGNATURE = bytes(64)


def entries(count: int, size: int = 200, first: int = 0) -> list[tuple[bytes, bytes]]:
    return [(number.to_bytes(4, "big").ljust(size, b"x"), SIGNATURE) for number in range(first, first + count)]


def test_an_allowance_gives_its_burst_at_once_and_its_rate_afterwards() -> None:
    allowance = Allowance(10, 2)
    assert sum(allowance.take(1, 0.0) for _ in range(100)) == 10
    assert allowance.wait_s(0.0) == 0.5
    assert sum(allowance.take(1, 5.0) for _ in range(100)) == 10
    assert sum(allowance.take(1, 7.0) for _ in range(100)) == 4
    assert sum(allowance.take(1, 1000.0) for _ in range(100)) == 10


def test_an_allowance_can_run_into_debt_and_a_clock_that_goes_back_gives_nothing() -> None:
    allowance = Allowance(10, 1)
    allowance.spend(30, 0.0)
    assert not allowance.allows(19.0)
    assert not allowance.allows(5.0)
    assert allowance.allows(50.0)


def test_whoever_sends_one_entry_is_served_in_the_next_step_whatever_others_send() -> None:
    inflow = Inflow()
    inflow.put(MALLORY, entries(5000))
    inflow.put(ANA, entries(1))
    first = dict(inflow.take(0.0))
    assert first[ANA] == entries(1)
    assert sum(map(len, first.values())) <= budget.STEP_ENTRIES + 1


def test_entries_of_a_peer_keep_their_order_over_steps() -> None:
    inflow = Inflow()
    inflow.put(MALLORY, entries(1000))
    came: list[tuple[bytes, bytes]] = []
    while inflow.wait_s(0.0) is not None:
        for _, some in inflow.take(0.0):
            came += some
    assert came == entries(1000)


def test_a_step_takes_in_only_so_many_bytes() -> None:
    inflow = Inflow()
    inflow.put(MALLORY, entries(200, 32_000))
    (_, some), *_ = inflow.take(0.0)
    assert sum(len(data) for data, _ in some) <= budget.STEP_BYTES + 32_000


def test_new_entries_over_the_allowance_wait_and_those_of_others_do_not() -> None:
    inflow = Inflow()
    inflow.put(MALLORY, entries(20))
    inflow.charge(MALLORY, budget.ENTRIES_BURST_BYTES + budget.ENTRIES_BYTES_PER_SECOND, 0.0)
    inflow.put(ANA, entries(20))
    assert [peer for peer, _ in inflow.take(0.0)] == [ANA]
    assert inflow.flooding(0.0) == [MALLORY]
    assert 1.0 <= (inflow.wait_s(0.0) or 0.0) <= 1.1
    assert [peer for peer, _ in inflow.take(1.1)] == [MALLORY]


def test_a_debt_outlives_what_waits() -> None:
    inflow = Inflow()
    inflow.charge(MALLORY, 2 * budget.ENTRIES_BURST_BYTES, 0.0)
    inflow.put(MALLORY, entries(1))
    inflow.drop(MALLORY)
    assert inflow.wait_s(0.0) is None
    inflow.put(MALLORY, entries(1))
    assert inflow.take(0.0) == []


def test_what_waits_of_one_peer_is_bounded_by_pausing_its_link() -> None:
    inflow = Inflow()
    frames = 0
    while not inflow.is_full(MALLORY):
        inflow.put(MALLORY, entries(100))
        frames += 1
    per_frame = 100 * (200 + budget.WAITING_OVERHEAD_BYTES)
    assert (frames - 1) * per_frame < budget.MAX_WAITING_BYTES <= frames * per_frame
    assert not inflow.is_full(ANA)
    inflow.take(0.0)
    inflow.take(0.0)
    assert not inflow.is_full(MALLORY)


def test_in_the_long_run_a_flood_of_new_entries_gets_its_rate_and_no_more() -> None:
    inflow = Inflow()
    kept, cost = 0, 200 + budget.ENTRY_OVERHEAD_BYTES
    for tenth in range(6000):
        now = tenth / 10
        while not inflow.is_full(MALLORY):
            inflow.put(MALLORY, entries(100))
        for peer, some in inflow.take(now):
            kept += len(some)
            inflow.charge(peer, len(some) * cost, now)
    most = budget.ENTRIES_BURST_BYTES + 600 * budget.ENTRIES_BYTES_PER_SECOND
    assert kept * cost <= most + (budget.STEP_ENTRIES + 1) * cost
    assert kept * cost >= 0.9 * most


def test_each_rate_is_its_own_and_as_many_as_are_wanted() -> None:
    rates = Rates(5, 1, 3)
    assert sum(rates[MALLORY].take(1, 0.0) for _ in range(20)) == 5
    assert rates[ANA].take(1, 0.0)
    for number in range(50):
        rates[bytes([number])].take(1, 0.0)
    assert len(rates._of) == 3


def test_every_kind_of_frame_that_makes_work_has_an_allowance() -> None:
    attention = Attention(64)
    for rates, burst, per_second in (
        (attention.answers, budget.ANSWERS_BURST_BYTES, budget.ANSWERS_BYTES_PER_SECOND),
        (attention.changes, budget.CHANGES_BURST, budget.CHANGES_PER_SECOND),
        (attention.lines, budget.LINES_BURST, budget.LINES_PER_SECOND),
        (attention.heard, budget.RELAYED_LINES_BURST, budget.RELAYED_LINES_PER_SECOND),
    ):
        assert (rates[ANA].burst, rates[ANA].per_second) == (burst, per_second)
    questions = sum(attention.answers[ANA].take(budget.QUESTION_BYTES, 0.0) for _ in range(10_000))
    assert questions == budget.ANSWERS_BURST_BYTES // budget.QUESTION_BYTES
