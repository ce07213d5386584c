PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SAYING = "Setting up $(VENV), once: pip installs in silence, for some minutes; all of it takes about 800 MB."

SERVERS_DIR ?= .servers
SERVERS = $(abspath $(SERVERS_DIR))

.PHONY: run test test-servers axe check format mutants example bench pictures clean

run: $(VENV)/app.done ## set up and serve the app on 127.0.0.1:8501
	$(BIN)/streamlit run app.py

test: $(VENV)/dev.done $(if $(shell command -v npm),axe) ## set up and run every test; those in a browser where Chromium and npm are installed
	$(BIN)/python -m pytest -n auto --dist loadfile

test-servers: $(VENV)/dev.done $(SERVERS)/vllm.done $(SERVERS)/tf.done $(SERVERS)/litellm.done $(SERVERS)/tiny/config.json ## whole runs against vLLM, transformers serve and LiteLLM, set up in SERVERS_DIR (.servers): 7 GB once
	SERVERS_DIR=$(SERVERS) $(BIN)/python -m pytest tests/servers

axe: tests/node_modules/axe-core/axe.min.js ## get axe-core, which tests of accessibility need

check: $(VENV)/dev.done ## lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/dev.done ## put the code in form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

mutants: $(VENV)/dev.done ## plant faults in the samplers, one at a time: each must make a test fail
	$(BIN)/python -m tests.mutants

example: $(VENV)/dev.done ## make the shipped example run anew, with the demo model
	$(BIN)/python -m tests.example

bench: $(VENV)/dev.done ## the demo model's table: methods x tasks x seeds, and the pace of a run
	$(BIN)/python -m tests.bench

pictures: $(VENV)/dev.done ## photograph the app: docs/pictures, and every page in build/pictures
	$(BIN)/python -m tests.pictures

clean: ## remove what was set up; runs stay
	rm -rf $(VENV) .servers tests/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed: make PYTHON=python3.11')"
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/app.done: requirements.txt | $(BIN)/python
	@echo $(SAYING)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/dev.done: requirements.txt requirements-dev.txt | $(BIN)/python
	@echo $(SAYING)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@ $(VENV)/app.done

tests/node_modules/axe-core/axe.min.js: tests/package-lock.json
	npm ci --prefix tests --loglevel=error --no-audit --no-fund
	touch $@

$(SERVERS)/%.done: tests/servers/%.txt
	rm -rf $(SERVERS)/$*
	$(PYTHON) -m venv $(SERVERS)/$*
	$(SERVERS)/$*/bin/pip install --quiet --disable-pip-version-check -r $<
	$(SERVERS)/$*/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec # of vllm: built for GPUs, they break its import
	touch $@

$(SERVERS)/tiny/config.json: tests/servers/tiny_model.py | $(SERVERS)/tf.done
	$(SERVERS)/tf/bin/python $< $(SERVERS)/tiny vpp/llm/templates/*.txt assets/examples/penguins.csv
