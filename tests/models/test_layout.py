import numpy as np
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument


def test_numbers_of_rows_do_not_tell_the_ratio():
    truth = np.arange(120) % 2
    wide = {"truth": truth, "fold": np.arange(120) % 4 // 2, "A": np.arange(120) % 7 + truth,
            "B": np.arange(120) % 9 + truth}  # fmt: skip
    roles = {"truth": "truth", "score": ["A", "B"]}
    assert repr(pr.cases(wide, **roles)).startswith("120 rows, 60 positives\n")
    assert "case" not in repr(pr.cases(wide, **roles))
    with pytest.raises(InvalidArgument, match="test_train_ratio is needed"):
        pr.compare(wide, "auc", **roles)
    choice = pr.choose(wide, over=(0.1, 0.3), **roles)
    assert "test_train_ratio" in " ".join(choice.warnings)
    # Each case is tested once: half of them train.
    named = pr.compare(wide | {"id": np.arange(120)}, "auc", **roles, case="id")
    assert named.test_train_ratio == 1
