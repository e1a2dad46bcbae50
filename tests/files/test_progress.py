import pytest

from polaroc.files.progress import bar


@pytest.mark.parametrize(
    ("done", "total", "share"), [(1, 4, " 25%"), (4, 4, "100%"), (0, 0, "100%")]
)
def test_a_bar_shows_the_share_that_is_done(capsys, done, total, share):
    bar(done, total, "fits")
    shown = capsys.readouterr().err
    assert f" {share} of {total} fits" in shown
    assert shown.endswith("\n") is (done == total)
