import json

import altair as alt
import numpy as np
import polars as pl
import pytest
from chart_cases import CASES
from drawing import HOSTILE
from jsonschema import Draft7Validator
from PIL import Image

from polaroc.charts.saving import save

VALIDATOR = Draft7Validator(alt.load_schema())
WIDEST = 800


def table(names: list[str]) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    rows = 60 * len(names)
    truth = rng.random(rows) < 0.4
    return pl.DataFrame(
        {
            "model": np.repeat(names, 60),
            "fold": np.tile([1, 2, 3], rows // 3),
            "truth": truth,
            "score": (rng.normal(size=rows) + truth).round(1),
        }
    )


@pytest.fixture(params=sorted(CASES), scope="module")
def chart(request):
    return CASES[request.param](table(["A", "B", "C"]))


@pytest.mark.alike(6)
@pytest.mark.slow
def test_is_valid_vega_lite(chart):
    spec = json.loads(json.dumps(chart.to_dict(validate=False)))
    assert list(VALIDATOR.iter_errors(spec)) == []


@pytest.mark.alike(4)
@pytest.mark.slow
def test_is_drawn_without_a_warning(chart, tmp_path, capfd):
    file = tmp_path / "chart.png"
    save(chart, file)
    assert capfd.readouterr() == ("", "")
    with Image.open(file) as picture:
        shades = picture.convert("RGB").getcolors(maxcolors=2**24)
        assert picture.width <= 2 * WIDEST
    # More than paper, axes and text: something has a colour.
    coloured = sum(count for count, shade in shades if max(shade) - min(shade) > 60)
    assert coloured > 100
    assert chart.to_dict(validate=False)["title"]


@pytest.mark.alike(13)
@pytest.mark.slow
def test_says_what_it_is_to_screen_readers(chart):
    spec = chart.to_dict(validate=False)
    title = spec["title"]
    heading = title if isinstance(title, str) else title["text"]
    assert spec["description"].startswith(heading)


@pytest.mark.alike(4)
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CASES))
def test_names_are_text(name, tmp_path):
    chart = CASES[name](table(HOSTILE))
    files = [tmp_path / "chart.html", tmp_path / "chart.svg"]
    for file in files:
        save(chart, file)
    page, picture = (file.read_text() for file in files)
    assert "<script>alert(1)" not in page
    assert "<script>" not in picture
    assert "&lt;script&gt;alert(1)" in picture
    assert "a.b[0]" in picture
    assert "datum.x" in picture
