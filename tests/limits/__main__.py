"""Writes docs/limits.md: ``python -m tests.limits``."""

from tests.limits.source import PAGE, page

PAGE.write_text(page(), encoding="utf-8")
