"""What the tests of one run did, for its last lines: docs/reliability.md quotes them."""

from collections import Counter

FIGURES: Counter[str] = Counter()
TABLES = "random tables judged by rational numbers and relations"
KILLS = "processes killed at random moments"
FAULTS = "faults of disk, memory, rights or input, answered by one message"
