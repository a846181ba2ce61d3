# Two commands: `make quickstart` shows SmartRAG on real documents, `make test` checks it.
# Both set up everything they need in .venv and in the model cache ($SMARTRAG_HOME).

PYTHON ?= python3
MODEL ?= qwen2.5-coder-1.5b

BIN := .venv/bin
SOURCES := pyproject.toml constraints.txt CMakeLists.txt \
  $(wildcard kernels/include/* kernels/src/* kernels/src/*/*)

# The vision part of llama.cpp is not used; leaving it out saves a third of the compile time.
export CMAKE_ARGS ?= -DLLAVA_BUILD=OFF

.PHONY: quickstart test clean

quickstart: .venv/runtime
	$(BIN)/smartrag models pull minilm-l6-int8 $(MODEL)
	$(BIN)/smartrag --store quickstart.db ingest sample/corpus
	$(BIN)/smartrag --store quickstart.db ask --trace --model $(MODEL) \
	  "Alfie Allen played Theon Greyjoy on which show?"
	$(BIN)/smartrag --store quickstart.db ask --trace --model $(MODEL) \
	  "Where was the place of death of the director of film Majestic Hotel Cellars?"
	$(BIN)/smartrag --store quickstart.db ask --trace --model $(MODEL) \
	  "Which enzyme unwinds DNA during replication in Escherichia coli?"

test: .venv/test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest

.venv/runtime: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install -c constraints.txt -e '.[all]'
	touch $@

.venv/test: .venv/runtime
	$(BIN)/pip install -c constraints.txt -e '.[all,train,test]'
	touch $@

clean:
	rm -rf .venv build
	rm -f quickstart.db quickstart.db-wal quickstart.db-shm
