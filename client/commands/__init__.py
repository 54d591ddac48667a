"""The commands, one module each; every module has its click command as ``command``."""
