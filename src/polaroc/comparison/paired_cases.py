"""Read cases scored by several models, and compare measures on paired cases."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import polars as pl

from polaroc.base.columns import check_keys, column_name, single_column
from polaroc.base.joins import join_on
from polaroc.base.lazy import np
from polaroc.base.names import MAX_NAMED
from polaroc.base.private_columns import HAVE, PLACE, SIZE, TRUTH
from polaroc.curves.curve import curve
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions, quoted
from polaroc.measures.functions import table_sums
from polaroc.measures.spec import Measure
from polaroc.predictions.cases import Cases, keyed
from polaroc.predictions.row_checks import SCORE, without_nulls
from polaroc.predictions.table import read
from polaroc.predictions.usual_keys import column_names_of
from polaroc.predictions.wide import MODEL, with_row_cases
from polaroc.typing import Array, IntoExpr
from polaroc.uncertainty.polars_influence import influence, influence_column

PAIR = (
    "difference", "std_error", "lower", "upper", "statistic", "p_value", "p_adjusted",
)  # fmt: skip
FEW = 3
TWO_SCORES = ["p_logreg", "p_forest"]
WHOLE_CASES = "drop such cases of all models before, or correct them."
# Differences and variances below are mere rounding.
NO_DIFFERENCE, NO_VARIANCE = 1e-12, 1e-26


@dataclass(frozen=True)
class PairedCases:
    """Scores of one test set per block, by several models."""

    rows: pl.DataFrame  # test sets, model, case, score and truth, sorted
    blocks: list[str]
    model: str
    case: str | None


@dataclass(frozen=True)
class Block:
    """Estimates and influence of a measure for several models in one block."""

    key: tuple[object, ...]  # of the block
    models: list[object]  # sorted
    estimates: "Array"  # one per model, NaN where it has none
    influence: tuple[list["Array"], list["Array"]]  # of positives and negatives, a list by model
    paired: bool  # in the same order of cases

    def variance(self, a: int, b: int) -> float:
        """The variance of a difference, NaN where a class has fewer than two cases."""
        total = 0.0
        for among in self.influence:
            own, other = among[a], among[b]
            if min(own.size, other.size) < 2:
                return float("nan")
            # From the differences, not from three variances: models that are all but
            # equal would drown in rounding.
            moved = [own - other] if self.paired else [own, other]
            total += sum(float(part.var(ddof=1)) / part.size for part in moved)
        return total

    def covariance(self) -> "Array":
        """The covariance of estimates of the same cases, NaN where a class has fewer than two."""
        total = np.zeros((len(self.models), len(self.models)))
        for among in self.influence:
            if min(part.size for part in among) < 2:
                return total * float("nan")
            total += np.cov(np.stack(among)).reshape(total.shape) / among[0].size
        return total


def read_cases(cases: Cases[Any], hint: str = WHOLE_CASES) -> PairedCases:
    """Cases of each test set; raise where models did not score the same ones.

    Test sets are the values of `by` and folds. In a wide table each row is a case where no column
    tells them apart.
    """
    model, case = model_column(cases), cases.case
    if cases.weight is not None:
        raise InvalidArgument(
            "weight is given, and models are compared case by case on one test set, where each "
            "case counts once.",
            hint="leave it out.",
        )
    if case is None and not cases.scores and "case" not in cases.absent:
        raise InvalidArgument(
            "nothing tells which rows are the same case, by which models are compared.",
            hint=Hint(
                "name its column, {case}; case=None says that every model has a test set of its "
                "own.",
                command_line="name its column, {case}; --no-case says that every model has a test "
                "set of its own.",
                case="id",
            ),
        )
    if cases.scores and case is None:
        table, case = with_row_cases(cases.table)
        cases = replace(cases, table=cast(Any, table), case=case)
    of_case = None if case is None else column_name(case, "case")
    also = [] if of_case is None else [of_case]
    _refuse_roles_among(cases.by, model, also)
    # Rows cannot be dropped one by one: a case is compared as scored by all models.
    with without_nulls(hint):
        predictions = read(cases, also=also, collected=True)
    blocks = [key for key in predictions.keys if key not in (model, *also)]
    check_keys(blocks, also=[f"{model}_a", f"{model}_b", *PAIR])
    sorted_by = [*blocks, model, *also]
    rows = predictions.valid_rows.sort(sorted_by, nulls_last=True).collect()
    if rows[model].n_unique() < 2:
        raise InvalidArgument(
            f"{model!r} has {rows[model].n_unique()} value(s), a comparison needs two.",
            hint=Hint("give a column of scores for each model: {score}.", score=TWO_SCORES)
            if cases.scores
            else "is this the column that tells the models apart?",
        )
    paired = PairedCases(rows, blocks, model, of_case)
    if of_case is not None:
        _refuse_unpaired(paired, of_case)
    return paired


def model_column(cases: Cases[Any]) -> str:
    """The name of the column that tells the models apart; raise where there is none."""
    if cases.scores:
        return MODEL
    if cases.model is not None:
        return column_name(cases.model, "model")
    names = cases.table.lazy().collect_schema().names()
    if cases.truth is None:
        raise InvalidArgument(
            f"nothing tells the models apart; the table has {quoted(names)}.",
            hint=Hint("name the column that does, {model}.", model="model"),
        )
    raise InvalidArgument(
        "nothing tells the models apart, and there is one column of scores: a comparison "
        f"needs two models or more; the table has {quoted(names)}.",
        hint=Hint(
            "give one column of scores per model, {score}, or with a row per model and "
            "case the column that tells the models apart, {model}.",
            score=TWO_SCORES,
            model="model",
        ),
    )


def _refuse_roles_among(by: Sequence[IntoExpr], model: str, of_case: Sequence[str]) -> None:
    """Refuse the column of the models, and that of the cases, among those of the test sets."""
    named = [key for key in by if isinstance(key, str)]
    taken = [key for key in named if key in (model, *of_case)]
    if taken:
        role = "models apart, as model" if taken[0] == model else "cases apart, as case"
        raise InvalidArgument(
            f"by has {quoted(taken[:1])}, which tells the {role} says.",
            hint=Hint(
                "by are test sets that are compared each on its own: leave it out, {by}.",
                by=[key for key in named if key not in taken],
            ),
        )


def common_cases_of(
    cases: Cases[pl.DataFrame], model: str
) -> tuple[Cases[pl.DataFrame], str | None]:
    """The cases that all models of a test set scored, and what is to be said of the others.

    Each fold is a test set. Without `case` rows of one column of scores cannot be paired, and all
    are kept.
    """
    table, scores = cases.table, cases.scores
    case = None if cases.case is None else column_name(cases.case, "case")
    if case is None and not scores:
        return cases, None
    missing = {name: _is_missing(table, column, "score") for name, column in scores.items()}
    columns = [*missing.values()] or [_is_missing(table, cast(IntoExpr, cases.score), "score")]
    unscored = pl.any_horizontal(columns)
    unlabelled = _is_missing(table, cast(IntoExpr, cases.truth), "truth")
    if cases.weight is not None:
        unlabelled |= _is_missing(table, cases.weight, "weight")
    out = table.select(out=unscored | unlabelled)["out"]
    if not out.any():
        return replace(cases, nulls="raise"), None
    if scores:
        lost = table.select(**{name: is_so.sum() for name, is_so in missing.items()})
        by_model = [(name, count) for name, count in lost.row(0, named=True).items() if count]
        kept = table.filter(~out)
        number, left = table.height, table.height - kept.height
    else:
        without = table.filter(unscored)
        by_model = list(without.group_by(model).agg(pl.len().alias(SIZE)).sort(model).iter_rows())
        ids = table.filter(out).select(*column_names_of(cases.fold), case).unique()
        kept = join_on(table, ids, ids.columns, "anti", order="left")
        number, left = table.select(ids.columns).n_unique(), ids.height
    names = ", ".join(f"{count:,} of {quoted([name])}" for name, count in by_model[:MAX_NAMED])
    if len(by_model) > MAX_NAMED:
        names += f" and some of {len(by_model) - MAX_NAMED} more"
    why = f"scores are missing: {names}" if by_model else "their truth or weight is missing"
    said = (
        f"{left:,} of {number:,} cases {'was' if left == 1 else 'were'} left out of all models, "
        f"which are compared on the same {number - left:,}: {why}."
    )
    return replace(cases, table=kept, nulls="raise"), said


def _is_missing(table: pl.DataFrame, column: IntoExpr, argument: str) -> pl.Expr:
    """Whether a value is null or NaN."""
    value = single_column(column, argument, table.lazy())
    dtype = table.lazy().select(value).collect_schema().dtypes()[0]
    return (value.is_null() | value.is_nan()) if dtype.is_float() else value.is_null()


def blocks_of(
    cases: PairedCases, measure: Measure, curves: pl.DataFrame | None = None
) -> Iterator[Block]:
    """The estimates of a measure and the influence of the cases, block by block.

    `curves` are those of the cases, where they are known.
    """
    keys = [*cases.blocks, cases.model]
    if curves is None:
        curves = curve(keyed(cases.rows, truth=TRUTH, score=SCORE, by=keys))
    numbered = curves.lazy().filter(pl.col(SCORE).is_not_null()).with_row_index(PLACE)
    names = [influence_column(0, "pos"), influence_column(0, "neg")]
    sizes = (pl.col("pos") + pl.col("neg")).alias(SIZE)
    moved = influence(numbered, keys, [measure]).select(*keys, PLACE, sizes, *names).sort(PLACE)
    value = table_sums(curves.lazy(), keys, [measure]).select(
        *keys, measure.estimate.alias("estimate")
    )
    cells, estimates = pl.collect_all([moved, value])
    firsts = cells.group_by(keys).agg(pl.col(PLACE).min(), pl.len().alias(HAVE))
    models = cases.rows.group_by(keys, maintain_order=True).agg(pl.len().alias(SIZE))
    for table in (firsts, estimates):
        models = join_on(models, table, keys, "left", order="left")
    on_pos, on_neg, size = (cells[name].to_numpy() for name in (*names, SIZE))
    score, truth = (cases.rows[name].to_numpy() for name in (SCORE, TRUTH))
    start = 0
    for block in (
        models.partition_by(cases.blocks, maintain_order=True) if cases.blocks else [models]
    ):
        among: tuple[list[Array], list[Array]] = ([], [])
        for rows, first, count in block.select(SIZE, PLACE, HAVE).iter_rows():
            own = slice(start, start + rows)
            # Rows from the worst score to the best have the cells of the curve in reverse.
            cell = np.empty(rows, np.int64)
            reverse = np.arange(first + count - 1, first - 1, -1)
            cell[np.argsort(score[own])] = np.repeat(reverse, size[reverse])
            among[0].append(on_pos[cell[truth[own]]])
            among[1].append(on_neg[cell[~truth[own]]])
            start += rows
        yield Block(
            block.select(cases.blocks).row(0) if cases.blocks else (),
            block[cases.model].to_list(), block["estimate"].to_numpy().astype(float), among,
            cases.case is not None,
        )  # fmt: skip


def _refuse_unpaired(cases: PairedCases, case: str) -> None:
    rows, key = cases.rows, [*cases.blocks, case]
    if rows[case].null_count():
        raise InvalidPredictions(
            f"{rows[case].null_count()} rows have no case.", hint=f"fill in the column {case!r}."
        )
    if _is_paired(cases, case):
        return
    refuse_twice(rows.select(*key, cases.model), [*key, cases.model])
    per_block = [pl.col(cases.model).n_unique().alias("models")]
    wanted = rows.group_by(cases.blocks).agg(per_block) if cases.blocks else rows.select(per_block)
    counts = rows.group_by(key).agg(
        pl.len().alias("found"), pl.col(TRUTH).n_unique().alias("kinds")
    )
    if cases.blocks:
        counts = join_on(counts, wanted, cases.blocks)
    else:
        counts = counts.join(wanted, how="cross")
    _refuse(counts.filter(pl.col("found") < pl.col("models")), key,
            "cases lack a score by some model",
            Hint("keep the cases that all models scored, or case=None for independent test sets.",
                 command_line="keep the cases that all models scored."),
            )  # fmt: skip
    _refuse(counts.filter(pl.col("kinds") > 1), key, "cases have a truth that differs by model",
            "one case has one truth: check how the tables were joined.")  # fmt: skip


def _is_paired(cases: PairedCases, case: str) -> bool:
    """Whether all models of a block have the same rows of a case and its truth, each once."""
    rows = cases.rows.select(*cases.blocks, cases.model, case, TRUTH)
    blocks = rows.partition_by(cases.blocks, include_key=False) if cases.blocks else [rows]
    for block in blocks:
        first, *others = block.partition_by(cases.model, include_key=False, maintain_order=True)
        if first[case].n_unique() < first.height or not all(map(first.equals, others)):
            return False
    return True


def refuse_twice(rows: pl.DataFrame, key: Sequence[str]) -> None:
    """Refuse cases that a model has twice on one test set; the key tells rows apart."""
    case = key[-2] if len(key) > 1 else key[0]
    twice = rows.group_by(key).agg(pl.len().alias(SIZE)).filter(pl.col(SIZE) > 1)
    _refuse(twice, key, "cases are there twice for a model",
            Hint("keep one row per case and model, or say that no column tells cases apart, "
                 "case=None. Number the cases of several folds throughout. Where several rows "
                 "belong to one patient, customer or the like, take one row of each; "
                 f"pr.bootstrap(cluster={case!r}) gives measures limits that hold.",
                 command_line="keep one row per case and model, or say that no column tells cases "
                 "apart, --no-case. Number the cases of several folds throughout. Where several "
                 "rows belong to one patient, customer or the like, take one row of each."),
            )  # fmt: skip


def _refuse(cases: pl.DataFrame, key: Sequence[str], what: str, hint: str) -> None:
    if cases.is_empty():
        return
    first = cases.select(key).sort(key).head(FEW).rows(named=True)
    named = "; ".join(", ".join(f"{k}={v!r}" for k, v in row.items()) for row in first)
    more = f" and {cases.height - FEW} more" if cases.height > FEW else ""
    raise InvalidPredictions(f"{cases.height} {what}: {named}{more}.", hint=hint)
