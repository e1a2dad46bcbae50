# Recipes need `just` (from your package manager, or `pip install rust-just`)
# and an active virtual environment; `just setup` fills it.

default:
    @just --list

# Install the package with what development needs.
setup:
    pip install -e ".[all]"

# The main job on embedded data.
demo:
    polaroc demo

# The test suite.
test *ARGS:
    pytest {{ARGS}}

# The README's two commands, as on a machine that has Python and nothing else.
bare:
    .ci/bare

# The tests that take no server, browser, fault or long calculation: for every save.
quick *ARGS:
    pytest -q -m "not slow and not engine and not browser and not faults" {{ARGS}}

# The lines of the package that the test suite runs (`just coverage` is that of the intervals).
line-coverage *ARGS:
    pytest -q --cov=polaroc --cov-report=term:skip-covered {{ARGS}}

# The quick tests on each Python from 3.11 on that is installed, in environments of their own.
pythons *ARGS:
    .ci/pythons {{ARGS}}

# Each extra alone, in an environment of its own.
extras:
    .ci/extras

# Style, formatting, spelling, and the order of the packages.
lint:
    ruff check .
    ruff format --check .
    typos
    lint-imports

# Static types, by two checkers.
types:
    mypy
    pyright

# Time and memory at 10 million rows, beside a bare sort and scikit-learn.
bench *ARGS:
    python tests/benchmarks/bench.py {{ARGS}}

# Time of choose and gate on one test set, as multiples of evaluate.
test-set-times *ARGS:
    python tests/benchmarks/test_set_times.py {{ARGS}}

# How the processor time of each function grows with rows, keys, models, priors, days and clusters:
# `--write` takes about 10 minutes.
growth *ARGS:
    python tests/benchmarks/growth.py {{ARGS}}

# Everything at 16 priors on DuckDB, Sail and Spark, beside an AUC in SQL written by hand.
bench-warehouse *ARGS:
    python tests/benchmarks/warehouse.py {{ARGS}}

# What evaluate of a lazy frame and of a scan cost over that of the table in memory.
lazy-time *ARGS:
    python tests/benchmarks/lazy_time.py {{ARGS}}

# What intervals of evaluate cost, alone and by clusters, over evaluate without them.
intervals-time *ARGS:
    python tests/benchmarks/intervals.py {{ARGS}}

# What other packages answer beside ours, in environments of their own: docs/elsewhere.md.
elsewhere *ARGS:
    python tests/benchmarks/elsewhere.py {{ARGS}}

# How long `import polaroc` takes beside `import polars`, at most 1.25 times, and names of it.
import-time *ARGS:
    python tests/benchmarks/import_time.py {{ARGS}}

# Where the time of evaluate goes, and the other formulations that were tried.
formulations *ARGS:
    python tests/benchmarks/formulations.py {{ARGS}}

# Coverage and width of the intervals, by simulation: about 15 minutes.
coverage *ARGS:
    python tests/benchmarks/coverage.py {{ARGS}}

# The same where cases come in clusters, or with sampling weights.
dependent-cases *ARGS:
    python tests/benchmarks/dependent_cases.py {{ARGS}}

# How often tests and intervals err where rows come in clusters, or with `--crossed` share customers
# and days: `--write` takes about 15 minutes.
clusters *ARGS:
    python tests/benchmarks/clusters.py {{ARGS}}

# The same where rows have sampling weights: `--write` takes about 10 minutes.
weights *ARGS:
    python tests/benchmarks/weights.py {{ARGS}}

# Probabilities: coverage of the intervals of scoring rules, size of the test of calibration, and log
# loss at priors in use, and how far off they are once the prior moved (parts: intervals, size, line, use,
# moved, differences).
calibration *ARGS:
    python tests/benchmarks/calibration.py {{ARGS}}

# How long the report takes to open in Chromium, and its size.
opening *ARGS:
    python tests/benchmarks/opening.py {{ARGS}}

# One key of 50 million rows on a Spark cluster of two workers, one of which dies halfway.
spark-scale *ARGS:
    python tests/benchmarks/spark_scale.py {{ARGS}}

# How often `compare` finds a difference where there is none, by design and learner, and its power.
error-rates *ARGS:
    python tests/benchmarks/design_rates.py {{ARGS}}

# The rates of all tests of one design, P-ROC's among them.
test-rates *ARGS:
    python tests/benchmarks/error_rates.py {{ARGS}}

# How often `gate` passes a challenger that is worse by exactly the margin.
gate *ARGS:
    python tests/benchmarks/gate_rates.py {{ARGS}}

# The same with few cases, beside other intervals that were tried: about 3 minutes.
gate-small *ARGS:
    python tests/benchmarks/gate_small.py {{ARGS}}

# How often `gate` passes a challenger that misses some positives: `--write` takes about 8 minutes.
gate-missed *ARGS:
    python tests/benchmarks/gate_missed.py {{ARGS}}

# How often the model that `choose` picks is the best, beside the probability it gives.
how-sure *ARGS:
    python tests/benchmarks/how_sure.py {{ARGS}}

# What a report shows of its thresholds beside what they cost in truth, by simulation.
threshold-costs *ARGS:
    python tests/benchmarks/threshold_costs.py {{ARGS}}

# How often the limits of a report's thresholds hold their true rates, by simulation.
threshold-limits *ARGS:
    python tests/benchmarks/threshold_limits.py {{ARGS}}

