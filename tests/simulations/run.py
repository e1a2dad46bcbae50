"""Run a simulation: ``just simulate`` lists the designs, ``just simulate gates_cases`` runs one.

A cell of a design is one situation, a row (or a few) of its results. A share p of n replicates has
the standard error √(p (1 − p) / n). With ``--write`` results go to ``results/NAME.csv``, and the
tables that pages show of them are filled in again.
"""

import argparse
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import polars as pl

from simulations import areas, choices, comparisons, gates, in_use, probabilities, promises, rates
from simulations.design import read, standard_error, write

MODULES = (areas, comparisons, choices, gates, promises, rates, probabilities, in_use)
DESIGNS = {
    f"{module.__name__.rpartition('.')[2]}_{name}": design
    for module in MODULES
    for name, design in module.DESIGNS.items()
}
PAGES = Path(__file__).parents[2] / "docs"
MARKED = re.compile(
    r"(<!-- results: (\w+); ([^;]+?)(?:; (.+?))? -->\n).*?(<!-- end -->)", re.DOTALL
)


def one(name: str, place: int, replicates: int) -> list[dict[str, str]]:
    """The results of a cell, in a process of its own."""
    return DESIGNS[name].rows(place, replicates)


def filled(page: str) -> str:
    """A page with the rows and columns that each of its tables names, from what is kept."""
    return MARKED.sub(
        lambda found: f"{found[1]}{page_table(*found.group(2, 3, 4))}{found[5]}", page
    )


def page_table(name: str, columns: str, only: str | None) -> str:
    """Columns of the kept results as a table of a page; a value is not repeated below itself.

    ``holds as coverage`` gives a column another name on the page.
    """
    rows = read(name)
    for part in only.split(" & ") if only else []:
        column, values = part.split("=")
        rows = rows.filter(pl.col(column).is_in(values.split("|")))
    names = [column.partition(" as ") for column in columns.split(", ")]
    heads = [new or kept for kept, _, new in names]
    lines, above = [heads, ["---"] * len(heads)], [""] * len(heads)
    for row in rows.select(kept for kept, _, _ in names).rows():
        cells = [*row]
        same = next((at for at, cell in enumerate(cells) if cell != above[at]), len(heads))
        lines.append([""] * same + cells[same:])
        above = cells
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """List the designs, or run one."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", nargs="?", choices=DESIGNS, metavar="NAME")
    parser.add_argument("--replicates", type=int)
    parser.add_argument("--cells", type=int, nargs="+", help="some cells, by their number from 0")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="keep the results, and fill the pages")
    asked = parser.parse_args()
    if asked.name is None:
        for name, design in DESIGNS.items():
            print(f"{name}: {len(design.cells)} cells of {design.replicates:,} replicates")
        return
    design = DESIGNS[asked.name]
    count = asked.replicates or design.replicates
    error = standard_error(0.05, count)
    print(f"{count:,} replicates, seed {design.seed}; a share of 0.05 has the SE {error:.3f}")
    found = []
    # Threads of Polars do not survive a fork.
    with ProcessPoolExecutor(asked.jobs, get_context("spawn")) as pool:
        places = range(len(design.cells)) if asked.cells is None else asked.cells
        for job in [pool.submit(one, asked.name, place, count) for place in places]:
            found += job.result()
            print(*job.result(), sep="\n", flush=True)
    if asked.write:
        write(asked.name, pl.DataFrame(found), list(design.cells[0]))
        for page in PAGES.rglob("*.md"):
            page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
