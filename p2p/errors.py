"""Errors of the network floor: problems to say to a person, and breaches of the wire protocol.

A :class:`NetworkProblem` has a sentence (what happened) and a remedy (what to do), both as codes with
templates, so that only the client formats them. The two protocol errors never reach a person: they say
which side broke the wire format, and blame nobody at the table.
"""

from __future__ import annotations

from typing import Final

from engine.errors import Sentence, ShitheadError

_PROBLEMS: Final[dict[str, tuple[str, str]]] = {
    "port_busy": (
        "UDP port {port} is in use on this machine.",
        "Give another port with --port, or leave --port out to take the next free one.",
    ),
    "no_socket": (
        "No UDP socket could be opened on {addresses}: {reason}.",
        "Check that the network is up and that this program may use it.",
    ),
    "no_interface": (
        "No network interface fits {wanted}.",
        "These are there: {present}. Give one of their names or addresses with --interface.",
    ),
    "no_answer": (
        "Nobody answered at {address} within {seconds} s.",
        "Check the address, that the other side is running, and that its firewall lets UDP in.",
    ),
    "bad_address": (
        "{text} is not an address.",
        "Addresses look like 192.168.1.23, 192.168.1.23:21052 or [fe80::1%wlan0]:21052.",
    ),
    "wrong_key": (
        "Whoever answers at {address} is not who was expected there.",
        "Somebody else may have got this address: look for the table again.",
    ),
    "own_key": (
        "{address} is this program itself, or a copy of it with the same key.",
        "Use another data directory for a second player on this machine.",
    ),
    "no_certificate": (
        "The program at {address} did not show a valid identity.",
        "It may be changed or broken: ask its owner to install it again.",
    ),
    "not_shithead": (
        "A program answers at {address}, but it does not speak shithead.",
        "Check the port.",
    ),
    "version_theirs_older": (
        "The other side ({address}) has program {their_program} with protocol {their_low}-{their_high}; "
        "this one is program {own_program} with protocol {own_low}-{own_high}. The other side is older.",
        "Ask its owner to update.",
    ),
    "version_ours_older": (
        "The other side ({address}) has program {their_program} with protocol {their_low}-{their_high}; "
        "this one is program {own_program} with protocol {own_low}-{own_high}. This one is older.",
        "Update this program.",
    ),
    "refused": (
        "{address} refused the link: {reason}.",
        "Ask the host of the table.",
    ),
    "name_taken": (
        "Somebody at the table is called {name} already.",
        "Choose another name with --name.",
    ),
    "table_full": (
        "The table at {address} is full: it has {seats} seats.",
        "Wait until somebody leaves, or open a table of your own.",
    ),
    "turned_away": (
        "The host at {address} did not let you in.",
        "Ask the host; or open a table of your own.",
    ),
    "busy": (
        "{address} is busy with too many new links.",
        "Try again in a few seconds.",
    ),
    "lost": (
        "The link to {address} was lost before it was up.",
        "Try again; if it stays so, look at the network with the doctor command.",
    ),
    "closed": (
        "This side of the network is closed.",
        "Start again.",
    ),
    "flooding": (
        "{name} sends far more than a game needs, and is read slowly from now on.",
        "The game goes on without waiting for it. The host can send them away between two rounds.",
    ),
    "no_mdns": (
        "Tables cannot be announced or found by multicast DNS here: {reason}.",
        "Others can still join by address: say them yours.",
    ),
}


class NetworkProblem(ShitheadError):
    """Something about the network that a person should hear, with what to do about it.

    ``code`` is a key of the table in this module (``port_busy``, ``no_interface``, ``no_answer``,
    ``wrong_key``, ``version_theirs_older``, …); ``values`` fills the places of sentence and remedy.
    """

    def __init__(self, problem: str, **values: object) -> None:
        template, remedy = _PROBLEMS[problem]
        super().__init__(Sentence(problem, template, values))
        self.remedy = Sentence(f"{problem}.remedy", remedy, values)

    @property
    def is_version(self) -> bool:
        """True if the two programs have no protocol version in common."""
        return self.code in {"version_theirs_older", "version_ours_older"}


class LocalProtocolError(ShitheadError):
    """This program was about to break the wire format (a frame too big, a link already closed)."""

    def __init__(self, code: str, template: str, **values: object) -> None:
        super().__init__(Sentence(code, template, values))


class RemoteProtocolError(ShitheadError):
    """A peer sent something that is not the wire format; nobody is blamed for it at the table.

    ``peer`` is the authenticated key, or empty where there is none yet; ``evidence`` the first bytes of
    what was read (at most :data:`EVIDENCE_BYTES`).
    """

    def __init__(self, code: str, template: str, *, peer: bytes = b"", evidence: bytes = b"") -> None:
        super().__init__(Sentence(code, template, {}))
        self.peer = peer
        self.evidence = evidence[:EVIDENCE_BYTES]


EVIDENCE_BYTES: Final = 64
"""Enough of a bad frame to recognise it in a log, too little to fill one."""
