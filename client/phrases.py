"""The client's own sentences: code → English template, in one place (``client.sentences`` fills them).

Where a sentence has somebody as its subject there are two forms: for another player, whose name is ``player``,
and for the reader. ``{count:card|cards}`` writes the number and the word that fits it.
"""

from __future__ import annotations

from typing import Final

from engine.errors import Sentence

TOLD: Final[dict[str, tuple[str, str]]] = {
    "joined": ("{player} has joined the table.", "You are at the table {table}."),
    "joined_bot": (
        "{player}, a bot, has joined. Whoever owns the machine it runs on could read its cards.",
        "You are at the table {table}, played by a bot.",
    ),
    "left": ("{player} has left the table.", "You have left the table."),
    "sent_away": ("{player} was sent away from the table.", ""),
    "replaced": ("{player} was away for too long: somebody else gets the seat.", ""),
    "ready": ("{player} is ready.", "You are ready."),
    "swapped": (
        "{player} lays out {card_up} and takes up {card_hand}.",
        "You lay out {card_up} and take up {card_hand}.",
    ),
    "chose": ("{player} has chosen upcards.", "You have chosen your upcards."),
    "laid_out": ("{player} lays out {cards}.", "You lay out {cards}."),
    "declared": ("{player} shows {cards}.", "You show {cards}."),
    "eldest_upcard": (
        "{player} leads: the first {rank} among the upcards.",
        "You lead: yours is the first {rank} among the upcards.",
    ),
    "eldest_hand": (
        "{player} leads: dealt a {rank} to the hand.",
        "You lead: you were dealt a {rank} to the hand.",
    ),
    "eldest_lowest": (
        "{player} leads: a {rank} is the lowest card in any hand.",
        "You lead: your {rank} is the lowest card in any hand.",
    ),
    "eldest_lot": ("{player} leads: the lot has fallen so.", "You lead: the lot has fallen so."),
    "eldest_seat": ("{player} leads.", "You lead."),
    "played": ("{player} plays {cards}.", "You play {cards}."),
    "played_up": ("{player} plays {cards} from the upcards.", "You play {cards} from your upcards."),
    "again": ("{player} plays again.", "You play again."),
    "drew": ("{player} draws {count:card|cards}.", "You draw {count:card|cards}."),
    "drew_own": ("{player} draws {cards}.", "You draw {cards}."),
    "hand": ("", "Your hand: {cards}."),
    "picked_up": ("{player} picks up {count:card|cards}.", "You pick up {count:card|cards}."),
    "picked_up_along": (
        "{player} picks up {count:card|cards}, {cards} of the upcards among them.",
        "You pick up {count:card|cards}, {cards} of the upcards among them.",
    ),
    "flipped": ("{player} flips {cards}.", "You flip {cards}."),
    "flipped_high": (
        "{player} flips {cards}: it can't be played.",
        "You flip {cards}: it can't be played.",
    ),
    "chanced": ("{player} turns up {cards} from the stock.", "You turn up {cards} from the stock."),
    "chanced_high": (
        "{player} turns up {cards} from the stock: it can't be played.",
        "You turn up {cards} from the stock: it can't be played.",
    ),
    "skipped": ("{player} misses a turn.", "You miss a turn."),
    "out": ("{player} is out: {place}.", "You are out: {place}!"),
    "lost": ("The link to {player} is lost.", ""),
    "back": ("The link to {player} is back.", ""),
    "shithead": ("{player} is the shithead.", "You are the shithead."),
    "debt": ("{player} was waited for in vain {what}.", "You were waited for in vain {what}."),
    "gone": ("{player} had left the round.", "You had left the round."),
    "gave_up": ("{player} gave the round up.", "You gave the round up."),
    "wait": ("Waiting for {player} {what}.", "It is on you {what}."),
    "overdue": (
        "{player} has been waited for {seconds} s {what}. `void` gives the round up for everybody: it ends "
        "unfinished, nobody is the shithead, and that {player} was waited for is on record. Till then all wait.",
        "",
    ),
    "overdue_seen": (
        "{player} has been waited for {seconds} s {what}: whoever plays with {player} can give the round up.",
        "",
    ),
    "declined": ("{player} does not play this round.", "You do not play this round."),
    "declined_revision": (
        "The program of {player} knows other rules than that of who offers the round: the older one has to be "
        "updated.",
        "Your program knows other rules than that of who offers the round: the older one has to be updated.",
    ),
    "declined_left": ("{player} takes no part in the deal any more.", "You take no part in the deal any more."),
    "declined_gave_up": (
        "{player} gave up waiting for {names}, so this deal ends. Nothing is lost by that.",
        "You gave up waiting for {names}, so this deal ends. Nothing is lost by that.",
    ),
    "acts": (
        "{player} lets others in and starts rounds now.",
        "It is on you now to let others in and to start rounds.",
    ),
    "turn": ("It is {player}'s turn.", "It is your turn."),
}
"""Code → (for another player, for the reader)."""

