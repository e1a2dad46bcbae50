"""Cases that thresholds were chosen on, among those that they are judged on."""

from dataclasses import replace

import polars as pl

from polaroc.base.columns import with_key_types
from polaroc.errors import InvalidTable, quoted
from polaroc.predictions.cases import Cases

# Without a column of cases, scores tell them apart if most differ and there are enough: that other
# cases have the same scores and classes by chance is then less likely than one in a million.
DISTINCT, ENOUGH = 0.9, 10
SHARED = {
    "case": "where they are the same cases, thresholds were judged on cases that they were chosen "
    "on.",
    "cluster": "where they are the same ones, new ones may do worse than the rates say.",
}


def with_model_type(tuning: Cases[pl.DataFrame], cases: Cases[pl.DataFrame]) -> Cases[pl.DataFrame]:
    """The tuning cases, with the names of models in the type that they have in the other cases."""
    if tuning.model is None or cases.model is None:
        return tuning
    rows = with_key_types(tuning.rows.lazy(), cases.rows.schema, [tuning.model])
    return replace(tuning, rows=rows.collect())


def shared_with_tuning(cases: Cases[pl.DataFrame], tuning: Cases[pl.DataFrame]) -> list[str]:
    """Warnings of cases, and of clusters, that are in both tables.

    Raises
    ------
    InvalidTable
        Where all cases of one table are in the other, with their truth and scores.
    """
    _refuse_contained(cases, with_model_type(tuning, cases))
    warnings = []
    for role, warning in SHARED.items():
        if role not in cases.names or role not in tuning.names:
            continue
        judged, tuned = cases.rows[role], tuning.rows[role]
        kinds = judged.dtype, tuned.dtype
        if kinds[0] != kinds[1] and not all(kind.is_integer() for kind in kinds):
            continue
        values = judged.drop_nulls().unique()
        if both := values.is_in(tuned.unique().implode()).sum():
            name = quoted(cases.names[role])
            warnings.append(
                f"{both:,} of the {len(values):,} values of {name} are in tuning, too: {warning}"
            )
    return warnings


def _refuse_contained(cases: Cases[pl.DataFrame], tuning: Cases[pl.DataFrame]) -> None:
    """Refuse tables of which one has all cases of the other, by their names or their scores."""
    kinds = tuning.rows.schema
    same = {"model", "truth", "score"} & {*cases.rows.columns} & {*kinds}
    has_case = "case" in cases.names and "case" in tuning.names
    for on in [[*same, "case"], [*same]] if has_case else [[*same]]:
        if any(cases.rows.schema[name] != kinds[name] for name in on):
            continue
        judged, tuned = (one.rows.group_by(on).len() for one in (cases, tuning))
        both = judged.join(tuned, on=on, nulls_equal=True)
        is_within = both.height == judged.height and (both["len"] <= both["len_right"]).all()
        has_within = both.height == tuned.height and (both["len"] >= both["len_right"]).all()
        tell_apart = "case" in on or all(
            one.rows.height >= ENOUGH and found.height >= DISTINCT * one.rows.height
            for one, found in ((cases, judged), (tuning, tuned))
        )
        if both.height and (is_within or has_within) and (tell_apart or is_within == has_within):
            which = ("tuning", "the predictions") if has_within else ("the predictions", "tuning")
            raise InvalidTable(
                f"all cases of {which[0]} are among {which[1]}: the thresholds would be judged on "
                "the cases they were chosen on.",
                hint="give other cases as tuning.",
            )
