"""The network: finding tables, links between peers, frames, and what strangers and members may cost."""
