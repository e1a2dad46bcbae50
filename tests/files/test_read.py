import gzip
import os
from datetime import date

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.files.read import scan
from polaroc.files.text_files import TextFormat

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


def test_files_of_several_formats(tmp_path):
    files = [tmp_path / "one.csv", tmp_path / "two.parquet"]
    TABLE.write_csv(files[0])
    TABLE.write_parquet(files[1])
    assert scan([str(file) for file in files]).collect().height == 2 * TABLE.height
    with pytest.raises(InvalidArgument, match=r"mixes files of csv, parquet(.|\n)*Hint:"):
        scan([str(tmp_path)])


def test_a_file_named_twice_is_read_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.write_csv("one.csv")
    assert scan(["one.csv", str(tmp_path / "one.csv"), "*.csv"]).collect().height == TABLE.height


@pytest.mark.parametrize("hidden", [".ipynb_checkpoints", "_temporary"])
def test_hidden_folders_are_left_out(tmp_path, hidden):
    (tmp_path / hidden).mkdir()
    for folder in (tmp_path, tmp_path / hidden):
        TABLE.write_csv(folder / "one.csv")
    assert scan([str(tmp_path)]).collect().height == TABLE.height


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_partitions_have_one_type_in_every_format(tmp_path, suffix):
    for name in ("fold=1/day=mon", "fold=__HIVE_DEFAULT_PARTITION__/day=2"):
        (tmp_path / name).mkdir(parents=True)
        WRITERS[suffix](TABLE, tmp_path / name / f"part.{suffix}")
    found = scan([str(tmp_path)]).collect()
    assert set(found.select("fold", "day").unique().rows()) == {(1, "mon"), (None, "2")}
    assert found.schema["fold"] == pl.Int64


@pytest.mark.parametrize("asked", ["score=9/one.csv", "score=9/*.csv", "score=9"])
def test_folders_above_those_asked_for_are_no_partitions(tmp_path, asked):
    (tmp_path / "score=9").mkdir()
    TABLE.write_csv(tmp_path / "score=9" / "one.csv")
    assert_frame_equal(scan([str(tmp_path / asked)]).collect(), TABLE)


# By the paths that are given, the columns from the names of folders.
SAME_FILES = {
    "a folder": ([""], ["model", "fold"]),
    "a pattern of folders": (["model=*"], ["model", "fold"]),
    "a pattern of inner folders": (["model=*/fold=*"], ["model", "fold"]),
    "a pattern of files": (["model=*/fold=*/x.parquet"], ["model", "fold"]),
    "a pattern of all below": (["**/*.parquet"], ["model", "fold"]),
    "several patterns": (["model=a/*", "model=b/*/*.parquet"], ["model", "fold"]),
    "several folders": (["model=a", "model=b"], ["model", "fold"]),
    "a folder and one in it": (["", "model=a"], ["model", "fold"]),
    "one in a folder, and the folder": (["model=a", ""], ["model", "fold"]),
    "several files": (
        [f"model={model}/fold={fold}/x.parquet" for model in "ab" for fold in (1, 2)],
        ["model", "fold"],
    ),
    "one folder": (["model=a"], ["fold"]),
    "a pattern in one folder": (["model=a/fold=*"], ["fold"]),
    "several folders in one": (["model=a/fold=1", "model=a/fold=2"], ["fold"]),
    "several files in one": (["model=a/fold=1/x.parquet"] * 2, []),
}


@pytest.mark.parametrize(("asked", "columns"), SAME_FILES.values(), ids=SAME_FILES)
@pytest.mark.parametrize("relative", [False, True])
def test_columns_of_folders_are_the_same_however_they_are_named(
    tmp_path, monkeypatch, asked, columns, relative
):
    for model in "ab":
        for fold in (1, 2):
            (tmp_path / f"model={model}" / f"fold={fold}").mkdir(parents=True)
            file = tmp_path / f"model={model}" / f"fold={fold}" / "x.parquet"
            TABLE.select("score", file=pl.lit(f"{model}{fold}")).write_parquet(file)
    monkeypatch.chdir(tmp_path)
    found = scan([path or "." if relative else str(tmp_path / path) for path in asked]).collect()
    assert found.columns == ["score", "file", *columns]
    name = pl.col("file").str
    by_name = {"model": name.slice(0, 1), "fold": name.slice(1).cast(pl.Int64)}
    assert found.height
    assert_frame_equal(found, found.with_columns(**{key: by_name[key] for key in columns}))


