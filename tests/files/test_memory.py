import pytest

from polaroc.errors import InvalidArgument
from polaroc.files import memory
from polaroc.files.memory import available, resolve_memory


@pytest.mark.parametrize(
    ("given", "size"),
    [
        (600_000_000, 600_000_000),
        ("4GB", 4 * 10**9),
        ("1.5 gb", 1_500_000_000),
        ("512 MiB", 512 * 2**20),
        ("2G", 2 * 10**9),
        ("1TiB", 2**40),
        ("900000000", 900_000_000),
    ],
)
def test_sizes_are_read(given, size):
    assert resolve_memory(given) == size


@pytest.mark.parametrize(
    "given",
    ["", "lots", "-4GB", "4 pounds", "1e9", 10, "10MB", True, None, 4.5e9, "9" * 400, 10**400],
)
def test_what_is_no_size_is_refused(given):
    with pytest.raises(InvalidArgument, match=r"(?s)allowed are sizes from 500 MB.*Hint: "):
        resolve_memory(given)


def test_auto_leaves_something_to_others():
    assert 5 * 10**8 <= resolve_memory("auto") < available()


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
    monkeypatch.setattr(memory, "CONTROL_GROUPS", tmp_path)
    monkeypatch.setattr(memory, "OWN_GROUPS", tmp_path / "own")
    assert available() == left
