"""People and bots: the command line, the line mode, the bots."""
