import pytest

from polaroc.errors import InvalidArgument
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
    "given", ["", "lots", "-4GB", "4 pounds", "1e9", 10, "10MB", True, None, 4.5e9]
)
def test_what_is_no_size_is_refused(given):
    with pytest.raises(InvalidArgument, match=r"(?s)allowed are sizes from 500 MB.*Hint: "):
        resolve_memory(given)


def test_auto_leaves_something_to_others():
    assert 5 * 10**8 <= resolve_memory("auto") < available()
