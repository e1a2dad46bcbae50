from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from passed import repeated


@given(st.booleans())
def on_examples(_):
    pass


@pytest.mark.parametrize(
    ("test", "text", "left_out"),
    [
        (lambda: None, "def test_a(): ...", True),
        (on_examples, "def test_a(): ...", False),
        (lambda: None, 'TABLES = os.environ["POLAROC_TABLES"]', False),
        (lambda: None, "from sizes import replicates", False),
        (lambda: None, '@pytest.mark.usefixtures("words_only")', False),
    ],
    ids=["plain", "hypothesis", "as many as is asked", "replicates", "without figures"],
)
def test_cases_that_may_try_more_are_repeated(test, text, left_out, tmp_path):
    file = tmp_path / "test_a.py"
    file.write_text(text)
    items = [SimpleNamespace(nodeid=f"a[{i}]", path=file, obj=test) for i in (0, 1)]
    assert list(repeated(items, {"a[0]"})) == items[: int(left_out)]
