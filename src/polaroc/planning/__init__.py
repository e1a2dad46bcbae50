"""How many cases a study needs, before there are any."""
