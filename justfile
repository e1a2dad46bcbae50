# Recipes need `just` (from your package manager, or `pip install rust-just`)
# and an active virtual environment; `just setup` fills it.

default:
    @just --list

# Install the package with what development needs.
setup:
    pip install -e ".[all]"

# The test suite.
test *ARGS:
    pytest {{ARGS}}

# The tests that take no server, browser or long calculation: for every save.
quick *ARGS:
    pytest -q -m "not slow and not engine" {{ARGS}}

# The lines of the package that the test suite runs.
coverage *ARGS:
    pytest -q --cov=polaroc --cov-report=term:skip-covered {{ARGS}}

# The README's two commands, as on a machine that has Python and nothing else.
bare:
    .ci/bare

# The quick tests on each installed Python from 3.11 on, in environments of their own.
pythons *ARGS:
    .ci/pythons {{ARGS}}

# Tests with the oldest allowed version of every dependency: `just lowest tests src` runs all.
lowest *TESTS:
    .ci/lowest {{TESTS}}

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

# Time and memory, beside a bare sort and other libraries: `just bench speed`, `memory`, `models`, `warehouse`, `imports`.
bench *ARGS:
    python tests/benchmarks/bench.py {{ARGS}}

# Simulations that claims rest on: without a name it lists them, `just simulate gates_cases --write` keeps the results.
simulate *ARGS:
    PYTHONPATH=tests:tests/support python -m simulations {{ARGS}}

# Predictions of the papers' models, made again: satellite, sonar, ionosphere or a file of the phoneme data.
papers DATA *ARGS:
    PYTHONPATH=queries python -m papers {{DATA}} {{ARGS}}

# Run every query on its own data.
queries:
    @for query in queries/*.py; do echo "$query"; python "$query"; done

# Fill the tables of docs/reproduction.md with what the queries answer.
tables:
    python docs/tables.py

# Fill in what the Python blocks of the README and of docs/ print, or of pages: `just outputs guide/files`.
outputs *PAGES:
    python docs/outputs.py {{PAGES}}

# The page with an example of MLflow, in an environment of its own.
tracking *ARGS:
    .ci/tracking {{ARGS}}

# Make the pictures of the README and the site again, or charts by name: `just pictures satellite`.
pictures *NAMES:
    python docs/pictures.py {{NAMES}}

# Build the site into build/docs; open index.html there.
docs:
    sphinx-build --fail-on-warning --keep-going --quiet docs build/docs

# Open the pages of the built site in Chromium: is every live chart drawn?
live-charts:
    python tests/tools/live_site.py build/docs

# Random tables against rational numbers, loops over their rows and scikit-learn: more of them.
differential TABLES="60000":
    POLAROC_TABLES={{TABLES}} pytest -q -m "" tests/measures/test_exact_oracle.py tests/measures/test_metamorphic.py tests/predictions/test_random_roles.py

# Kills, full disks, little memory.
faults:
    pytest -q -m "" tests/files/test_faults.py

# Build wheel and sdist, and use each in a clean environment (needs `pip install build twine`).
package:
    .ci/package
