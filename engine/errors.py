"""Errors as codes with sentences.

A sentence is a code, an English template and named values. The template is the message id, so nothing
has to be rewritten for a second language. Only ``client`` formats a sentence for a person: there a value
called ``seat`` or ``player`` becomes a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sentence:
    """What happened and what to do, not yet formatted.

    ``template`` holds ``{named}`` places; every one of them has its value in ``values``.
    """

    code: str
    template: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.template.format(**self.values)


class ShitheadError(Exception):
    """The base of everything that this project raises on purpose; ``sentence`` says it to a person."""

    def __init__(self, sentence: Sentence) -> None:
        super().__init__(str(sentence))
        self.sentence = sentence

    @property
    def code(self) -> str:
        """The stable code of the error."""
        return self.sentence.code


class RuleError(ShitheadError):
    """A move or rule set that the rules refuse; nothing has changed. Codes: docs/record.md."""

    def __init__(self, code: str, template: str, **values: object) -> None:
        super().__init__(Sentence(code, template, values))
