# Needs Python 3.11+ and make; everything else is installed into .venv by the first command.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Tests start many processes: what is compiled is kept.
export PYTHONDONTWRITEBYTECODE :=

SITE := src/quaestor/web/site/index.html

.PHONY: run test short test-long check bench docs notebooks translations screenshots clean

run: $(READY) $(SITE)  ## start the main job
	$(BIN)/quaestor serve

test: $(READY)  ## style, types, layers and, at the same time, all tests but the long ones
	@$(MAKE) --no-print-directory --jobs=2 check short

short: $(READY)
	$(BIN)/python -m pytest -n 2 -m "not long"

test-long: $(READY) $(SITE)  ## the long walks, load and coverage runs
	$(BIN)/python -m pytest -n 2 -m long

check: $(READY)  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/vulture
	$(BIN)/python -m pytest -q tests/test_layers.py tests/test_tests.py

bench: $(READY)  ## print the figures of benchmarks/README.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench]"
	$(BIN)/python benchmarks/loading.py
	$(BIN)/python benchmarks/exchange.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python benchmarks/inference.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python benchmarks/large.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python benchmarks/limits.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python benchmarks/ranking.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python benchmarks/session.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python benchmarks/simulation.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python benchmarks/learning.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python benchmarks/web.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python benchmarks/pages.py
	PYTHONPATH=tests $(BIN)/python benchmarks/exam_key.py
	PYTHONPATH=tests $(BIN)/python benchmarks/offline.py

docs: $(READY)  ## write docs/api.md and docs/commands.md from the docstrings, and build the site, which the server has at /docs
	$(BIN)/python docs/make_api.py
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -d build/doctrees docs src/quaestor/web/site

notebooks: $(READY)  ## run the notebooks and store what they show
	$(BIN)/python docs/run_notebooks.py

translations: $(READY)  ## bring the catalogues of all languages up to date with the sources; LANGUAGE=it begins another
	PYTHONPATH=tests $(BIN)/python -m helpers.translations $(LANGUAGE)

screenshots: $(READY)  ## draw every main page into screenshots/, at phone and desktop width, light and dark
	PYTHONPATH=tests $(BIN)/python -m helpers.screenshots

clean:
	rm -rf $(VENV) build dist src/quaestor/web/site

$(SITE): $(READY) $(wildcard docs/*.* docs/*/*.*)
	$(BIN)/python -m sphinx --quiet -d build/doctrees docs src/quaestor/web/site
	@touch $(SITE)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Quaestor needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $(READY)
