"""The verdict on a saved round (docs/protocol.md, 10): the checks of play once more, and what seeds add.

No network, no clock, no identity of its own. ``verify`` folds the entries through the very code that judged
them live, then opens every card from the revealed seeds and judges what was hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine import game
from engine.errors import Sentence
from engine.moves import Open
from engine.state import GameState
from p2p.dealing import Dealing, ElGamalDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry, signature_fits
from p2p.feeds.facts import Fact, body_of
from p2p.feeds.faults import ON_RECORD_ONLY, Fault
from p2p.rounds.chain import Deal, Ending, Node
from p2p.rounds.fold import Fold, settled_by_all
from p2p.rounds.news import moves_of
from p2p.rounds.phases import Phase
from p2p.rounds.round import Lens, Round
from p2p.rounds.roundfile import DamagedRound, RoundFile, read

FAIR: Final = "fair"
CHEATING: Final = "cheating"
UNPROVEN: Final = "unproven"
DAMAGED: Final = "damaged"


@dataclass(frozen=True, slots=True)
class AuditedPlayer:
    """A player of the round: the name it had, its key, seat (None before the coins), and who ran it."""

    name: str
    key: bytes
    seat: int | None
    bot: bool


@dataclass(frozen=True, slots=True)
class AuditedFault:
    """A breach: whose, its code, the entry that shows it, and the sentence (``player`` is the name)."""

    player: str
    code: str
    entry: str
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a round file proves. ``verdict``: ``fair``, ``cheating``, ``unproven`` or ``damaged``."""

    verdict: str
    round: int
    players: tuple[AuditedPlayer, ...]
    finish: tuple[str, ...]
    shithead: str | None
    faults: tuple[AuditedFault, ...]
    checks: dict[str, int]
    complete: Sentence
    """How far the file goes: who has signed the result, or where it stops."""
    notes: tuple[Sentence, ...]
    ending: str = ""
    contract: bytes = b""
    left: tuple[str, ...] = ()
    """Who left the round without naming a true debt of somebody else."""
    gave_up: tuple[str, ...] = ()
    """Who ended the round for a debt that was true."""
    debtors: tuple[str, ...] = ()
    """For whose debts it was ended."""


NO_CHECKS: Final = {"entries": 0, "signatures": 0, "shuffles": 0, "shares": 0, "moves": 0, "reveals": 0}


def verify_file(path: Path, dealing: Dealing | None = None) -> Verdict:
    """The verdict on a round file; raises ``NotARound`` where there is none to judge."""
    try:
        file = read(path)
    except DamagedRound as damage:
        return _damaged(damage.sentence)
    return verify(file, dealing)


def _damaged(sentence: Sentence, checks: dict[str, int] | None = None) -> Verdict:
    return Verdict(DAMAGED, 0, (), (), None, (), checks or dict(NO_CHECKS), sentence, ())


def verify(file: RoundFile, dealing: Dealing | None = None) -> Verdict:
    """The verdict on the entries of one file."""
    entries = file.entries
    checks = {**NO_CHECKS, "entries": len(entries)}
    for number, entry in enumerate(entries):
        if not signature_fits(entry):
            values: dict[str, object] = {"number": number + 1, "author": entry.author[:4].hex(), "seq": entry.seq}
            return _damaged(
                Sentence(
                    "entry_changed",
                    "Entry {number} of the file ({author}, number {seq}) is not what its author signed.",
                    values,
                ),
                checks,
            )
        checks["signatures"] += 1
    start = next((entry for entry in entries if entry.id == file.head.contract), None)
    if start is None or start.kind != "start":
        return _damaged(Sentence("no_start", "The file does not hold the start of its round.", {}), checks)
    folded = fold(entries, start.table, dealing or ElGamalDealing(), file.head.contract)
    round_ = folded.rounds.get(file.head.contract)
    if round_ is None:
        return _damaged(
            Sentence("no_offer", "The start of the round does not follow from what the file holds.", {}), checks
        )
    return _judge(folded, round_, entries, checks)


