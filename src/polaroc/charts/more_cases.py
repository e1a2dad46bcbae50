"""Chart of a plan: the chance by the number of positives."""

from collections.abc import Mapping

from polaroc.charts.layers import data, finished
from polaroc.charts.libraries import alt
from polaroc.charts.options import check_result, checked
from polaroc.charts.theme import GREY, SIZE, share_axis
from polaroc.planning.study_plan import StudyPlan

SERIES = "chance"
# What differs from row to row.
ACROSS = ("tuning", "folds", "positives")


@checked
def plan(
    found: StudyPlan,
    title: str = "What more cases buy",
    *,
    colours: Mapping[str, str] | None = None,
) -> "alt.LayerChart":
    """The chance by number of positives, or by what else was tried.

    Parameters
    ----------
    found
        The result of `plan`.

    Returns
    -------
    altair.LayerChart
        The chance on the number of positives, or of folds, on a logarithmic axis, or on the share
        of cases for tuning; a band for the range that it
        has over what is not known, and a dashed line at the chance that was wanted.

    Examples
    --------
    >>> import polaroc as pr
    >>> found = pr.plan(auc=0.9, width=0.1, positives=[20, 40, 80])
    >>> pr.charts.plan(found).to_dict()["layer"][-1]["encoding"]["x"]["title"]
    'positives'
    """
    check_result(found, StudyPlan, "plan")
    colour = (colours or {}).get(SERIES, "#0072B2")
    rows = found.table
    across = next(one for one in ACROSS if one in rows.columns)
    scale = alt.Scale(type="linear" if across == "tuning" else "log", nice=False)
    x = alt.X(f"{across}:Q", title=across, scale=scale)
    chance = alt.Y("chance:Q", **share_axis("chance"))
    tips = [alt.Tooltip("positives:Q", format=","), alt.Tooltip("negatives:Q", format=","),
            alt.Tooltip("chance:Q", format=".0%")]  # fmt: skip
    of_rows = data(rows.to_dicts())
    line = of_rows.mark_line(point=True, color=colour).encode(x, chance, tooltip=tips)
    wanted = of_rows.mark_rule(strokeDash=[4, 4], color=GREY).encode(y=alt.datum(found.chance))
    layers = [wanted, line]
    if rows["chance_lower"].null_count() < rows.height:
        band = of_rows.mark_area(opacity=0.2, color=colour)
        layers.insert(0, band.encode(x, alt.Y("chance_lower:Q"), alt.Y2("chance_upper:Q")))
    return finished(layers, title, height=SIZE * 2 // 3)
