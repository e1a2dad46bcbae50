"""The result of a monitor: three tables, the alarms in them, and an answer in words."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.columns import OVER_ENDS
from polaroc.base.text import joined_notes, percent, with_limits
from polaroc.base.text_tables import Result, noted, table

if TYPE_CHECKING:
    from rich.console import RenderableType

NO_RANGE = "No range of priors was given (over=), so no prior raises an alarm."
QUANTITIES = ("posfrac", "tpr", "fpr", "precision", "cost")


@dataclass(frozen=True, eq=False, repr=False)
class Monitor(Result):
    """Thresholds in use by period; made by `monitor`.

    Attributes
    ----------
    prior
        Where is the prior? One row per period and key: the keys; `deployed` Int64, the number of
        scores; `prior`, `lower`, `upper` and `level` Float64, as in `estimate_prior`, at a level
        that allows for all looks; `assumes` String; `over_lower` and `over_upper` Float64, the
        range that the threshold was chosen for, null if there is none; `alarm` String, null, or
        that the limits are outside the range.
    shape
        Has more than the prior moved? The keys; `deployed`; `shift_p` Float64, the p-value of a
        test that the scores are a mixture of the two classes of the reference; `alarm`.
    thresholds
        What do the thresholds do? The keys; `source` String: "scores", expected at the estimated
        prior with the rates of the reference, or "labels", seen on labelled cases; `threshold` and
        `posfrac` Float64, the share called positive; `tpr`, `fpr`, `precision` and `cost` with
        their limits `tpr_lower`, …, `cost_upper`, all Float64, null if unknown; `level`; `alarm`,
        null, or that labels contradict the reference.
    time
        The name of the column of periods.
    warnings
        What is wrong with the tables, and what alarms assume, in sentences.
    level
        The chance that there is no false alarm at any look.
    """

    prior: pl.DataFrame
    shape: pl.DataFrame
    thresholds: pl.DataFrame
    time: str
    warnings: tuple[str, ...] = ()
    level: float = 0.95

    table_names = "prior", "shape", "thresholds"

    @property
    def keys(self) -> list[str]:
        """The keys of all tables."""
        return self.prior.columns[: self.prior.columns.index("deployed")]

    @property
    def over(self) -> tuple[float, float] | None:
        """The range of priors of the thresholds, from the least to the greatest of all keys."""
        low, high = self.prior.select(pl.col(OVER_ENDS[0]).min(), pl.col(OVER_ENDS[1]).max()).row(0)
        return None if low is None or high is None else (low, high)

    @property
    def alarms(self) -> pl.DataFrame:
        """The alarms of all tables in the order of time: the keys; `table` and `alarm` String."""
        parts = [
            frame.drop_nulls("alarm").select(*self.keys, pl.lit(name).alias("table"), "alarm")
            for name, frame in self.tables.items()
        ]
        return pl.concat(parts).sort(self.time, maintain_order=True)

    @property
    def table(self) -> pl.DataFrame:
        """All numbers in long form, for charts and files.

        The keys, the time as the last; `quantity` String: "prior", "posfrac", "tpr", "fpr",
        "precision", "cost", those from labels with "_labelled" after them; `estimate`, `lower`,
        `upper` Float64; `alarm` String.
        """
        keys = [*(key for key in self.keys if key != self.time), self.time]
        of_shape = self.shape.select(of_shape="alarm")
        prior = pl.concat([self.prior, of_shape], how="horizontal").select(
            *keys, quantity=pl.lit("prior"), estimate="prior", lower="lower", upper="upper",
            alarm=joined_notes("alarm", "of_shape"),
        )  # fmt: skip
        parts = [prior]
        no_limits = dict.fromkeys(("posfrac_lower", "posfrac_upper"), pl.lit(None, pl.Float64))
        thresholds = self.thresholds.with_columns(**no_limits)
        for source, ending in (("scores", ""), ("labels", "_labelled")):
            parts += [
                thresholds.filter(source=source).select(
                    *keys, quantity=pl.lit(name + ending), estimate=name, lower=f"{name}_lower",
                    upper=f"{name}_upper",
                    # Each alarm is shown once.
                    alarm="alarm" if name == "tpr" else pl.lit(None, pl.String),
                )
                for name in QUANTITIES
            ]  # fmt: skip
        return pl.concat(parts).sort(self.time, maintain_order=True)

    @property
    def last(self) -> pl.DataFrame:
        """The rows of the prior in the last period."""
        return self.prior.filter(pl.col(self.time) == pl.col(self.time).max())

    @property
    def answer(self) -> str:
        """Whether something should change, in one to three sentences."""
        if self.prior.is_empty():
            return "No alarm: there are no scores."
        alarms, now = self.alarms, self.prior[self.time].max()
        if alarms.is_empty():
            return " ".join(["No alarm.", *self._prior_in_words()])
        *key, _, alarm = alarms.filter(pl.col(self.time) == pl.col(self.time).max()).row(0)
        count = "One alarm" if alarms.height == 1 else f"{alarms.height:,} alarms, the last"
        sentence = f"{count} at {self._named(key)}: {alarm}."
        if alarms[self.time].max() == now:
            return sentence
        return " ".join(["No alarm in the last period.", *self._prior_in_words(), sentence])

    def _prior_in_words(self) -> list[str]:
        """Sentences on the prior in the last period, and on whether it is within the range."""
        rows = self.last
        outside = ~pl.col("prior").is_between(pl.col(OVER_ENDS[0]), pl.col(OVER_ENDS[1]))
        out = rows.filter(outside)
        row = (rows if out.is_empty() else out).row(0, named=True)
        key = self._named([row[name] for name in self.keys])
        if row["prior"] is None:
            return [f"The scores at {key} do not tell the prior."]
        limits = "no limits"
        if row["lower"] is not None:
            limits = f"{percent(row['lower'])} to {percent(row['upper'])}"
        text = f"The prior is estimated at {percent(row['prior'])} ({limits}) at {key}"
        low, high = (row[name] for name in OVER_ENDS)
        if low is None or high is None:
            return [f"{text}.", NO_RANGE]
        place = f"the range {percent(low)} to {percent(high)}"
        if out.is_empty():
            return [f"{text}, within {place}."]
        others = f" So it is for {out.height} of {rows.height} keys." if out.height > 1 else ""
        return [f"{text}, outside {place}, though not significantly.{others}"]

    def _named(self, key: list[object]) -> str:
        return ", ".join(
            f"{name} {value}".removesuffix(" 00:00:00")
            for name, value in zip(self.keys, key, strict=True)
        )

    @property
    def shown(self) -> "list[RenderableType]":
        """The answer, the alarms, the last periods with scores and with labels, and notes."""
        alarms, last = self.alarms, self.last
        parts: list[RenderableType] = [self.answer]
        if alarms.height:
            columns = [*self.keys, "alarm"]
            rows = alarms.select(columns).tail(3).rows()
            parts.append(table("Last alarms", columns, rows, len(columns)))
        if last.height:
            time = pl.col(self.time)
            now = self.thresholds.filter(time == time.max().over("source"))
            cells = [
                [*(row[key] for key in self.keys), row["source"],
                 *(with_limits(row[name], row[f"{name}_lower"], row[f"{name}_upper"])
                   for name in QUANTITIES[1:])]
                for row in now.iter_rows(named=True)
            ]  # fmt: skip
            headings = [*self.keys, "source", *QUANTITIES[1:]]
            title = "Last period"
            title += " of scores and of labels" if "labels" in now["source"] else ""
            parts.append(table(title, headings, cells, len(self.keys) + 1))
        return [*parts, *noted(self.warnings)]