def fold(entries: Sequence[Entry], table: bytes, dealing: Dealing, contract: bytes) -> Fold:
    """A fold that has taken in all entries and verified all proofs of the round ``contract``.

    Of the rounds before it those that all their players have signed are taken as they ended, without the
    arithmetic of their cards: that is for their own files to prove, and a late file would take minutes.
    """
    folded = Fold(table, dealing)
    folded.settled = settled_by_all(entries) - {contract}
    for entry in entries:
        folded.receive(entry)
        # Only when something waits for them, so that all proofs of a round are one batch.
        while folded.waits_for_proofs and (job := folded.job()) is not None:
            folded.finish(job, job.run())
    for round_ in folded.rounds.values():
        # Proofs of an attempt that died early are worth checking too: they may name a culprit.
        unverified = round_.everything().unverified
        for fact, statement, joint in unverified:
            bad = dealing.check_proofs(round_.ground, joint, [statement])
            folded.note_proof(round_, fact, good=not bad)
    return folded


def _judge(folded: Fold, round_: Round, entries: Sequence[Entry], checks: dict[str, int]) -> Verdict:
    lens = round_.everything()
    deal = lens.agreement
    names = dict(zip(round_.roster, round_.names, strict=True))
    hidden = _hidden_breaches(folded, round_, lens)
    faults = (*lens.faults, *round_.on_record, *hidden)
    _count(round_, lens, checks)
    unfolded = folded.missing()
    final = lens.final
    unrevealed = [n for n in lens.revealers if lens.first("reveal", n) is None]
    verdict = FAIR
    if faults:
        verdict = CHEATING
    elif round_.is_foreign or final is None or unfolded or unrevealed or final.kind not in ("finished", "stalled"):
        verdict = UNPROVEN
    ending = final or lens.ending
    return Verdict(
        verdict=verdict,
        round=round_.terms.round,
        players=tuple(
            AuditedPlayer(
                name,
                key,
                deal.seat_of[round_.number_of[key]] if deal is not None else None,
                bool(round_.terms.roster[round_.number_of[key]][2]),
            )
            for key, name in names.items()
        ),
        finish=tuple(round_.names[number] for number in ending.finish) if ending is not None else (),
        shithead=None if ending is None or ending.shithead is None else round_.names[ending.shithead],
        faults=tuple(_audited(fault, names) for fault in faults),
        checks=checks,
        complete=_complete(round_, lens, entries),
        notes=_notes(folded, round_, final, unrevealed),
        ending=ending.kind if ending is not None else "",
        contract=round_.contract,
        left=_gone(round_, ending, "left"),
        gave_up=_gone(round_, ending, "owed"),
        debtors=()
        if ending is None
        else tuple(round_.names[number] for number in sorted({number for number, _ in ending.debts})),
    )


def _gone(round_: Round, ending: Ending | None, how: str) -> tuple[str, ...]:
    """Names of those who went, ``left`` or ``owed`` as D20 has it."""
    return () if ending is None else tuple(round_.names[number] for number, was, _ in ending.gone if was == how)


def _notes(folded: Fold, round_: Round, final: Ending | None, unrevealed: Sequence[int]) -> tuple[Sentence, ...]:
    """What else has to be said of a verdict: why it proves less than it might, and what it rests on."""
    notes: list[Sentence] = []
    unfolded = folded.missing()
    if round_.is_foreign:
        notes.append(
            Sentence("foreign", "The round was played by the rules of another version of the program.", {})
        )
    for number in unrevealed:
        notes.append(
            Sentence(
                "no_reveal",
                "Here {name} has not opened the seed of the deal, so hidden cards cannot be checked.",
                {"name": round_.names[number]},
            )
        )
    if unfolded:
        notes.append(
            Sentence("gaps", "{count} entries that others build on are not in the file.", {"count": len(unfolded)})
        )
    if final is not None and final.kind in ("unfinished", "forfeit"):
        notes.append(
            Sentence(
                "stopped",
                "The round was stopped before its end, so the seeds stay closed. What was played until then "
                "kept every rule that can be checked in the open.",
                {},
            )
        )
    taken = len(folded.settled & folded.rounds.keys())
    if taken:
        notes.append(
            Sentence(
                "other_rounds",
                "How other rounds in the file ended ({count}) is taken as all their players signed it; their "
                "own files prove their cards.",
                {"count": taken},
            )
        )
    return tuple(notes)