def test_files_that_are_named_themselves_keep_their_column_of_a_folder(tmp_path):
    files = [tmp_path / f"model={model}" / "x.parquet" for model in "ab"]
    for file, version in zip(files, ("a.1", "b.1"), strict=True):
        file.parent.mkdir()
        TABLE.with_columns(model=pl.lit(version)).write_parquet(file)
    found = scan([str(file) for file in files]).collect()
    assert found["model"].unique().sort().to_list() == ["a.1", "b.1"]
    with pytest.raises(InvalidArgument, match="have the column 'model'"):
        scan([str(tmp_path / "model=*")])


def test_a_folder_may_not_stand_for_a_column_of_its_files(tmp_path):
    (tmp_path / "score=9").mkdir()
    TABLE.write_csv(tmp_path / "score=9" / "one.csv")
    with pytest.raises(InvalidArgument, match="have the column 'score'"):
        scan([str(tmp_path)])


@pytest.mark.parametrize("suffix", ["csv", "ndjson"])
def test_scores_may_turn_into_fractions_late(tmp_path, suffix):
    table = pl.DataFrame({"score": [1.0] * 5_000 + [0.5]})
    file = tmp_path / f"one.{suffix}"
    text = ["1"] * 5_000 + ["0.5"]
    if suffix == "csv":
        file.write_text("\n".join(["score", *text]))
    else:
        file.write_text("\n".join(f'{{"score": {value}}}' for value in text))
    assert_frame_equal(scan([str(file)]).collect(), table)


def test_a_name_with_pattern_characters_is_a_name(tmp_path):
    file = tmp_path / "scores[1]*.parquet"
    TABLE.write_parquet(file)
    assert scan([str(file)]).collect().height == TABLE.height


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.csv", "no file matches"),
        ("x" * 300, "no file matches"),
        ("", "holds no file"),
        ("table.xlsx", "cannot be told"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, name, said):
    if name.endswith("xlsx"):
        (tmp_path / name).touch()
    with pytest.raises(InvalidArgument, match=f"{said}(.|\n)*Hint:"):
        scan([str(tmp_path / name)])


def hive(folder, keys):
    for i, (model, fold) in enumerate(keys):
        inner = folder / f"model={model}" / f"fold={fold}"
        inner.mkdir(parents=True, exist_ok=True)
        TABLE.with_columns(case=pl.lit(i)).write_parquet(inner / f"{i}.parquet")


# Keys as they are written, and as they are read.
KEYS = {
    "versions": (["1.1", "1.10", "1.2"], pl.String),
    "with zeros in front": (["007", "7", "08"], pl.String),
    "with a sign": (["+1", "1", "2"], pl.String),
    "truths": (["true", "True", "false"], pl.String),
    "whole numbers": (["-3", "0", "12"], pl.Int64),
    "whole numbers and nothing": (["1", None, "12"], pl.Int64),
    "longer than a number may be": (["1" * 25, "1" * 24 + "2", "3"], pl.String),
}


@pytest.mark.parametrize("quoting", ["necessary", "always"])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@pytest.mark.parametrize(("written", "kind"), KEYS.values(), ids=KEYS)
def test_keys_stay_as_they_are_written(tmp_path, suffix, quoting, written, kind):
    separator = "," if suffix == "csv" else "\t"
    # Each file alone may hold numbers only.
    for i, words in enumerate((written[:1], written[1:])):
        table = pl.DataFrame({"k": words}, schema={"k": pl.String}).with_columns(score=0.5)
        table.write_csv(tmp_path / f"{i}.{suffix}", separator=separator, quote_style=quoting)
    found = scan([str(tmp_path)], ["k", "not there"]).collect()
    # An empty word in quotes is no number.
    kind = pl.String if quoting == "always" and None in written else kind
    assert found.schema == {"k": kind, "score": pl.Float64}
    words = found["k"].cast(pl.String).to_list()
    assert [word or None for word in words] == written


def test_folders_stay_as_they_are_written(tmp_path):
    for model in ("007", "7"):
        (tmp_path / f"model={model}").mkdir()
        TABLE.write_parquet(tmp_path / f"model={model}" / "part-0.parquet")
    assert scan([str(tmp_path)]).collect()["model"].unique().sort().to_list() == ["007", "7"]


