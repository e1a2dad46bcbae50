"""Files as the command line reads them, by the numbers and keys that evaluate prints."""

import gzip
import io
import json
import os
from datetime import date

import polars as pl
import pytest
from command_line import polaroc

import polaroc as pr

TABLE = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [0.9, 0.5, 0.25, 0.375]})
WRITERS = {
    "parquet": pl.DataFrame.write_parquet,
    "pq": pl.DataFrame.write_parquet,
    "csv": pl.DataFrame.write_csv,
    "tsv": lambda table, file: table.write_csv(file, separator="\t"),
    "arrow": pl.DataFrame.write_ipc,
    "feather": pl.DataFrame.write_ipc,
    "ndjson": pl.DataFrame.write_ndjson,
    "jsonl": pl.DataFrame.write_ndjson,
    "json": pl.DataFrame.write_json,
    "txt": pl.DataFrame.write_csv,
}


def binary(kind):
    buffer = io.BytesIO()
    getattr(TABLE, f"write_{kind}")(buffer)
    return buffer.getvalue()


def called(*words):
    columns = ["--truth", "truth", "--score", "score", "--json", "--quiet"]
    return polaroc("evaluate", *words, *columns)


def read(*words, keys=()):
    """The Brier loss and the numbers of cases of each key, of which another row changes one."""
    by = [word for key in keys if key not in ("model", "fold") for word in ("--by", key)]
    none = [word for role in ("model", "fold") if role not in keys for word in (f"--{role}", "")]
    found = called(*words, *by, *none, "--measure", "brier", "--prior", "observed")
    assert found.exit_code == 0, found.output
    columns = [*keys, "estimate", "positives", "negatives"]
    return [tuple(row[name] for name in columns) for row in json.loads(found.stdout)]


def of_rows(*tables, keys=()):
    """The same by definition."""
    rows = pl.concat(tables, how="diagonal_relaxed")
    counts = [
        (pl.col("truth") - pl.col("score")).pow(2).mean().alias("estimate"),
        pl.col("truth").sum().alias("positives"), (1 - pl.col("truth")).sum().alias("negatives"),
    ]  # fmt: skip
    if not keys:
        return same(rows.select(counts).rows())
    return same(rows.group_by(keys).agg(counts).sort(keys, nulls_last=True).rows())


def same(rows):
    return [(*row[:-3], pytest.approx(row[-3], abs=1e-12), *row[-2:]) for row in rows]


def refused(*words):
    found = called(*words)
    assert found.exit_code == 2, found.output
    assert "Traceback" not in found.output
    assert "Hint: " in found.output
    return " ".join(found.output.split())


# --- which files -------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_format_under_a_name_that_looks_like_a_pattern(tmp_path, suffix):
    WRITERS[suffix](TABLE, tmp_path / f"p[1].{suffix}")
    WRITERS[suffix](TABLE[:2], tmp_path / f"p1.{suffix}")
    assert read(tmp_path / f"p[1].{suffix}") == of_rows(TABLE)
    assert read(tmp_path / "*") == of_rows(TABLE, TABLE[:2])
    if suffix not in ("json", "txt"):
        assert read(tmp_path) == of_rows(TABLE, TABLE[:2])