def _audited(fault: Fault, names: dict[bytes, str]) -> AuditedFault:
    sentence = fault.sentence
    name = names.get(fault.player, fault.player[:4].hex())
    values = {**sentence.values, "player": name}
    return AuditedFault(
        name, fault.code, fault.evidence[-1].hex(), Sentence(sentence.code, sentence.template, values)
    )


def _count(round_: Round, lens: Lens, checks: dict[str, int]) -> None:
    checks["shuffles"] = sum(1 for good in round_.verified.values() if good)
    checks["shares"] = sum(len(given) for given in round_.given.values())
    checks["moves"] = sum(len(facts) for facts in round_.facts["move"])
    checks["reveals"] = len(lens.each("reveal"))


def _complete(round_: Round, lens: Lens, entries: Sequence[Entry]) -> Sentence:
    final = lens.final
    if final is None:
        last = entries[-1]
        number = round_.number_of.get(last.author)
        name = round_.names[number] if number is not None else last.author[:4].hex()
        return Sentence(
            "stops_after",
            "The file stops before all have signed the result; the last thing in it is by {name}.",
            {"seq": last.seq, "name": name},
        )
    signed = {
        number
        for number in round_.numbers
        for fact in lens.all("result", number)
        if round_.results[fact.id].digest == final.digest
    }
    return Sentence(
        "complete",
        "Complete: the result is signed by {signed} of {players}.",
        {"signed": len(signed), "players": round_.players},
    )


def all_faces(round_: Round, lens: Lens, deal: Deal, dealing: Dealing) -> tuple[int, ...] | None:
    """Every card of the deck by position, from the seeds of all; None while one is missing."""
    reveals = [lens.first("reveal", number) for number in round_.numbers]
    seeds = [body_of(reveal, e.Reveal).seed for reveal in reveals if reveal is not None]
    return dealing.open_all(round_.ground, seeds, deal.deck) if len(seeds) == len(reveals) else None


def _hidden_breaches(folded: Fold, round_: Round, lens: Lens) -> list[Fault]:
    """What only the open hands show: answers at the start that were not true (D25)."""
    deal = lens.agreement
    if deal is None or lens.phase not in (Phase.REVEAL, Phase.CLOSED):
        return []
    faces = all_faces(round_, lens, deal, folded.dealing)
    if faces is None:
        return []
    found = []
    node: Node | None = lens.tip
    while node is not None and node.parent is not None:
        fact = node.fact
        if fact is not None:
            found.extend(_hidden_breach(fact, node, lens.state_at(node.parent), faces))
        node = node.parent
    return found


def _hidden_breach(fact: Fact, node: Node, before: GameState, faces: tuple[int, ...]) -> list[Fault]:
    """What one answer or move did against the rules, judged with the mover's hand open."""
    hand = before.hands[before.turn]
    state = game.with_faces(before, {position: faces[position] for position in hand})
    for move in moves_of(node, before):
        if isinstance(move, Open):
            continue
        breach = game.hidden_breach(state, move)
        if breach is not None:
            code = breach.code if breach.code in ON_RECORD_ONLY else "hidden_breach"
            return [Fault(fact.author, code, (fact.id,), fact.seq, fact.entry.kind, breach.code)]
    return []
