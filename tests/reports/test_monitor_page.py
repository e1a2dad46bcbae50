"""The page of a monitor."""

import json

import numpy as np
import polars as pl
import pytest
from pages import HOSTILE, Page

import polaroc as pr
from polaroc.errors import OutputRefused

NAMES = {"truth": "truth", "score": "score", "time": "day", "points": 1.5}


def cases(seed, size, prior, **columns):
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < prior
    frame = pl.DataFrame({"truth": truth, "score": rng.normal(size=size) + 2 * truth})
    return frame.with_columns(pl.lit(value).alias(name) for name, value in columns.items())


REFERENCE = cases(0, 5_000, 0.1)


def watched(priors=(0.1, 0.1, 0.6), **arguments):
    used = pl.concat(cases(day, 1_000, prior, day=day) for day, prior in enumerate(priors, 1))
    return pr.monitor(REFERENCE, used, **NAMES, over=(0.05, 0.2), **arguments)


def test_the_page_says_what_the_monitor_answers_and_what_to_do(tmp_path):
    result, said, path = watched(), [], tmp_path / "watched.html"
    page = Page(pr.report(result, path=path, tell=said.append))
    assert not page.mistakes
    assert said == [result.answer]
    text = page.text()
    assert "Choose the threshold, or the model, for another range of shares of positives." in text
    assert "label cases from use" not in text
    assert result.alarms.height
    (spec,) = (one for one in page.all("script") if one.get("id") == "monitor")
    assert "vconcat" in json.loads(spec.text)
    # An earlier page is replaced, another file is not.
    calm = Page(pr.report(watched((0.1, 0.1)), path=path, title="Fraud"))
    assert "No alarm" in calm.text()
    assert "What to do" not in calm.text()
    assert "Fraud" in calm.text("h1")
    path.write_text("mine")
    with pytest.raises(OutputRefused, match="is there already"):
        pr.report(result, path=path)


def test_a_monitor_without_times_has_a_page(tmp_path):
    empty = pr.monitor(REFERENCE, cases(1, 10, 0.1, day=1).clear(), **NAMES)
    text = Page(pr.report(empty, path=tmp_path / "page.html")).text()
    assert "No alarm: there are no scores." in text


def test_names_of_models_are_text(tmp_path):
    name = HOSTILE[0]
    used = cases(1, 500, 0.6, day=1, model=name)
    result = pr.monitor(REFERENCE.with_columns(model=pl.lit(name)), used, **NAMES, over=(0.05, 0.2))
    page = Page(pr.report(result, path=tmp_path / "page.html"))
    assert not page.mistakes
    assert name in page.text()
    for script in page.all("script"):
        assert script.get("type") == "application/json" or "window.hacked" not in script.text


def test_what_to_do_is_about_the_alarms(tmp_path):
    used = cases(9, 3_000, 0.1, day=3).with_columns(pl.col("score") * 3)
    result = pr.monitor(REFERENCE, used, **NAMES, over=(0.05, 0.2))
    text = Page(pr.report(result, path=tmp_path / "page.html")).text()
    headline, _, rest = text.partition("What to do")
    assert "One alarm at day 3: more than the prior has shifted" in headline
    advice, _, alarms = rest.partition("Alarms")
    assert "label cases from use" in advice
    assert "Choose the threshold" not in advice
    assert "more than the prior has shifted" in alarms


def test_the_last_period_comes_first_and_then_all(tmp_path):
    day = pl.date(2026, 3, pl.col("day")).alias("day")
    used = pl.concat(cases(day, 1_000, 0.1, day=day) for day in range(1, 9)).with_columns(day)
    told = used.filter(pl.col("day") == pl.date(2026, 3, 8))
    result = pr.monitor(REFERENCE, used, **NAMES, over=(0.05, 0.2), labelled=told)
    text = Page(pr.report(result, path=tmp_path / "page.html")).text()
    assert "8 periods, 2026-03-01 to 2026-03-08" in text
    now, _, later = text.partition("All periods")
    recall = told.filter(pl.col("truth")).select((pl.col("score") >= 1.5).mean()).item()
    assert f"{recall:.3f} (" in now
    assert "Dashed lines are the ends of 5 to 20 %" in later