# Coverage of the intervals of applied thresholds, further rates, decision curves and least costs,
# by enumeration and simulation (parts: known, belief, rates, estimated, measures, decisions, costs).
applied-intervals *ARGS:
    python tests/benchmarks/applied_intervals.py {{ARGS}}

# How often a promised threshold breaks its promise, and the recall it costs: about 5 minutes.
promises *ARGS:
    python tests/benchmarks/promises.py {{ARGS}}

# How often promises are broken of the model that was picked, and at an estimated prior (parts: models,
# estimated): about 4 minutes.
promises-picked *ARGS:
    python tests/benchmarks/promised_choices.py {{ARGS}}

# Coverage of the intervals of estimate_prior, by simulation.
priors *ARGS:
    python tests/benchmarks/prior_coverage.py {{ARGS}}

# Estimators of the prior beside others that were tried, on a grid of shifts.
prior-estimators *ARGS:
    python tests/benchmarks/prior_estimators.py {{ARGS}}

# `monitor`, labels and carried estimates, by simulation: parts are carried, carried-to-a-choice,
# false-alarms, jitter, delays, speed, drifts, test-size, labels, labels-of-many-days and samples.
in-use *ARGS:
    python tests/benchmarks/in_use.py {{ARGS}}

# How long `monitor` takes to see a change, by its kind and size: about 8 minutes.
detection *ARGS:
    python tests/benchmarks/detection.py {{ARGS}}

# How often `monitor` raises a false alarm where days differ, and how soon it sees a prior that left its range,
# by jitter and by the days of the reference.
days *ARGS:
    python tests/benchmarks/days.py {{ARGS}}

# Predictions of the papers' models, made again: satellite, sonar, ionosphere or a file of the phoneme
# data, and if need be the number of hold-outs and the file to write.
papers DATA *ARGS:
    PYTHONPATH=queries python -m papers {{DATA}} {{ARGS}}

# What each query answers; run one with `python queries/NAME.py [FILE]`.
queries:
    @python -c 'import ast, pathlib; [print(f"{q.stem:32}", ast.get_docstring(ast.parse(q.read_text())).splitlines()[0]) for q in sorted(pathlib.Path("queries").glob("*.py"))]'

# Run every query on its own data.
run-queries:
    @for query in queries/*.py; do echo "$query"; python "$query"; done

# AccSens Table 2 with more hold-outs than the embedded scores have.
sensitivity DATA="sonar" HOLDOUTS="300":
    PYTHONPATH=queries python -m papers {{DATA}} {{HOLDOUTS}} build/{{DATA}}-{{HOLDOUTS}}.parquet
    python queries/sensitivity_table.py build/{{DATA}}-{{HOLDOUTS}}.parquet {{DATA}}

# How far AccSens Table 2 is matched with other seeds (a few minutes).
seeds HOLDOUTS="30" SEEDS="20":
    PYTHONPATH=queries python tests/benchmarks/table_2_seeds.py {{HOLDOUTS}} {{SEEDS}}

# Fill the tables of docs/reproduction.md with what the queries answer.
tables:
    python docs/tables.py

# Fill in what the Python blocks of the README and of docs/ print, or of pages: `just outputs guide/files`.
outputs *PAGES:
    python docs/outputs.py {{PAGES}}

# The page that needs MLflow and skore, in an environment of its own; `just tracking --write` fills it in.
tracking *ARGS:
    .ci/tracking {{ARGS}}

# Make the pictures of the README and the site again, or charts by name: `just pictures satellite`.
pictures *NAMES:
    python docs/pictures.py {{NAMES}}

# Random tables against rational numbers, loops over their rows and scikit-learn: more of them, or
# other seeds.
differential TABLES="60000" SEED="1":
    POLAROC_TABLES={{TABLES}} POLAROC_SEED={{SEED}} pytest -q tests/measures/test_exact_oracle.py tests/measures/test_metamorphic.py tests/predictions/test_random_roles.py

# Each wrong value for each argument of every public function.
wrong-arguments:
    POLAROC_WRONG=1000 pytest -q tests/base/test_wrong_arguments.py

# Kills, full disks, little memory: more of them than the test suite has.
faults KILLS="200":
    POLAROC_KILLS={{KILLS}} pytest -q tests/files/test_faults.py

# Broken files against the command line, for so many seconds.
fuzz SECONDS="300":
    python tests/tools/fuzz.py {{SECONDS}}

# The same, searching for new paths in the code (needs `pip install atheris`).
fuzz-guided SECONDS="300":
    python tests/tools/fuzz.py --guided {{SECONDS}}

# Small changes to the code that no test notices, of a random sample.
mutants *ARGS:
    python tests/tools/mutants.py {{ARGS}}

# Tests with the oldest allowed version of every dependency: `just lowest tests src` runs all.
lowest *TESTS:
    .ci/lowest {{TESTS}}

# Build wheel and sdist, and use each in a clean environment (needs `pip install build twine`).
package:
    .ci/package

# Known weaknesses of the installed dependencies (needs `pip install pip-audit`, and a registry
# that has advisories).
audit:
    pip-audit --skip-editable

# The licences of all that polaroc needs.
licences:
    python tests/tools/licences.py

# Build the site into build/docs; open index.html there.
docs:
    sphinx-build --fail-on-warning --keep-going --quiet docs build/docs

# Open the pages of the built site in Chromium: is every live chart drawn?
live-charts:
    python tests/tools/live_site.py build/docs
