# Everything from a bare machine: Python >= 3.11 and make. Other interpreters: make PYTHON=python3.12
PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= 2
SAMPLE ?= samples/transpose
KERNEL ?= $(if $(filter samples/transpose,$(SAMPLE)),float_32_*,*)
ARGS   ?=

BIN       := $(VENV)/bin
INSTALLED := $(VENV)/.ptxaudit-installed
STAMP     := $(VENV)/.ptxaudit-test-installed
COMMA     := ,

.PHONY: audit test lint bench wheel docs reference hardware-check adversary-check calibrate-check hardware-doc operations coverage soak clean report-pictures architecture

# One real kernel, compiled by NVRTC and audited: no GPU needed. Another: make audit SAMPLE=samples/gemm
audit: $(INSTALLED)
	@echo "ptxaudit audit $(SAMPLE)/$(notdir $(SAMPLE)).cu --launch $(SAMPLE)/launch.toml --kernel '$(KERNEL)' $(ARGS)"
	@$(BIN)/ptxaudit audit $(SAMPLE)/$(notdir $(SAMPLE)).cu --launch $(SAMPLE)/launch.toml --kernel '$(KERNEL)' $(ARGS)

test: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

# Style, types, unused code, and the order of the packages (docs/architecture.md).
lint: $(VENV)/.ptxaudit-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/vulture

$(VENV)/.ptxaudit-lint: pyproject.toml
	$(call install,[test$(COMMA)lint])
	@touch $(INSTALLED) $(STAMP) $@

# Whole kernels against what a GPU counted: no GPU needed, the counts are in tests/data.
hardware-check: $(STAMP)
	$(BIN)/python tests/support/measured_kernels.py

# Kernels made to break the engine, with less and less specified, against what a GPU counted: every launch in tests/data. No GPU needed.
MEASURED := $(filter-out $(addprefix tests/data/,idioms_sm90 kernels_sm90 memory_sm90 samples_sm90),$(patsubst %/launches.json.gz,%,$(wildcard tests/data/*/launches.json.gz)))
adversary-check: $(STAMP)
	@for set in $(MEASURED); do echo $$set; more=; \
	  case $$set in */spaces_sm90) more="--space all --telling told --telling aligned --telling shape --telling nothing";; esac; \
	  $(BIN)/python -m bench.adversary compare $$set $$set/launches.json.gz --isa sass -j $(JOBS) $$more $(ARGS) || exit 1; done

# Every rule against single requests that a GPU counted: no GPU needed, the counts are in tests/data.
calibrate-check: $(STAMP)
	@$(BIN)/ptxaudit calibrate --results tests/data/requests_sm90.json.gz --results tests/data/calibration_sm90.json.gz --results tests/data/sparse_sm90.json.gz --results tests/data/zeros_sm90.json.gz --results tests/data/regular_zeros_sm90.json.gz $(ARGS)

# docs/hardware.md and its pictures, from the machine records and tests/data.
hardware-doc: $(STAMP)
	@$(BIN)/python -m bench.hardware_doc

# docs/operations.md, from the table of operations.
operations: $(STAMP)
	@$(BIN)/python -m bench.operations_doc

# docs/reference, from the commands, the Python API and the table of reasons.
reference: $(STAMP)
	@$(BIN)/python -m bench.reference_doc

# The documentation as a site, in build/site, from docs/ and mkdocs.yml.
docs: $(VENV)/.ptxaudit-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo build/site/index.html

$(VENV)/.ptxaudit-docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

# The pictures of docs/report.md, taken in the system's Chromium.
report-pictures: $(STAMP)
	@$(BIN)/python -m bench.report_pictures

# docs/architecture.svg, from the imports of the package.
architecture: $(STAMP)
	@$(BIN)/python -m bench.architecture

# docs/coverage.md and docs/machine_code.md, from bench/corpus.json and bench/artifacts.json; with CORPUS=FOLDER the folder's
# PTX is audited first, with WHEELS="FILE…" the machine code in packages.
coverage: $(STAMP)
	$(if $(CORPUS),$(BIN)/python -m bench.corpus $(CORPUS) -o bench/corpus.json)
	$(if $(WHEELS),$(BIN)/python bench/artifacts.py $(WHEELS) -o bench/artifacts.json)
	@$(BIN)/python bench/coverage.py
	@$(BIN)/python bench/artifacts.py --page

# The property tests of `make test`, for as long as one likes: random kernels against the interpreter of tests/support/twin, and
# inputs of every kind changed at random (docs/reliability.md).
SOAK ?= 600
START ?= 0
soak: $(STAMP)
	$(BIN)/python -m bench.mutations --start $(START) --cases 100000 --seconds $(SOAK) -j $(JOBS)
	$(BIN)/python bench/fuzz.py --seeds 100000 --seconds $(SOAK) -j $(JOBS)
	$(BIN)/python bench/fuzz.py --seeds 100000 --seconds $(SOAK) -j $(JOBS) --not-told
	$(BIN)/python bench/fuzz.py --seeds 100000 --seconds $(SOAK) -j $(JOBS) --machine-code

bench: $(STAMP)
	$(BIN)/python -m bench $(ARGS)

wheel: $(STAMP)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

# An editable install with these extras: it is made again only when pyproject.toml changes.
define install
@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "ptxaudit needs Python 3.11 or later; $(PYTHON) is %d.%d. Try: make PYTHON=python3.12" % v[:2])'
test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.$(1)'
endef

$(INSTALLED): pyproject.toml
	$(call install)
	@touch $@

# … with what the tests, bench and docs need besides.
$(STAMP): pyproject.toml
	$(call install,[test])
	@touch $(INSTALLED) $@

clean:
	rm -rf $(VENV) build dist
