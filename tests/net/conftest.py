"""The fixture of all tests between hosts."""

from tests.net.lan import lan

__all__ = ["lan"]
