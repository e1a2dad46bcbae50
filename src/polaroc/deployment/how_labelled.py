"""How cases in use came to be labelled, as it is said."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Any

import polars as pl

from polaroc.base.checks import check_flag, is_number, shortened
from polaroc.deployment.history import History, times_in_words
from polaroc.errors import Hint, InvalidArgument
from polaroc.priors.grids import OBSERVED

# The column of labelled cases with the chance that each was drawn.
INCLUSION = "inclusion"


@dataclass(frozen=True)
class HowLabelled:
    """Which cases in use were labelled, and after what time.

    Attributes
    ----------
    share
        The share drawn at random, "observed", or the column of the chance of each; None where
        nothing is said.
    alerts
        Whether all alerts are labelled, and `share` is that of the other cases.
    delay
        After how many days, or units of the time, all labels of a time are there.
    """

    share: float | str | None = None
    alerts: bool = False
    delay: float | None = None

    @classmethod
    def checked(
        cls, share: object, alerts: object, delay: object, *, has_labels: bool
    ) -> "HowLabelled":
        """What is said, refused where it makes no sense."""
        check_flag("label_alerts", alerts)
        given = {"label_share": share, "label_alerts": alerts or None, "label_delay": delay}
        said = [name for name, value in given.items() if value is not None]
        if said and not has_labels:
            raise InvalidArgument(
                f"{said[0]} is given, and no labelled cases are.",
                hint=Hint("give {labelled}, or leave it out.", labelled=...),
            )
        if is_number(share) and not isinstance(share, bool) and 0 < share <= 1:
            share = float(share)
        elif not (share is None or isinstance(share, str)):
            raise InvalidArgument(
                f"label_share is {shortened(share)}, allowed are 0 < label_share ≤ 1, 'observed' "
                "and the name of a column.",
                hint=Hint.example("label_share", 0.01),
            )
        if delay is not None and (
            isinstance(delay, bool) or not (is_number(delay) and 0 <= delay < float("inf"))
        ):
            raise InvalidArgument(
                f"label_delay is {shortened(delay)}, allowed are finite numbers ≥ 0, of days.",
                hint=Hint.example("label_delay", 10),
            )
        return cls(share, bool(alerts), delay)

    @property
    def column(self) -> str | None:
        """The column of chances that is named."""
        is_column = isinstance(self.share, str) and self.share != OBSERVED
        return str(self.share) if is_column else None

    @property
    def at_random(self) -> bool:
        """Whether cases, or those that are no alerts, were drawn at random."""
        return self.share is not None and self.column is None

    def chances(self, names: list[str]) -> str | None:
        """The column of chances of labelled cases with these columns, if there is any."""
        column = self.column or (INCLUSION if INCLUSION in names else None)
        if column is None:
            return None
        if column not in names:
            raise InvalidArgument(
                f"label_share is {column!r}, and the labelled cases have no such column.",
                hint=Hint("name one of theirs, or give a number, {label_share}.", label_share=0.01),
            )
        other = "label_alerts" if self.alerts else "label_share" if self.at_random else None
        if other is not None:
            raise InvalidArgument(
                f"{other} is given, and the labelled cases have {column!r}, the chances with which "
                "they were drawn.",
                hint=f"say one of them: drop the column, or leave {other} out.",
            )
        return column

    def complete(
        self, rows: pl.DataFrame, time: str, histories: Mapping[Any, History]
    ) -> tuple[pl.DataFrame, list[str]]:
        """The labels of times of which all are there, and which these are, in a sentence."""
        times = [history.times[-1] for history in histories.values() if history.times]
        if self.delay is None or not times:
            return rows, []
        kind = rows.schema[time]
        if not (kind.is_numeric() or kind in (pl.Date, pl.Datetime)):
            raise InvalidArgument(
                f"label_delay is {shortened(self.delay)}, and the time {time!r} is {kind}: only "
                "dates, times and numbers have a distance.",
                hint="give the day as a date or a number.",
            )
        days = ceil(self.delay) if kind == pl.Date else self.delay
        last = max(times) - (days if kind.is_numeric() else timedelta(days=days))
        used = rows.filter(pl.col(time) <= last)
        left = rows.height - used.height
        unit = "" if kind.is_numeric() else " day" if self.delay == 1 else " days"
        shown = times_in_words(pl.Series([last])).item()
        return used, [
            f"Labels of times up to {shown} are complete, with a delay of {self.delay:g}{unit}; "
            f"{left:,} of later times are not used."
        ]
