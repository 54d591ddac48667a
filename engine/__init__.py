"""The rules of Shithead: pure values and functions, standard library only."""

__version__ = "0.1.0"
