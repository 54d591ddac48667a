"""Peers: identities, feeds, the fold, the deal, the network."""