def test_patterns_several_formats_and_hidden_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.write_csv("one.csv")
    TABLE[:2].write_csv("two.csv")
    expected = of_rows(TABLE, TABLE[:2])
    assert read("**/*.csv") == expected
    for hidden in (".ipynb_checkpoints", "_temporary"):
        (tmp_path / hidden).mkdir()
        TABLE[:3].write_csv(tmp_path / hidden / "one.csv")
    assert read(tmp_path) == read("*.csv") == expected
    TABLE[2:].write_parquet("three.parquet")
    assert read("one.csv", "three.parquet") == of_rows(TABLE, TABLE[2:])
    # A file that is named twice is read once.
    assert read("one.csv", tmp_path / "one.csv", "o*.csv") == of_rows(TABLE)
    assert "mixes files of csv, parquet" in refused(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.csv", "no file matches"),
        ("x" * 300, "name too long"),
        ("", "holds no file"),
        ("table.xlsx", "cannot be told"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, name, said):
    if name.endswith("xlsx"):
        (tmp_path / name).touch()
    assert said in refused(tmp_path / name)


def test_pipes_and_names_that_are_not_utf8_among_files_are_refused(tmp_path):
    os.mkfifo(tmp_path / "table.csv")
    assert "is a pipe" in refused(tmp_path / "*.csv")
    (tmp_path / "table.csv").unlink()
    name = b"t\xffable.csv".decode(errors="surrogateescape")
    (tmp_path / name).write_text("truth,score\n1,.9\n")
    for asked in (tmp_path / "*.csv", tmp_path):
        assert "is not UTF-8" in refused(asked)


# --- columns of folders ------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["parquet", "csv", "arrow", "ndjson"])
def test_hive_folders_become_columns_as_they_are_written(tmp_path, suffix):
    parts = {}
    for i, (day, model) in enumerate([("1", "007"), ("__HIVE_DEFAULT_PARTITION__", "7")]):
        parts[i] = TABLE[i:].with_columns(day=pl.lit(1 if i == 0 else None), model=pl.lit(model))
        (tmp_path / f"day={day}" / f"model={model}").mkdir(parents=True)
        file = tmp_path / f"day={day}" / f"model={model}" / f"part.{suffix}"
        WRITERS[suffix](TABLE[i:], file)
    expected = of_rows(*parts.values(), keys=["day", "model"])
    assert read(tmp_path, keys=["day", "model"]) == expected


# The same files by other paths.
SAME_FILES = {
    "a folder": ["."],
    "a pattern of inner folders": ["model=*/fold=*"],
    "a pattern of files": ["model=*/fold=*/x.parquet"],
    "a pattern of all below": ["**/*.parquet"],
    "several patterns": ["model=a/*", "model=b/*/*.parquet"],
    "a folder and one in it": ["model=a", "."],
    "several files": [f"model={model}/fold={fold}/x.parquet" for model in "ab" for fold in (1, 2)],
}


@pytest.mark.parametrize("asked", SAME_FILES.values(), ids=SAME_FILES)
def test_columns_of_folders_are_the_same_however_they_are_named(tmp_path, monkeypatch, asked):
    tables = []
    for model in "ab":
        for fold in (1, 2):
            (tmp_path / f"model={model}" / f"fold={fold}").mkdir(parents=True)
            file = tmp_path / f"model={model}" / f"fold={fold}" / "x.parquet"
            table = TABLE.with_columns(pl.col("score") / (1 + fold + 4 * (model == "b")))
            table.write_parquet(file)
            tables.append(table.with_columns(model=pl.lit(model), fold=fold))
    monkeypatch.chdir(tmp_path)
    expected = of_rows(*tables, keys=["model", "fold"])
    assert read(*asked, keys=["model", "fold"]) == expected
    # Of one file, too.
    (found,) = read("model=b/fold=2/x.parquet", keys=["model", "fold"])
    assert found == expected[-1]


def test_a_column_of_the_files_is_not_replaced_by_one_of_their_folders(tmp_path):
    (tmp_path / "score=9").mkdir()
    TABLE.write_csv(tmp_path / "score=9" / "one.csv")
    for asked in (".", "score=9/one.csv", "score=9/*.csv", "score=9"):
        assert read(tmp_path / asked) == of_rows(TABLE)


def test_files_of_other_columns_are_refused(tmp_path):
    (tmp_path / "fold=1").mkdir()
    TABLE.write_csv(tmp_path / "fold=1" / "one.csv")
    TABLE.write_csv(tmp_path / "two.csv")
    assert "only one has 'fold'" in refused(tmp_path)


HIVE = pl.DataFrame({
    "model": ["a", "b/c d", None, "a"] * 2, "fold": [1, 2, 1, 2] * 2,
    "dose": [0.5, 1.0, 0.1, None] * 2,
    "day": [date(2026, 1, 1), date(2026, 1, 2), None, date(2026, 1, 1)] * 2,
    "truth": [1, 0, 1, 0, 0, 1, 0, 1], "score": [0.9, 0.5, 0.25, 0.125, 0.1, 0.2, 0.3, 0.4],
})  # fmt: skip


@pytest.mark.filterwarnings("ignore::polars.exceptions.UnstableWarning")
@pytest.mark.parametrize("include_key", [True, False])
@pytest.mark.parametrize("keys", [["model", "fold"], ["dose"], ["day"]])
def test_folders_as_polars_writes_them_are_read(tmp_path, keys, include_key):
    target = pl.PartitionBy(tmp_path, key=keys, include_key=include_key)
    HIVE.lazy().sink_parquet(target, mkdir=True)
    expected = HIVE
    if not include_key or "day" in keys:
        # Folders alone, and JSON of days, do not say of which type they are.
        expected = HIVE.cast({key: pl.String for key in keys if key != "fold"})
    assert read(tmp_path, keys=keys) == of_rows(expected, keys=keys)


# --- types and numbers -------------------------------------------------------------------------

# Keys as they are written, and whether they are numbers.
KEYS = {
    "versions": (["1.1", "1.10", "1.2"], False),
    "with zeros in front": (["007", "7", "08"], False),
    "with a sign": (["+1", "1", "2"], False),
    "truths": (["true", "True", "false"], False),
    "whole numbers": (["-3", "0", "12"], True),
    "whole numbers and nothing": (["1", None, "12"], True),
    "longer than a number may be": (["1" * 25, "1" * 24 + "2", "3"], False),
}


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@pytest.mark.parametrize(("written", "numbers"), KEYS.values(), ids=KEYS)
def test_keys_stay_as_they_are_written(tmp_path, suffix, written, numbers):
    # Each file alone may hold numbers only.
    tables = []
    for i, words in enumerate((written[:1], written[1:])):
        keys = pl.DataFrame({"k": words}, schema={"k": pl.String})
        tables.append(TABLE.join(keys, how="cross"))
        WRITERS[suffix](tables[i], tmp_path / f"{i}.{suffix}")
    kind = pl.Int64 if numbers else pl.String
    expected = of_rows(*(table.cast({"k": kind}) for table in tables), keys=["k"])
    assert read(tmp_path, keys=["k"]) == expected


@pytest.mark.parametrize("suffix", ["csv", "ndjson"])
def test_scores_may_turn_into_fractions_or_be_missing_late(tmp_path, suffix):
    whole = pl.concat([pl.DataFrame({"truth": [1, 0], "score": [1.0, 0.0]})] * 60_000)
    file = tmp_path / f"one.{suffix}"
    text = ["1,1", "0,0"] * 60_000 + ["1,0.5"]
    if suffix == "csv":
        file.write_text("\n".join(["truth,score", *text, "0,NA"]))
    else:
        lines = (line.split(",") for line in text)
        lines = [f'{{"truth": {truth}, "score": {score}}}' for truth, score in lines]
        file.write_text("\n".join([*lines, '{"truth": 0, "score": null}']))
    half = pl.DataFrame({"truth": [1], "score": [0.5]})
    assert read(file, "--nulls", "drop") == of_rows(whole, half)


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_numbers_as_other_programs_write_them(tmp_path, suffix, decimal):
    same_number = {
        "+3": "3", "+0.5": "0.5", " 0.25 ": "0.25", "1E-3": "0.001", "Inf": "inf", "-Inf": "-inf",
        "INF": "inf",
    }  # fmt: skip
    file, marks = tmp_path / f"table.{suffix}", ["--decimal", decimal]
    for word, number in same_number.items():
        # The two are tied, between a lower and a higher score.
        lines = ["truth\tscore", f"1\t{word}", f"0\t{number}", "1\t-1e308", "1\t1e308"]
        file.write_text("\n".join(lines).replace(".", decimal))
        (row,) = json.loads(called(file, *marks, "--measure", "auc").stdout)
        won = 0.5 + (float("1e308") > float(number)) + (float("-1e308") > float(number))
        assert row["estimate"] == pytest.approx(won / 3), word
    for missing in ("nan", "NaN", "NA", ""):
        # A key is what is written.
        rows = [
            "truth\tmodel\tscore",
            "1\ta\t0.9",
            f"0\tNA\t{missing}",
            "0\tNA\t0.5",
            "1\tNA\t0.25",
        ]
        file.write_text("\n".join(rows).replace(".", decimal))
        found = read(file, *marks, "--nulls", "drop", keys=["model"])
        assert [(row[0], *row[2:]) for row in found] == [("NA", 1, 1), ("a", 1, 0)], missing


@pytest.mark.parametrize("word", ["abc", "0,5", "1_000", "0x10", "12:30"])
def test_scores_with_other_text_among_them_are_refused(tmp_path, word):
    (tmp_path / "table.csv").write_text(f'truth,score\n1,0.5\n0,"{word}"\n1,NA\n')
    assert word in refused(tmp_path / "table.csv")


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_floats_of_two_precisions_are_read_as_float64(tmp_path, suffix):
    single = TABLE.with_columns(pl.col("score").cast(pl.Float32))
    for name, table in (("a", single), ("b", TABLE), ("c", TABLE.select("score", "truth"))):
        WRITERS[suffix](table, tmp_path / f"{name}.{suffix}")
    assert read(tmp_path) == of_rows(single.cast(TABLE.schema), TABLE, TABLE)
    WRITERS[suffix](TABLE.drop("truth"), tmp_path / f"d.{suffix}")
    assert "only one has 'truth'" in refused(tmp_path)


@pytest.mark.parametrize("empty", ["", "\n", "\r\n"])
@pytest.mark.parametrize(("suffix", "mark"), [("csv", ","), ("tsv", "\t")])
def test_files_with_a_header_alone_are_read_among_others(tmp_path, suffix, mark, empty):
    table = TABLE.with_columns(fold=pl.lit(7))
    for name in ("1", "3"):
        WRITERS[suffix](table, tmp_path / f"{name}.{suffix}")
    (tmp_path / f"2.{suffix}").write_text(mark.join(table.columns) + empty)
    assert read(tmp_path, keys=["fold"]) == of_rows(table, table, keys=["fold"])


@pytest.mark.parametrize(
    "header", ["s,,", "Int64 score,Null truth", '"a;b",c', "x", "s_duplicated_0,s_duplicated_1"]
)
def test_headers_that_only_look_alike_are_read(tmp_path, header):
    rows = [f"{truth},{score}" + ",1" * (header.count(",") + 1) for truth, score in TABLE.rows()]
    (tmp_path / "table.csv").write_text("\n".join([f"truth,score,{header}", *rows]))
    assert read(tmp_path / "table.csv") == of_rows(TABLE)


# --- text that would be misread ----------------------------------------------------------------

# The name of a file, its content, and what is said of it.
MISREAD = {
    "a column twice": ("t.csv", b"truth,score,score\n1,.9,.1\n", "more than one column 'score'"),
    "two columns, one thrice": (
        "t.csv", b"a,b,a,b,a\n1,2,3,4,5\n", "more than one column 'a', 'b'",
    ),
    "a column twice, in quotes": ("t.csv", b'"s,1",x,"s,1"\n1,2,3\n', "more than one column 's,1'"),
    "UTF-16": ("t.csv", "truth,score\n1,.9\n".encode("utf-16"), "no column 'truth'"),
    "UTF-16 without a mark": (
        "t.csv", "truth,score\n1,.9\n".encode("utf-16-le"), "no column 'truth'",
    ),
    "Latin-1": ("t.csv", "truth,p\xe9\n1,.9\n".encode("latin-1"), "no column 'score'"),
    "semicolons": ("t.csv", b"truth;score\n1;0,9\n", "--decimal ,"),
    "CR alone": ("t.csv", b"truth,score\r1,.9\r0,.1\r", "no column 'score'"),
    "a line for spreadsheets": ("t.csv", b"sep=;\r\ntruth;score\r\n1;0.5\r\n", "no column 'truth'"),
    "a row with more fields": (
        "t.csv", b'x,truth,score\nA,0,0.2\n"B, ""b"", \nb",1,0.9\nC,1,1,0,0.3\n', "more fields",
    ),
    "more fields after a long one": (
        "t.csv", b"truth,score,x\n1,0.9," + b"x" * 200_000 + b"\n0,0.2,a,b\n", "more fields",
    ),
    "a byte that is not UTF-8": ("t.csv", b"truth,score\n1,.9\n1,\xe9\n", "UTF-8"),
    "Parquet named CSV": ("t.csv", binary("parquet"), "cannot be read as csv"),
    "Parquet named NDJSON": ("t.jsonl", binary("parquet"), "cannot be read as ndjson"),
    "Arrow named Parquet": ("t.parquet", binary("ipc"), "cannot be read as parquet"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "said"), MISREAD.values(), ids=MISREAD)
def test_text_that_would_be_misread_is_refused(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    found = refused(tmp_path / name)
    assert said in found
    assert "\x00" not in found
    if name == "t.csv":
        (tmp_path / "t.csv.gz").write_bytes(gzip.compress(content))
        assert said in refused(tmp_path / "t.csv.gz")


def test_of_several_files_the_broken_one_is_named(tmp_path):
    for name in ("a", "c"):
        (tmp_path / f"{name}.csv").write_text("truth,score\n1,.9\n")
    for content in ("truth,score\n1,0,9\n", "truth,p\n1,.9\n", "truth;score;x\n", ""):
        (tmp_path / "b.csv").write_text(content)
        assert "b.csv" in refused(tmp_path)


def test_a_decimal_comma_is_beside_another_separator(tmp_path):
    (tmp_path / "t.csv").write_text('truth,score\n1,"0,9"\n0,"0,25"\n')
    assert "the decimal mark, and the separator" in refused(tmp_path / "t.csv", "--decimal", ",")
    expected = of_rows(pl.DataFrame({"truth": [1, 0], "score": [0.9, 0.25]}))
    for mark in ";\t|":
        for suffix in ("csv", "tsv"):
            lines = ["truth", "score"], ["1", "0,9"], ["0", '"0,25"']
            text = "\n".join(mark.join(line) for line in lines)
            (tmp_path / f"t.{suffix}").write_text(text)
            assert read(tmp_path / f"t.{suffix}", "--decimal", ",") == expected
            (tmp_path / f"t.{suffix}").write_text(text.replace(",", "."))
            assert read(tmp_path / f"t.{suffix}") == expected
    (tmp_path / "t.tsv").write_text("truth,score\n1,0.9\n0,0.25\n")
    assert read(tmp_path / "t.tsv") == expected


# --- what is read changes ----------------------------------------------------------------------


@pytest.mark.parametrize("change", ["replaced", "longer", "removed"])
def test_a_file_that_changes_while_it_is_read_gives_no_numbers(tmp_path, monkeypatch, change):
    file = tmp_path / "predictions.csv"
    pr.datasets.twenty_scores().write_csv(file)
    collect = pl.LazyFrame.collect

    def changing(*given, **options):
        found = collect(*given, **options)
        if change == "replaced":
            pr.datasets.twenty_scores().reverse().write_csv(tmp_path / "other")
            (tmp_path / "other").rename(file)
        elif change == "longer" and file.exists():
            with file.open("a") as more:
                more.write("true,0.25\n")
        else:
            file.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(pl.LazyFrame, "collect", changing)
    found = called(file)
    assert found.exit_code == 2
    assert "changed" in found.output