SAID: Final[dict[str, str]] = {
    # what happens at the table
    "welcome": "Table {table}. Type `help` for what you can type, `how` for how the game is played.",
    "here": "At the table: {names}.",
    "bot_here": "{name} is a bot. Whoever owns the machine it runs on could read its cards.",
    "bots_here": "Bots are {names}. Whoever owns the machine they run on could read their cards.",
    "reach": "Others reach this table at {addresses}.",
    "knocked": "{name} is at the door ({address}): `admit {name}` or `refuse {name}`.",
    "knocked_bot": "{name}, a bot, is at the door ({address}): `admit {name}` or `refuse {name}`.",
    "knocked_other": "{name} is at the door; {host} decides.",
    "said": "{name}> {text}",
    "offer": "Round {round} is offered to {players}. Do you play? `yes` or `no`.",
    "offer_all": "Round {round}: {players}.",
    "accepted": "{done} of {all} have said yes.",
    "shuffled": "Shuffled by {done} of {all}.",
    "proven": "All {all} shuffles are proven on every side: the cards are dealt.",
    "dealing": "The cards are being shuffled by everybody in turn.",
    "dead": "The round did not come about. Nothing counts; it can be offered again.",
    "words": "Table words: {words}. They are the same at everybody's screen, or somebody is in between.",
    "seats": "Seats, clockwise: {players}. {dealer} deals.",
    "arrange": "The cards are dealt. Everybody may exchange hand cards for upcards.",
    "arrange_choose": "The cards are dealt. Everybody chooses upcards; they are laid open when all are ready.",
    "arrange_none": "The cards are dealt. Nothing is exchanged under these rules.",
    "named_one": "{cards} counts as a {rank}.",
    "named_more": "{cards} count as {ranks}.",
    "reversed": "The direction of play turns: it is {direction} now.",
    "burnt_ten": "The pile burns: {count:card is|cards are} out of the round.",
    "burnt_quartet": "The pile burns: {number} {ranks}.",
    "burnt_run": "The pile burns: a run of equal cards.",
    "fault": "A breach: {text}",
    "saved": "The round is saved; `shithead verify last` checks it at any time:",
    "saved_path": "{path}",
    "unsaved": "The round could not be saved ({reason}).",
    "no_mdns": "Tables cannot be announced by multicast here; others join by your address.",
    # the end of a round
    "over_finished": "Round {round} is over.",
    "over_stalled": "Round {round} has reached its limit of turns: nobody is the shithead.",
    "over_forfeit": "Round {round} is over: one of two has left, and so has lost it.",
    "over_unfinished": "Round {round} ends unfinished: nobody is the shithead.",
    "over_faulted": "Round {round} ends with a breach of the rules of the deal.",
    "place": "{place}: {name}.",
    "fair": (
        "Was it fair? Yes, as far as can be checked: {shuffles} shuffles proven, {shares} shares and "
        "{moves} moves checked, {reveals} seeds opened."
    ),
    "cheating": "Was it fair? No: it holds the proof of a breach.",
    "unproven": "Was it fair? Not proven: {text}",
    "damaged": "Was it fair? The saved file is damaged: {text}",
    "next_mine": "`start` begins another round.",
    "next_alone": "Waiting for others to join.",
    "next_other": "{host} can start another round.",
    # my turn
    "your_turn": "Your turn.",
    "your_turn_limit": "Your turn ({seconds} s).",
    "arrange_limit": "There are {seconds} s for that; then your program says ready for you.",
    "lead": "The pile is empty: any card can be led.",
    "on_pile": "On the pile: {cards} ({count:card|cards}).",
    "on_pile_deep": "On the pile, of {count:card|cards} the top {shown}: {cards}.",
    "on_pile_deep_run": "On the pile, of {count:card|cards} the top {shown}: {cards} ({number} {ranks} on top).",
    "on_pile_run": "On the pile: {cards} ({count:card|cards}, {number} {ranks} on top).",
    "one_more": "One more {rank} burns it.",
    "may_play": "You may play {fits}.",
    "none_fits": "None of your cards can be played: pick up.",
    "none_fits_with": "None of your cards can be played: pick up, and an upcard goes along (`pick up with 7c`).",
    "none_fits_chance": "None of your cards fits: `pick up`, or try the top card of the stock (`chance`).",
    "lead_rank": "The pile is empty: a {rank} has to be led.",
    "name_it": "{card} lies open. What does it count as? Type `name` and a rank.",
    "lay_more": "You have just drawn {cards}: lay more of that rank, or `done`.",
    "your_hand": "Hand: {cards}",
    "your_upcards": "Upcards: {cards}",
    "your_downcards": "Downcards: {count:card|cards}, which nobody has seen",
    "no_cards": "You hold no cards now.",
    "blind": "Only downcards are left. Which one do you flip?",
    "arrange_turn": "Arrange: `swap 2h 7s` exchanges a hand card for an upcard; `ready` when done.",
    "arrange_turn_choose": "Upcards: `choose 2h 7s 7d` lays these out ({count:card|cards}); then `ready`.",
    "arrange_turn_none": "Nothing is exchanged under these rules: `ready` when you have seen your cards.",
    "choices": "Choices: {choices}",
    "choices_more": "Choices: {choices}   and {count} more (`choices` lists all)",
    # the table
    "table_head": "Table {table}.",
    "round_head": "Round {round}, {stage}.",
    "no_round": "No round is going on.",
    "pile_line": "Pile: {cards}. Stock: {stock}. Burnt: {burnt}.",
    "pile_none": "Pile: empty. Stock: {stock}. Burnt: {burnt}.",
    "door_line": "At the door: {names}.",
    "score_line": "Round {round}: {order}.",
    "score_none": "No round has ended yet.",
    "score_sum": "Shithead so far: {counts}.",
    # answers to what was typed
    "unknown": "{text} is not understood. `help` says what can be typed.",
    "no_choice": "There is no choice #{number} now.",
    "no_choices": "There is nothing to choose now.",
    "nothing_to_play": "There is nothing to play at the moment.",
    "not_in_round": "You don't play in this round.",
    "opening": "A card is just being opened: a moment.",
    "drawing": "Your new card is still on its way: a moment.",
    "not_held": "You don't hold {what}.",
    "card_not_held": "You don't hold {card}.",
    "come_first": "The {held} come first.",
    "too_low": "A {rank} can't be played on a {top}.",
    "ready_already": "You are ready already.",
    "too_many": "You have only {count:such card|such cards} to play.",
    "not_a_set": "One or more cards of one rank can be played at a time.",
    "playable": "{cards} can be played now.",
    "fits_not_held": "{what} would fit, but you don't hold it.",
    "why_pick_up": "You can pick up the pile now.",
    "bad_slot": "There is no downcard in slot {slot}.",
    "flip_what": "Which one? Type `flip` and the number of a downcard.",
    "choose_how": "Name the cards to lay out, such as `choose 3c 4d 5h`.",
    "no_swap": "Under these rules nothing is exchanged.",
    "joker_as": "Say what the joker counts as, such as `x as 9`.",
    "name_what": "As what? Type `name` and a rank, such as `name 9`.",
    "pick_up_with": "With which upcard? Type `pick up with 7c`.",
    "above_ceiling": "After a {top} a {rank} can't be played: {top} or lower.",
    "too_high_top": "A {rank} has to beat a {top} here: an equal card won't do.",
    "swap_how": "Name a hand card and an upcard of yours, such as `swap 2h 7s`.",
    "not_arranging": "Cards can be exchanged only between the deal and the first lead.",
    "ready_sent": "Being ready has been told to the others and stays.",
    "not_ready": "You are not ready yet.",
    "say_what": "Say what? Type `say` and the words.",
    "host_only": "Only {host} can do that.",
    "nobody": "There is nobody called {name} here.",
    "turned_away": "{name} is turned away.",
    "nobody_there": "There is nobody called {name} at the door.",
    "who": "Who? Type `{command}` and a name.",
    "not_yourself": "That is you. `quit` leaves the table.",
    "alone": "It takes two: wait until somebody joins, or seat bots with `bots 2`.",
    "bots_how": "How many? Type `bots` and a number from 1 to {most}.",
    "no_bots": "Bots cannot be seated here.",
    "bots_seated": "{count:bot|bots} seated.",
    "nothing_asked": "Nobody has asked anything.",
    "stale": "The table has changed meanwhile, so that was not done. Look again.",
    "why_what": "Why what? Type `why` and a card, or `why pick up`.",
    "away": (
        "Your program plays for you until you type `back`, the next rounds too as long as they are played by the "
        "same rules and clocks."
    ),
    "back": "You play yourself again.",
    "away_said": "I am away: my program plays for me.",
    "back_said": "I am back.",
    "stood_in_away": "You are away, so your program plays for you.",
    "stood_in_time_up": "Your time is up, so your program plays this one for you.",
    "no_stand_in": "Your seat is played by a program already.",
    "set_how": (
        "Name an option and its value, such as `set refill_to=4`, or a preset, such as `set party`; `rules` shows "
        "what is in force."
    ),
    "set_said": "The next round is offered with {option}={value}.",
    "preset_said": "The next round is played by the rules {name}.",
    "preset_said_dropped": "The next round is played by the rules {name}; {options} does not hold any more.",
    "muted": "The talk of {names} is hidden now; `unmute` shows it again.",
    "unmuted": "The talk of {names} is shown again.",
    "mute_yourself": "That is you.",
    "nobody_else": "Nobody else is here.",
    "no_phrase": "There is no phrase #{number}: from #1 to #{most}; `phrases` shows them.",
    "rules_new": "House rules, where they differ from the usual ones:",
    "rules_changed": "The rules change:",
    "rules_line": "  {text}",
    "clock_head": "Clocks:",
    "clock_turn": "A turn lasts {seconds} s at most: then a player's own program plays for them.",
    "clock_arrange": "Arranging lasts {seconds} s at most: then a player's own program says ready for them.",
    "clock_none": "No clock runs for a turn or for arranging.",
    "clock_grace": "Whoever is waited for {seconds} s longer may be given up; the round then ends unfinished.",
    "clock_grace_only": "Whoever is waited for {seconds} s may be given up; the round then ends unfinished.",
    "clock_left": "{seconds} s left: then your program plays for you.",
    "clock_said": "The clocks of the next round: {text}",
    "clock_how": (
        "Say which clock and how many seconds, such as `clock turn 30`, `clock arrange 90` or `clock grace 120`; "
        "0 is no clock. `clock` alone shows them."
    ),
    "rules_unknown": "{host} has offered no round yet: its rules are told before you say yes or no.",
    "rules_marked": "Lines with * differ from the usual rules: {changes}.",
    "joins_next": "Round {round} is being played by {players}; you join the next one, and may watch till then.",
    "how_far": "{count:card lies|cards lie} in the stock, and in hand: {hands}. `table` shows all that lies open.",
    "back_at": "You are back at the table {table}: round {round} goes on.",
    "back_between": "You are back at the table {table}.",
    "back_alone": "You are back at the table {table}. The others are being looked for.",
    "trouble": "Something went wrong in this program ({reason}). The table goes on.",
    "bot_stopped": "{name}, a bot of yours, has stopped: {reason} A round that waits for it can be given up.",
    # leaving
    "quit_deal": "The cards are not dealt yet: if you leave, this round does not begin. Leave? `yes` or `no`.",
    "quit_lose": (
        "If you leave you lose the round: of two players, whoever leaves is the shithead. Leave? `yes` or `no`."
    ),
    "quit_overdue": (
        "If you leave you lose the round; `void` gives it up because the other is overdue, and nobody loses. "
        "Leave? `yes` or `no`."
    ),
    "quit_stop": (
        "If you leave, the round ends for all {players} and counts for nobody; everybody's history says that you "
        "left. Leave? `yes` or `no`."
    ),
    "bye_lose": "You have left the table. The round is lost: of two players, whoever leaves is the shithead.",
    "bye_stop": "You have left the table. The round has ended for all and counts for nobody.",
    "quit_keep": "To come back later instead, press Ctrl-C: that stops the program, and your seat is kept.",
    "quit_stays": "You stay.",
    "bye": "You have left the table.",
    "kicked": "The host has sent you away from the table.",
    "lost_seat": "You were away for so long that somebody else got your seat. `shithead join` asks for another.",
    "closed": "The table is closed: nobody else is left.",
    "failed": "The table cannot go on here.",
    "rounds_done": "That was the last round; leaving.",
}
"""Code → template."""

WAITS: Final = {
    "accept": "to say yes",
    "key": "to get ready for the deal",
    "deck": "to shuffle",
    "proof": "to prove the shuffle",
    "agreed": "to agree on the deck",
    "shares": "to help open a card",
    "ready": "to be ready",
    "declare": "to say what was dealt",
    "move": "to play",
    "flip": "to help open the flipped card",
    "result": "to sign the result",
    "reveal": "to open the seed",
}
"""``p2p.rounds.duties.Duty.what`` → in words, after "Waiting for Ana" and "Ana was waited for in vain"."""

STAGES: Final = {
    "lobby": "before a round",
    "offer": "being offered",
    "dealing": "being dealt",
    "arrange": "arranging",
    "start": "who leads is being found out",
    "play": "in play",
    "opening": "a flipped card is being opened",
    "ending": "ending",
    "over": "over",
}
"""``client.view.Stage`` in words."""


def said(code: str, **values: object) -> Sentence:
    """The sentence of that code in :data:`SAID`."""
    return Sentence(code, SAID[code], values)


def told(code: str, is_me: bool, **values: object) -> Sentence:
    """The sentence of that code in :data:`TOLD`, in the form for the reader or for somebody else."""
    return Sentence(code, TOLD[code][is_me], values)
