"""How much memory may be used: sizes, and what control groups leave."""

import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument
from polaroc.files import resources

ROWS = {"truth": [1, 0], "score": [2, 1]}


@pytest.mark.parametrize(
    "size", ["auto", 600_000_000, "4GB", "1.5 gb", "512 MiB", "2G", "1TiB", "900000000"]
)
def test_sizes_are_bytes_or_text(size):
    found = pr.evaluate(ROWS, truth="truth", score="score", memory=size, measure="auc")
    assert found["estimate"].to_list() == [1]


@pytest.mark.parametrize(
    "size", ["", "lots", "-4GB", "4 pounds", "1e9", 10, "10MB", True, "9" * 400, 10**400]
)
def test_what_is_no_size_is_refused(size):
    with pytest.raises(InvalidArgument, match="allowed are sizes from 500 MB"):
        pr.evaluate(ROWS, truth="truth", score="score", memory=size, measure="auc")


# By case: the line of /proc/self/cgroup, by folder limit, use and cache of a group, and the rest.
GROUPS = {
    "own group": ("0::/a/b", {"a/b": (900, 500, 0)}, 400),
    "a group around it": ("0::/a/b", {"a": (800, 700, 0), "a/b": (900, 500, 0)}, 100),
    "the group of a container": ("0::/", {"": (900, 500, 0)}, 400),
    "by its path on the host": ("0::/docker/a", {"": (900, 500, 0)}, 400),
    "cache that can be reclaimed": ("0::/a", {"a": (900, 850, 300)}, 350),
    "no limit": ("0::/a", {"": (900, 500, 0), "a": ("max", 850, 0)}, 400),
    "version 1": (
        "4:cpu,memory:/a",
        {"memory": (2**63 - 4096, 9, 0), "memory/a": (900, 600, 50)},
        350,
    ),
    "a group of another kind": (
        "5:cpu:/b\n4:memory:/a",
        {"memory/a": (900, 600, 0), "memory/b": (9, 8, 0)},
        300,
    ),
}


@pytest.mark.parametrize(("line", "groups", "left"), GROUPS.values(), ids=GROUPS)
def test_groups_leave_what_is_neither_used_nor_reserved(tmp_path, monkeypatch, line, groups, left):
    names = ("memory.max", "memory.current", "active_file 7\ninactive_file")
    if "memory" in line:
        names = (
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "inactive_file 7\ntotal_inactive_file",
        )
    for path, (limit, used, cached) in groups.items():
        (tmp_path / path).mkdir(parents=True, exist_ok=True)
        (tmp_path / path / names[0]).write_text(f"{limit}\n")
        (tmp_path / path / names[1]).write_text(f"{used}\n")
        (tmp_path / path / "memory.stat").write_text(f"{names[2]} {cached}\n")
    (tmp_path / "own").write_text(f"{line}\n")
    monkeypatch.setattr(resources, "CONTROL_GROUPS", tmp_path)
    monkeypatch.setattr(resources, "OWN_GROUPS", tmp_path / "own")
    assert resources.available() == left