# Text as it is written, and what is said of it.
MISREAD = {
    "a column twice": (b"truth,score,score\n1,.9,.1\n", "more than one column 'score'"),
    "two columns, one thrice": (b"a,b,a,b,a\n1,2,3,4,5\n", "more than one column 'a', 'b'"),
    "a column twice, in quotes": (b'"s,1",x,"s,1"\n1,2,3\n', "more than one column 's,1'"),
    "UTF-16": ("truth,score\n1,.9\n".encode("utf-16"), "is UTF-16"),
    "UTF-16 without a mark": ("truth,score\n1,.9\n".encode("utf-16-le"), "is UTF-16"),
    "Latin-1": ("vérité,score\n1,.9\n".encode("latin-1"), "is not UTF-8"),
    "semicolons": (b"truth;score\n1;0,9\n", "separator ';'"),
    "CR alone": (b"truth,score\r1,.9\r0,.1\r", "carriage return"),
    "semicolons in quotes": (b'"truth";"score"\n1;0,9\n', "separator ';'"),
}


@pytest.mark.parametrize(("text", "said"), MISREAD.values(), ids=MISREAD)
@pytest.mark.parametrize("compressed", [False, True])
def test_text_that_would_be_misread_is_refused(tmp_path, text, said, compressed):
    file = tmp_path / ("table.csv.gz" if compressed else "table.csv")
    file.write_bytes(gzip.compress(text) if compressed else text)
    with pytest.raises(InvalidArgument, match=f"table.csv.*(.|\n)*{said}") as error:
        scan([str(file)])
    assert "\x00" not in str(error.value)


@pytest.mark.parametrize(
    ("suffix", "text", "marks"),
    [
        ("csv", 'truth,score\n1,"0,9"\n', TextFormat(",", decimal=",")),
        ("tsv", "truth\tscore\n1\t0,9\n", TextFormat(decimal=",")),
    ],
)
def test_a_decimal_comma_beside_other_separators(tmp_path, suffix, text, marks):
    (tmp_path / f"table.{suffix}").write_text(text)
    assert scan([str(tmp_path / f"table.{suffix}")], text=marks).collect().row(0) == (1, 0.9)


def test_a_decimal_comma_is_no_separator_by_default(tmp_path):
    (tmp_path / "table.csv").write_text("truth,score,note\n1,0,9\n")
    with pytest.raises(InvalidArgument, match=r"separator of CSV too.(.|\n)*Hint: name the"):
        scan([str(tmp_path / "table.csv")], text=TextFormat(decimal=","))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("table.tsv", "truth,score\n1,.9\n", "separator ','"),
        ("table.tsv", "s\tx\ts\n1\t2\t3\n", "more than one column 's'"),
        ("table.ndjson", '{"s": 1, "x": {"a": 1}, "s": 2}\n', "more than one column 's'"),
    ],
)
def test_other_text_that_would_be_misread_is_refused(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidArgument, match=said):
        scan([str(tmp_path / name)])


@pytest.mark.parametrize(
    "header", ["s,s_duplicated_0", "s,,", '"a;b"', "score", "s_duplicated_0,s_duplicated_1"]
)
def test_headers_that_only_look_alike_are_read(tmp_path, header):
    if header == '"a;b"':
        header += ",c"
    (tmp_path / "table.csv").write_text(f"{header}\n{','.join('1' * (header.count(',') + 1))}\n")
    assert scan([str(tmp_path / "table.csv")]).collect().height == 1


def test_a_name_that_is_not_utf8_is_refused(tmp_path):
    TABLE.write_csv(tmp_path / "table.csv")
    name = b"t\xffable.csv".decode(errors="surrogateescape")
    (tmp_path / "table.csv").rename(tmp_path / name)
    for asked in (tmp_path / name, tmp_path / "*.csv", tmp_path):
        with pytest.raises(InvalidArgument, match="is not UTF-8"):
            scan([str(asked)])


def test_a_pipe_among_files_is_refused(tmp_path):
    os.mkfifo(tmp_path / "table.csv")
    with pytest.raises(InvalidArgument, match="is a pipe"):
        scan([str(tmp_path / "*.csv")])


