import pytest
from over_time import ROLES, TABLE

import polaroc as pr
from polaroc.errors import InvalidTable

FOUND = pr.periods(TABLE, **ROLES, measures=["auc", "auprec"], priors=[0.1, 0.5], every="3i")


def test_each_measure_and_prior_has_a_panel():
    panels = pr.charts.periods(FOUND.table).to_dict()["vconcat"]
    titles = [panel["layer"][-1]["encoding"]["y"]["title"] for panel in panels]
    assert titles == ["AUC", "AUPREC at 0.1", "AUPREC at 0.5"]
    first = panels[0].get("data", panels[0]["layer"][0].get("data"))
    drawn = [row["estimate"] for row in first["values"]]
    expected = FOUND.table.filter(measure="auc")["estimate"].round_sig_figs(6).to_list()
    assert drawn == expected


def test_steps_are_drawn_as_well():
    steps = pr.walk_forward(TABLE, "3i", **ROLES, rule="recall", target=0.8)
    panels = pr.charts.periods(steps.table).to_dict()["vconcat"]
    titles = [panel["layer"][-1]["encoding"]["y"]["title"] for panel in panels]
    assert titles == ["tpr", "fpr", "precision", "posfrac", "cost"]


def test_a_table_without_periods_is_refused():
    with pytest.raises(InvalidTable, match="no column 'period'"):
        pr.charts.periods(FOUND.table.drop("period"))
