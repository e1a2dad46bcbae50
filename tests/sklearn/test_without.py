"""Without scikit-learn each function says which extra has it."""

import subprocess
import sys

import pytest

NEED_SCIKIT_LEARN = [
    "import polaroc; polaroc.sklearn.auprec_score([0, 1], [0, 1], prior=0.1)",
    "import polaroc; polaroc.sklearn.cross_val_predictions(None, [[1]], [1])",
    "from polaroc.sklearn import PriorThresholdClassifier",
]
WITHOUT = """
import sys, traceback
sys.modules["sklearn"] = None
for code in CODES:
    try:
        exec(code, {})
    except (Exception, SystemExit):
        traceback.print_exc()
    print("---", file=sys.stderr)
"""


@pytest.mark.slow
def test_without_scikit_learn_the_extra_is_named(tmp_path):
    script = WITHOUT.replace("CODES", repr(NEED_SCIKIT_LEARN))
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path
    )
    said = run.stderr.split("---\n")
    assert len(said) == len(NEED_SCIKIT_LEARN) + 1
    for code, error in zip(NEED_SCIKIT_LEARN, said, strict=False):
        assert "Traceback" in error, code
        assert 'pip install ".[sklearn]"' in error, code
    assert list(tmp_path.iterdir()) == []
