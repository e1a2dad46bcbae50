from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from passed import repeated


@given(st.booleans())
def on_examples(_):
    pass


TEST = "\ndef test_a(table): ...\n"


@pytest.mark.parametrize(
    ("test", "text", "left_out"),
    [
        (None, TEST, True),
        (on_examples, TEST, False),
        (None, 'def test_a(): os.environ["POLAROC_TABLES"]', False),
        (None, "from sizes import replicates\ndef test_a(): replicates(9, 3)", False),
        (None, '@pytest.mark.usefixtures("words_only")' + TEST, False),
        (None, 'pytestmark = pytest.mark.usefixtures("words_only")' + TEST, False),
        (None, "def test_b(words_only): ...\nfrom sizes import replicates" + TEST, True),
        (None, "from sizes import ALL_CASES as A\nN = 3 * A\ndef table(): N" + TEST, False),
        (None, 'def doctested(): os.environ["POLAROC_X"]', False),
        (None, "if POLAROC_: ..." + TEST, False),
    ],
)  # fmt: skip
def test_cases_that_may_try_more_are_repeated(test, text, left_out, tmp_path):
    file = tmp_path / "test_a.py"
    file.write_text(text)
    items = [SimpleNamespace(nodeid=f"a.py::test_a[{i}]", path=file, obj=test) for i in (0, 1)]
    assert list(repeated(items, {items[0].nodeid})) == items[: int(left_out)]
