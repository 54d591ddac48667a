"""A node: one peer at one table, with its disk, its clock and its links."""
