import numpy as np
import polars as pl
import pytest
from pages import HOSTILE, Page

import polaroc as pr
from polaroc.errors import InvalidArgument, OutputRefused
from polaroc.reports import monitor_page

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


def test_the_page_says_what_should_change(tmp_path):
    result, said = watched(), []
    page = Page(pr.report(result, path=tmp_path / "watched.html", tell=said.append))
    assert not page.mistakes
    text = page.text()
    assert said == [result.answer]
    headline, _, rest = monitor_page.in_page_words(result.answer).partition(": ")
    assert f"{headline} T{rest[1:]}" in text
    assert "the prior left" not in text
    assert "Choose the threshold, or the model, for another range." in text
    assert "Label cases from use" not in text
    for alarm in result.alarms["alarm"]:
        assert monitor_page.in_page_words(alarm) in text
    assert "Thresholds in use" in page.text("h1")
    (spec,) = (one for one in page.all("script") if one.get("id") == "monitor")
    assert "vconcat" in "".join(spec.itertext())
    # An earlier page is replaced, another file is not.
    calm = Page(pr.report(watched((0.1, 0.1)), path=tmp_path / "watched.html", title="Fraud"))
    assert "No alarm" in calm.text()
    assert "What to do" not in calm.text()
    assert "Fraud" in calm.text("h1")
    (tmp_path / "mine.html").write_text("mine")
    with pytest.raises(OutputRefused, match="is there already"):
        pr.report(result, path=tmp_path / "mine.html")


def test_the_page_says_that_an_estimate_is_outside_the_range(tmp_path):
    used = cases(3, 100, 0.25, day=1)
    result = pr.monitor(REFERENCE, used, **NAMES, over=(0.01, 0.1))
    assert result.alarms.is_empty()
    text = Page(pr.report(result, path=tmp_path / "page.html")).text()
    assert "No alarm The share of positives is estimated at " in text
    assert "the prior is" not in text


def test_what_to_do_is_about_the_alarm_that_holds_now(tmp_path):
    # First the prior left the range, and later the scores became others.
    first = watched((0.1, 0.6))
    used = cases(9, 3_000, 0.1, day=3).with_columns(pl.col("score") * 3)
    result = pr.monitor(REFERENCE, used, **NAMES, over=(0.05, 0.2), state=first.state)
    text = Page(pr.report(result, path=tmp_path / "page.html")).text()
    headline, _, rest = text.partition("What to do")
    assert "1 alarm now More than the share of positives has shifted" in headline
    assert "left the range" not in headline
    advice, _, alarms = rest.partition("Alarms")
    assert "Label cases from use" in advice
    assert "Choose the threshold, or the model, for another range." not in advice
    assert "left the range" in alarms


def test_today_comes_first_and_then_all_times(tmp_path):
    day = pl.date(2026, 3, pl.col("day")).alias("day")
    used = pl.concat(cases(day, 1_000, 0.1, day=day) for day in range(1, 9)).with_columns(day)
    told = used.filter(pl.col("day") <= pl.date(2026, 3, 3))
    result = pr.monitor(REFERENCE, used, **NAMES, over=(0.05, 0.2), labelled=told)
    page = Page(pr.report(result, path=tmp_path / "page.html"))
    text = page.text()
    assert "8 times, 2026-03-01 to 2026-03-08" in text
    now, _, later = text.partition("All times")
    assert "2026-03-08, from scores" in now
    assert "2026-03-01 to 2026-03-03, from labels" in now
    recall = told.filter(pl.col("truth")).select((pl.col("score") >= 1.5).mean()).item()
    assert f"recall {100 * recall:.3g} %" in now
    assert "Dashed lines are the ends of the range that the threshold is for, 5 to 20 %" in later
    both = pl.concat([used.with_columns(model=pl.lit(name)) for name in "AB"])
    reference = pl.concat([REFERENCE.with_columns(model=pl.lit(name)) for name in "AB"])
    two = pr.monitor(reference, both, **NAMES, over=(0.05, 0.2), labelled=both)
    now, _, later = Page(pr.report(two, path=tmp_path / "page.html")).text().partition("All times")
    assert "The last time of each key, from scores" in now
    assert "From labels, of each key" in now


def test_limits_from_labels_are_said_to_be_of_one_time_each(tmp_path):
    labelled = cases(1, 1_000, 0.1, day=1).head(200)
    result = watched(labelled=labelled)
    sentence = "Limits from labels hold whatever has drifted"
    assert sentence in Page(pr.report(result, path=tmp_path / "page.html")).text()
    assert sentence in " ".join(result.summary().split())
    assert sentence in result._repr_html_()
    assert sentence not in watched().summary()
    alarms = cases(1, 1_000, 0.1, day=1).filter(pl.col("score") >= 1.5)
    silent = watched(labelled=alarms)
    for text in (
        Page(pr.report(silent, path=tmp_path / "page.html")).text(), silent._repr_html_(),
        " ".join(silent.summary().split()),
    ):  # fmt: skip
        assert f"{alarms.height} of {alarms.height} alarms have labels, and 0 of" in text
        assert sentence not in text


def test_only_times_that_can_be_drawn_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(monitor_page, "MAX_POINTS", 8)
    text = Page(pr.report(watched(), path=tmp_path / "page.html")).text()
    assert "Estimates at the last 2 of 3 times with their limits" in text


def test_names_of_models_are_text(tmp_path):
    name = HOSTILE[0]
    reference = REFERENCE.with_columns(model=pl.lit(name))
    used = cases(1, 500, 0.6, day=1, model=name)
    result = pr.monitor(reference, used, **NAMES, over=(0.05, 0.2))
    page = Page(pr.report(result, path=tmp_path / "page.html"))
    assert not page.mistakes
    assert name in page.text()
    assert all("window.hacked" not in "".join(s.itertext()) or s.get("type") == "application/json"
               for s in page.all("script"))  # fmt: skip


def test_a_monitor_without_times_and_other_arguments(tmp_path):
    empty = pr.monitor(REFERENCE, cases(1, 10, 0.1, day=1).clear(), **NAMES)
    text = Page(pr.report(empty, path=tmp_path / "page.html")).text()
    assert "No alarm No new scores were given" in text
    with pytest.raises(InvalidArgument, match="truth and by are for predictions or measures"):
        pr.report(empty, path=tmp_path / "page.html", truth="truth", by="model")
    with pytest.raises(InvalidArgument, match="test_train_ratio and priors and recall are for"):
        pr.report(
            empty, path=tmp_path / "page.html", recall=0.9, priors=[0.3], test_train_ratio=0.25
        )


def test_days_have_no_hours_and_a_monitor_of_one_model_names_no_keys(tmp_path):
    used = cases(1, 1_000, 0.6).with_columns(day=pl.datetime(2026, 3, 1))
    result = pr.monitor(REFERENCE, used, **NAMES, over=(0.05, 0.2))
    text = Page(pr.report(result, path=tmp_path / "page.html")).text()
    for shown in (text, result.summary()):
        assert "2026-03-01" in shown
        assert "00:00" not in shown
        assert "of each key" not in shown
    assert "share of alarms" not in text
