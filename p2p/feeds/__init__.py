"""Feeds: identities, signed entries, the past of each, and faults that signed bytes prove. Pure."""
