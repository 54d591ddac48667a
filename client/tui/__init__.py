"""The full-screen client: a view becomes rows of cells (pure), keys become commands (pure), `app` joins them.

`cells` knows widths, `state` what the screen itself remembers, `render` draws, `keys` is the table of keys from
which help is made, `control` says what a key does, `terminal` is the only module that knows the toolkit.
"""
