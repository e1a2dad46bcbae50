import polars as pl
import pytest
from polars.testing import assert_frame_equal

from polaroc.errors import InvalidArgument
from polaroc.sources import scan

TABLE = pl.DataFrame({"truth": [1, 0, 1], "score": [0.9, 0.5, 0.25]})
WRITERS = {
    "parquet": pl.DataFrame.write_parquet,
    "pq": pl.DataFrame.write_parquet,
    "csv": pl.DataFrame.write_csv,
    "tsv": lambda table, file: table.write_csv(file, separator="\t"),
    "arrow": pl.DataFrame.write_ipc,
    "feather": pl.DataFrame.write_ipc,
    "ndjson": pl.DataFrame.write_ndjson,
    "jsonl": pl.DataFrame.write_ndjson,
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_format(tmp_path, suffix):
    file = tmp_path / f"table.{suffix}"
    WRITERS[suffix](TABLE, file)
    assert_frame_equal(scan([str(file)]).collect(), TABLE)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "arrow", "ndjson"])
def test_hive_folders_become_columns(tmp_path, suffix):
    for model in ("a", "b 1"):
        folder = tmp_path / f"model={model}"
        folder.mkdir()
        WRITERS[suffix](TABLE, folder / f"part-0.{suffix}")
    found = scan([str(tmp_path)]).collect()
    assert found["model"].to_list() == ["a"] * 3 + ["b 1"] * 3
    assert_frame_equal(found.filter(model="a").drop("model"), TABLE)


@pytest.mark.parametrize("pattern", ["*.csv", "**/*.csv"])
def test_patterns(tmp_path, pattern):
    for name in ("one", "two"):
        TABLE.write_csv(tmp_path / f"{name}.csv")
    TABLE.write_parquet(tmp_path / "three.parquet")
    assert scan([str(tmp_path / pattern)]).collect().height == 2 * TABLE.height


def test_formats_may_be_mixed(tmp_path):
    TABLE.write_csv(tmp_path / "one.csv")
    TABLE.write_parquet(tmp_path / "two.parquet")
    assert scan([str(tmp_path)]).collect().height == 2 * TABLE.height


def test_a_name_with_pattern_characters_is_a_name(tmp_path):
    file = tmp_path / "scores[1]*.parquet"
    TABLE.write_parquet(file)
    assert scan([str(file)]).collect().height == TABLE.height


@pytest.mark.parametrize(
    ("name", "said"),
    [("none.csv", "no file matches"), ("", "holds no file"), ("table.xlsx", "cannot be told")],
)
def test_what_cannot_be_read_is_refused(tmp_path, name, said):
    if name.endswith("xlsx"):
        (tmp_path / name).touch()
    with pytest.raises(InvalidArgument, match=f"{said}(.|\n)*Hint:"):
        scan([str(tmp_path / name)])