@pytest.mark.parametrize(("suffix", "mark"), [("csv", ","), ("tsv", "\t")])
@pytest.mark.parametrize("surplus", [1, 2])
def test_a_row_with_more_fields_than_the_header_is_refused(tmp_path, suffix, mark, surplus):
    rows = ["shop,label,score", "A,0,0.2", '"B, ""b"", \nb",1,0.9', f"C{',1' * surplus},0,0.3"]
    file, whole = tmp_path / f"rows.{suffix}", tmp_path / f"whole.{suffix}"
    file.write_text("\n".join(rows).replace(",", mark))
    whole.write_text("\n".join(rows[:-1]).replace(",", mark) + "\n\n")
    assert scan([str(whole)]).select("label").collect().height
    expected = rf"rows\.{suffix}', row 3 has {3 + surplus} fields, the header has 3\.\nHint: put"
    with pytest.raises(InvalidPredictions, match=expected):
        scan([str(whole), str(file)])


def test_a_row_with_more_fields_is_refused_after_a_very_long_field(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("y,p,note\n1,0.9," + "x" * 200_000 + "\n0,0.2,a,b\n")
    expected = r"rows\.csv', a row has more fields, the header has 3\.\nHint: put"
    with pytest.raises(InvalidPredictions, match=expected):
        scan([str(file)])


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
@pytest.mark.parametrize(
    ("row", "said"), [(b"1,.5,", "has (3|more) fields"), (b"1,\xe9", "is not UTF-8 text")]
)
def test_a_wrong_row_of_one_of_several_files_names_the_file(tmp_path, name, row, said):
    text = b"label,score\n1,.9\n" + row + b"\n"
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    (tmp_path / "all.csv").write_text("label,score\n1,.9\n0,.1\n")
    with pytest.raises(InvalidPredictions, match=rf"{name}'.* {said}"):
        scan([str(tmp_path)])


def test_types_are_those_of_all_files(tmp_path):
    for i in range(12):
        word = "x" if i == 11 else f".{i}"
        (tmp_path / f"part-{i:02}.csv").write_text(f"label,score\n1,{word}\n")
    assert scan([str(tmp_path)]).collect().schema["score"] == pl.String


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_name_that_looks_like_a_pattern_is_that_of_its_file(tmp_path, suffix):
    for name, score in (("p[1]", 0.5), ("p1", 0.7)):
        table = pl.DataFrame({"truth": [1], "score": [score]})
        WRITERS[suffix](table, tmp_path / f"{name}.{suffix}")
    assert scan([str(tmp_path / f"p[1].{suffix}")]).collect()["score"].to_list() == [0.5]


@pytest.mark.parametrize("line", ["sep=;", "SEP=,", "sep=\t"])
def test_the_line_for_spreadsheets_is_told(tmp_path, line):
    (tmp_path / "p.csv").write_text(f"{line}\r\ntruth;score\r\n1;0.5\r\n")
    for mark in (None, ";"):
        with pytest.raises(InvalidArgument, match=r"line for spreadsheets(.|\n)*tail -n \+2"):
            scan([str(tmp_path / "p.csv")], text=TextFormat(mark))


def test_an_array_of_json_is_told_how_it_is_read(tmp_path):
    (tmp_path / "p.json").write_text('[{"truth": 1, "score": 0.5}]')
    with pytest.raises(InvalidArgument, match="jq -c"):
        scan([str(tmp_path / "p.json")])


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_numbers_as_other_programs_write_them(tmp_path, suffix, decimal):
    words = {
        "Inf": float("inf"), "-Inf": float("-inf"), "INF": float("inf"), "+3": 3.0, "+0.5": 0.5,
        " 0.25 ": 0.25, "nan": None, "NaN": None, "NA": None, "": None, "1E-3": 0.001,
    }  # fmt: skip
    for word, value in words.items():
        file = tmp_path / f"table.{suffix}"
        lines = ["model\tscore", "a\t0.5", f"NA\t{word}", "b\t-2"]
        file.write_text("\n".join(lines).replace(".", decimal))
        text = TextFormat("tab", decimal)
        found = scan([str(file)], ["model"], text).collect()
        assert found["score"].dtype == pl.Float64, word
        assert found["score"].fill_nan(None).to_list() == [0.5, value, -2]
        # A key is what is written.
        assert found["model"].to_list() == ["a", "NA", "b"]


@pytest.mark.parametrize("word", ["abc", "1e999", "0,5", "1_000", "0x10", "12:30"])
def test_a_column_with_other_text_stays_text(tmp_path, word):
    (tmp_path / "table.csv").write_text(f'score\n0.5\n"{word}"\nNA\n')
    found = scan([str(tmp_path / "table.csv")]).collect()
    assert found["score"].to_list() == ["0.5", word, "NA"]


def test_na_is_missing_beyond_the_rows_that_tell_the_types(tmp_path, monkeypatch):
    monkeypatch.setattr("polaroc.files.read.INFERRED_WHOLE", 100)
    monkeypatch.setattr("polaroc.files.read.INFERRED_ROWS", 100)
    file = tmp_path / "table.csv"
    file.write_text("model,score\n" + "a,0.5\n" * 1_000 + "NA,NA\na,0.25\n")
    found = scan([str(file)], ["model"]).collect()
    assert found["score"].tail(3).to_list() == [0.5, None, 0.25]
    assert found["model"].tail(2).to_list() == ["NA", "a"]


@pytest.mark.parametrize("empty", ["", "\n", "\r\n\n"])
@pytest.mark.parametrize("folders", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_files_with_a_header_alone_are_read_among_others(tmp_path, suffix, folders, empty):
    table = TABLE.with_columns(fold=pl.lit(7), model=pl.lit("a"))
    header = ("," if suffix == "csv" else "\t").join(table.columns)
    for day in (1, 2, 3):
        folder = tmp_path / f"day={day}" if folders else tmp_path
        folder.mkdir(exist_ok=True)
        if day == 2:
            (folder / f"2.{suffix}").write_text(header + empty)
        else:
            WRITERS[suffix](table, folder / f"{day}.{suffix}")
    found = scan([str(tmp_path)], ["fold"]).collect()
    expected = pl.concat([table, table])
    assert_frame_equal(found.drop("day", strict=False), expected, check_dtypes=False)
    assert found.schema["score"] == pl.Float64
    assert found.schema["fold"] == pl.Int64
    only = tmp_path / f"only.{suffix}"
    only.write_text(header + "\n")
    assert scan([str(only)]).collect().columns == table.columns


HIVE = pl.DataFrame({
    "model": ["a", "b/c d", None, "a"], "fold": [1, 2, 1, 2], "level": [0.5, 1.0, 0.1, None],
    "day": [date(2026, 1, 1), date(2026, 1, 2), None, date(2026, 1, 1)],
    "open": [True, False, None, True], "truth": [1, 0, 1, 0], "score": [0.9, 0.5, 0.25, 0.125],
})  # fmt: skip


@pytest.mark.filterwarnings("ignore::polars.exceptions.UnstableWarning")
@pytest.mark.parametrize("include_key", [True, False])
@pytest.mark.parametrize("keys", [["model"], ["model", "fold"], ["level"], ["day"], ["open"]])
def test_folders_as_polars_writes_them_are_read(tmp_path, keys, include_key):
    HIVE.lazy().sink_parquet(
        pl.PartitionBy(tmp_path, key=keys, include_key=include_key), mkdir=True
    )
    found = scan([str(tmp_path)]).collect()
    expected = HIVE
    if not include_key:
        # Folders alone do not say of which type they are, if not whole numbers.
        names = [key for key in keys if key != "fold"]
        text = pl.read_csv(HIVE.select(names).write_csv().encode(), infer_schema=False)
        expected = HIVE.with_columns(text)
    assert_frame_equal(
        found.select(HIVE.columns), expected, check_row_order=False, categorical_as_str=True
    )


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_floats_of_two_precisions_are_read_as_float64(tmp_path, suffix):
    single = TABLE.with_columns(pl.col("score").cast(pl.Float32))
    for name, table in (("a", single), ("b", TABLE), ("c", TABLE.select("score", "truth"))):
        WRITERS[suffix](table, tmp_path / f"{name}.{suffix}")
    found = scan([str(tmp_path)]).collect()
    expected = pl.concat([single.cast(TABLE.schema), TABLE, TABLE])
    assert_frame_equal(found, expected, check_row_order=False)
    WRITERS[suffix](TABLE.drop("truth"), tmp_path / f"d.{suffix}")
    with pytest.raises(InvalidArgument, match="only one has 'truth'"):
        scan([str(tmp_path)]).collect()
