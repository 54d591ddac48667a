"""Bots at a table: each a full peer of its own, in the host's process, with its own key and data."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import replace
from random import Random

from client.bots import BotPlayer, Level
from client.datadir import DIRECTORY_MODE, DataDir
from client.hosting import Host, bot_names
from client.phrases import said
from client.sentences import render_error
from engine.errors import ShitheadError
from p2p.feeds.identity import load_or_make_key, public_key
from p2p.node.node import Node, NodeConfig

log = logging.getLogger(__name__)

HERE = "127.0.0.1"
"""Bots knock at their own machine's door, whatever else the host's sockets are bound to."""


class Bots:
    """The bots that one host has seated.

    ``think_s``: seconds before each of their moves; ``random`` makes the generator of one bot's whims.
    """

    def __init__(
        self,
        node: Node,
        host: Host,
        data: DataDir,
        level: Level,
        think_s: float,
        random: Callable[[], Random] = Random,
    ) -> None:
        self._node = node
        self._host = host
        self._data = data
        self._level = level
        self._think_s = think_s
        self._random = random
        self._seated: list[tuple[Node, BotPlayer]] = []
        self._watches: set[asyncio.Task[None]] = set()

    async def seat(self, count: int) -> tuple[str, ...]:
        """Seats ``count`` more bots, one after the other; their names.

        The host's policy has to be running, it lets them in. Raises ``ShitheadError`` kinds of
        ``Node.join_table``, for instance ``refused`` when the table is full; those already seated stay.
        """
        names = []
        for _ in range(count):
            taken = [player.name for player in self._node.snapshot.players]
            (name,) = bot_names(1, taken)
            await self._seat_one(name)
            names.append(name)
        return tuple(names)

    async def seat_again(self) -> tuple[str, ...]:
        """Takes up the seats that this host's bots have at the table since before a restart; their names."""
        snapshot, names = self._node.snapshot, []
        for player in snapshot.players:
            data = DataDir(self._data.bots / player.name)
            if player.operator != self._node.key or player.is_me or not data.identity.exists():
                continue
            if public_key(load_or_make_key(data.identity)) != player.key:
                continue
            address = {self._node.key: [(HERE, self._node.port)]}
            config = self._config(data, player.name)
            self._play(await Node.return_to(config, snapshot.table, addresses=address))
            names.append(player.name)
        return tuple(names)

    async def _seat_one(self, name: str) -> None:
        data = DataDir(self._data.bots / name)
        with contextlib.suppress(OSError):  # which the next line says better
            self._data.bots.mkdir(exist_ok=True, mode=DIRECTORY_MODE)
        data.prepare()
        key = public_key(load_or_make_key(data.identity))
        policy = self._host.policy
        self._host.set_policy(replace(policy, own_bots=policy.own_bots | {key}))
        self._play(
            await Node.join_table(
                self._config(data, name),
                (HERE, self._node.port),
                table_id=self._node.snapshot.table,
                expected=self._node.key,
            )
        )

    def _config(self, data: DataDir, name: str) -> NodeConfig:
        return NodeConfig(
            data.path,
            name,
            operator=self._node.key,
            loopback=self._node.config.loopback,
            port=0,
            interfaces=self._node.config.interfaces,
            discovery=False,
            always_consent=True,
            keeps_rounds=False,
            dealing=self._node.config.dealing,
        )

    def _play(self, node: Node) -> None:
        player = BotPlayer(node, self._level, self._think_s, self._random())
        player.start()
        self._seated.append((node, player))
        watch = asyncio.create_task(self._watch(node, player), name="watch of a bot")
        self._watches.add(watch)
        watch.add_done_callback(self._watches.discard)

    async def _watch(self, node: Node, player: BotPlayer) -> None:
        """Ends a bot that is at the table no more. One whose program failed must not go on looking present: its
        links end, so that everybody sees it is lost, and the host's person hears why."""
        await node.gone.wait()
        self._seated.remove((node, player))
        await _dismiss(node, player)
        if node.gone_why == "failed":
            problem = node.gone_problem
            reason = " ".join(render_error(problem)) if problem is not None else ""
            self._node.tell(said("bot_stopped", name=node.config.name, reason=reason))

    async def close(self) -> None:
        """The bots leave and everything of theirs is stopped. Idempotent, never raises."""
        watches = list(self._watches)
        for watch in watches:
            watch.cancel()
        await asyncio.gather(*watches, return_exceptions=True)
        seated, self._seated = self._seated, []
        await asyncio.gather(*(_dismiss(node, player) for node, player in seated))


async def _dismiss(node: Node, player: BotPlayer) -> None:
    await player.close()
    with contextlib.suppress(ShitheadError):
        await node.close()
