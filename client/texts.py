"""The rest of the catalogue of ``client.phrases``: help, phrases to say, how to play, saved rounds."""

from __future__ import annotations

from typing import Final

from client.cards import Style
from client.sentences import Names, render
from engine.errors import Sentence

PHRASES: Final = (
    "Hello!",
    "Good luck!",
    "Well played!",
    "Ouch!",
    "One moment, please.",
    "Are you still there?",
    "Thank you, good round.",
    "Another round?",
    "Good night!",
)
"""What is said at tables again and again, ready to be chosen."""

HELP: Final = (
    "7 or 7 7 or 55       play cards of a rank (2 to 10, j, q, k, a; t and 0 are ten too)",
    "5h 5c                play exactly these cards",
    "#2                   the second of the numbered choices; in lists a bare 2 does as well",
    "pick up              take the pile into your hand (where an upcard goes along: pick up with 7c)",
    "flip 2 (or just 2)   turn over a downcard when nothing else is left",
    "swap 2h 7s           before play: exchange a hand card for an upcard",
    "choose 3c 4d 5h      before play, where upcards are chosen: lay these out",
    "ready                before play: done with exchanging",
    "x, x as 9, 9 x       a joker; a wild one as a nine (name 9 when it was turned up)",
    "chance               turn the top card of the stock, where the rules have it",
    "done                 lay no more of the cards just drawn, where the rules have it",
    "choices              all that you can do now, line by line",
    "why 4d               why a card can't be played now; also: why pick up",
    "how                  how the game is played, in a minute",
    "hand, hint           show my cards, also out of turn; what I can do now",
    "table, score, rules  show the table, the evening's rounds, the rules in force; clock: the clocks",
    "say hello            talk to the table; phrases lists ready ones, say #2 says the second",
    "mute Ana, unmute     hide what Ana says, show what all say",
    "yes, no              answer a question",
    "void                 give the round up for everybody when somebody is overdue: it ends unfinished",
    "away, back           have my program play for me, and stop that",
    "quit                 leave; Ctrl-C stops the program at once and keeps the seat in a round",
)
"""What ``help`` shows to everybody."""

HELP_HOST: Final = (
    "start                begin a round with everybody here",
    "admit Ana            let somebody in who is at the door; refuse Ana",
    "set refill_to=4      offer the next rounds by another rule (or set party: a preset); everybody is asked",
    "clock turn 30        offer the next rounds with a clock: turn, arrange or grace, in seconds; 0 is none",
    "kick Ana             send somebody away between rounds",
    "bots 2               seat bots",
)
"""What it shows to the host besides."""

HOW: Final[dict[str, str]] = {
    "aim": "Get rid of all your cards: the last one holding any is the SHITHEAD.",
    "cards": "You have {hand} cards in the hand, {up} upcards that lie open, and {down} downcards below, unseen.",
    "swap": "Before play you may exchange: good cards become upcards, for the end.",
    "choose": "Before play you choose your upcards: good ones, for the end.",
    "turn": "Play a card, or several of one rank: equal to the top card or higher.",
    "order": "From low to high: 2 3 4 5 6 7 8 9 10 J Q K A. Suits do not matter.",
    "draw": "Then draw back up to {count:card|cards}, while there is a stock.",
    "take": "Can't play? Take the whole pile into your hand. You may even if you can.",
    "take_forced": "Can't play? Take the whole pile into your hand.",
    "reset": "{ranks}: on anything, and anything on it.",
    "burn": "{ranks}: on anything; burns the pile (it is gone), and you go again.",
    "ceiling": "{ranks}: the next one plays that or lower.",
    "transparent": "{ranks}: on anything; what lies below it counts.",
    "skip": "{ranks}: the next one misses a turn.",
    "reverse": "{ranks}: the direction turns.",
    "again": "{ranks}: you go again.",
    "quartet": "{number} of one rank on top of each other burn the pile as well.",
    "upcards": "When hand and stock are used up, you play your upcards.",
    "downcards": "Then the downcards, unseen: one that does not fit comes with the pile.",
    "hints": "Take the pile while it is small; keep twos and tens for the end.",
    "more": "You are told what can be played, and why other cards can't.",
    "head": "HOW TO PLAY",
    "rules_head": "ALL RULES, ONE BY ONE",
}
"""How the game is played, for somebody who has never seen it; ``client.howto`` chooses what holds."""

SAVED: Final[dict[str, str]] = {
    # a round watched again, in lines
    "more": "Enter goes on; help says what else can be typed.",
    "players": "Players: {names}.",
    "at_end": "That is the end.",
    "at_start": "That is the beginning.",
    "finish": "Out, in this order: {names}.",
    "shithead": "The shithead is {name}.",
    "head": "Round {round}, table words {words}.",
    "not_open": "Not every seed was opened: cards that nobody showed stay closed.",
    "pile": "  Pile: {cards}. Stock: {stock}. Burnt: {burnt}.",
    "pile_empty": "  Pile: empty. Stock: {stock}. Burnt: {burnt}.",
    "player": "  {name}: {zones}",
    "zone_hand": "hand {cards}",
    "zone_up": "up {cards}",
    "zone_down": "down {cards}",
    "zone_hand_none": "hand none",
    "zone_up_none": "up none",
    "zone_down_none": "down none",
    "out": "out, {place}",
    "has_left": "has left",
    "opening": "Opening the round and checking its proofs ...",
    # history
    "none": "No round is saved in {path} yet. Rounds are saved when they end.",
    "checking": "checking round {done} of {all} ...",
    "saved_one_counts": "1 round saved, which counts.",
    "saved_one_not": "1 round saved, which does not count.",
    "saved_counts": "{count} rounds saved, {counted} of them {counted_verb}.",
    "name": "PLAYER",
    "columns": " ROUNDS  SHITHEAD  FIRST  AVG PLACE  ROW NOW  BEST ROW  WORST ROW",
    "row_means": "ROW: rounds in a row without being the shithead; WORST ROW: of being it.",
    "chart": "SHITHEAD, of all rounds played",
    "bot": "{name} (bot)",
    "together": "TOGETHER AT A TABLE",
    "pair": "{count:round, |rounds,} shithead {first} : {second}",
    "place": "{number}. {name}",
    "last": "shithead {name}",
    "walked_out": "LEFT ROUNDS BEFORE THEIR END (of two players: lost; of more: counts for nobody)",
    "left_count": "left {count:round|rounds}",
    "missed_count": "waited for in vain in {count:round|rounds}",
    "left_it": "{name} left",
    "missed_it": "{name} was waited for in vain",
}
"""What ``replay --lines`` and ``history`` say."""

REPLAY_HELP: Final = (
    "Enter      the next step       b          one back",
    "12         to turn 12          all        everything from here on",
    "table      who holds what      eyes Ana   from Ana's eyes",
    "open       with all cards open quit       end",
)
"""What ``help`` shows while a round is watched in lines."""


def of_saved(code: str, style: Style | None = None, **values: object) -> str:
    """The words of a code of :data:`SAVED`, filled in."""
    return render(Sentence(code, SAVED[code], values), Names(), style)
