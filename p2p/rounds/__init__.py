"""Rounds: the fold of a table, the check of every entry, what a peer owes, endings, and the audit. Sans-IO."""
