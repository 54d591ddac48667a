"""A long wire between a host of the test LAN and its switch: every frame waits for a random while, so that frames
overtake each other as well. In user space: ``netem`` is not in every kernel.

    python -m tests.net.wire plain INTERFACE              checksums are computed before a frame leaves
    python -m tests.net.wire delay A B LEAST_MS MOST_MS   carries frames between two interfaces, till killed
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import select
import socket
import struct
import sys
import time
from random import Random

ALL_PROTOCOLS = 0x0003
SIOCETHTOOL = 0x8946
ETHTOOL_STXCSUM = 0x17
LONGEST_FRAME = 65536
REQUEST_BYTES = 40
"""Of ``struct ifreq``."""


def plain(name: str) -> None:
    """Has the kernel fill in checksums of what ``name`` sends: a veth leaves them out, and whoever reads frames
    in user space would pass on broken ones."""
    off = ctypes.create_string_buffer(struct.pack("=II", ETHTOOL_STXCSUM, 0))
    request = struct.pack("16sP", name.encode(), ctypes.addressof(off)).ljust(REQUEST_BYTES, b"\0")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCETHTOOL, request)


def delay(first: str, second: str, least_s: float, most_s: float) -> None:
    """Carries frames both ways, each after its own delay."""
    random = Random()
    sockets = []
    for name in (first, second):
        made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
        made.bind((name, 0))
        sockets.append(made)
    waiting: list[tuple[float, int, int, bytes]] = []
    number = 0
    sys.stdout.write("carries\n")
    sys.stdout.flush()
    while True:
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, _, to, frame = heapq.heappop(waiting)
            sockets[to].send(frame)
        wait_s = waiting[0][0] - now if waiting else None
        for ready in select.select(sockets, (), (), wait_s)[0]:
            frame, address = ready.recvfrom(LONGEST_FRAME)
            if address[2] != socket.PACKET_OUTGOING:
                number += 1
                to = 1 - sockets.index(ready)
                heapq.heappush(waiting, (time.monotonic() + random.uniform(least_s, most_s), number, to, frame))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["plain", name]:
            plain(name)
        case ["delay", first, second, least_ms, most_ms]:
            delay(first, second, int(least_ms) / 1000, int(most_ms) / 1000)
        case _:
            raise SystemExit(__doc__)
