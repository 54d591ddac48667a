"""Peers: feeds and the deal; on them rounds, and apart from those the network; on both the node."""
