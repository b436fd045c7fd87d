# The targets need only Go and make. `make help` lists them.

# The core module and the modules inside it.
MODULES := $(sort $(dir $(shell find . -name go.mod -not -path './.*/*' -not -path '*/node_modules/*')))

# Tests run under the race detector if it can be built, which needs a C compiler. It is set in GOFLAGS
# so that it applies to programs that tests build, too, and these reuse the packages that the tests
# have compiled. Its checks of unsafe pointers are off: they take a tenth of the tests' time, and no
# package here has such pointers. It does not check SQLite, which is translated from C. Only debuggers read DWARF,
# and without it, compiling takes 4 to 13% less. Each program would also sleep for a second before it exits.
RACE := -race "-gcflags=all=-d=checkptr=0 -dwarf=false" "-gcflags=modernc.org/sqlite/lib=-race=false -dwarf=false"
FOR_TESTS = PLAIN_GOFLAGS='$(shell go env GOFLAGS)' $(if $(shell go build -race runtime/cgo 2>/dev/null && echo yes),GORACE=atexit_sleep_ms=0 GOFLAGS='$(shell go env GOFLAGS) $(RACE)',CGO_ENABLED=0)

# Less frequent garbage collection needs more memory, but saves a tenth of the tests' time and a third of the linters'.
test thorough lint words: export GOGC = 400

BIN := $(CURDIR)/.bin
BENCH ?= .
FUZZTIME ?= 10s

# $(call each,command) runs a command in every module. It fails if the command failed in any of them.
define each
	@failed=; for module in $(MODULES); do \
		echo "== $$module: $(1)"; \
		(cd $$module && $(1)) || failed="$$failed $$module"; \
	done; \
	test -z "$$failed" || { echo "failed in:$$failed"; exit 1; }
endef

.PHONY: help
help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-14s%s\n", $$1, $$2 }' Makefile

.PHONY: test
test: ## runs all tests of all modules, under the race detector if it can be built
	@why=$$(go build -race runtime/cgo 2>&1) || \
		echo "The race detector cannot be built here, so the tests run without it: $$why"
	@$(FOR_TESTS) .ci/each .ci/test $(MODULES)

.PHONY: thorough
thorough: ## runs the long searching tests without the race detector, and prints the number of rounds of each
	@.ci/each .ci/thorough $(MODULES)

.PHONY: npm
npm: ## installs npm packages that some tests need; without npm, these tests are skipped with a message
	@command -v npm >/dev/null || { echo "npm is not installed, so tests that need npm packages are skipped"; exit 0; }; \
	git ls-files '*package-lock.json' | while read -r lock; do \
		npm ci --prefix "$$(dirname "$$lock")" --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null || \
			echo "npm could not install the packages of $$lock, so the tests that need them are skipped"; \
	done

.PHONY: vet
vet: ## runs go vet in every module; make lint includes its checks
	$(call each,go vet ./...)

# The engine of scripts takes its memory from the system: one way on Linux, another elsewhere.
.PHONY: systems
systems: ## runs go vet on the engine of scripts for another system and processor
	cd script && CGO_ENABLED=0 GOOS=windows GOARCH=arm64 go vet ./internal/quickjs

.PHONY: lint
lint: words $(BIN)/golangci-lint $(BIN)/go.work ## runs make words, and the linters of .golangci.yml in every module
	GOWORK=$(BIN)/go.work $(BIN)/golangci-lint run $(MODULES:%=%...)

# The workspace has all modules, so that the linters read each package once and not once for each module that uses it.
$(BIN)/go.work: $(MODULES:%=%go.mod)
	@mkdir -p $(BIN) && rm -f $@ && GOWORK=$@ go work init $(MODULES)

.PHONY: words
words: $(BIN)/golangci-lint ## checks the wording of comments and documents by the rules in internal/dev/words
	@git ls-files '*.go' '*.md' ':!*_gen.go' | xargs $(BIN)/vale --output=line

.PHONY: fmt
fmt: $(BIN)/golangci-lint ## formats every Go file
	$(BIN)/golangci-lint fmt

.PHONY: generate
generate: ## rewrites the generated files
	$(call each,go generate ./...)

# Lists all files with their checksums. The check therefore also works in a clone with uncommitted changes.
CHECKSUMS := find . -type f -not -path './.git/*' -not -path './.bin/*' -exec cksum {} +

.PHONY: generated
generated: ## checks that the generated files are current
	@before=$$($(CHECKSUMS)); $(MAKE) --no-print-directory generate && after=$$($(CHECKSUMS)) || exit 1; \
	changed=$$(printf '%s\n%s\n' "$$before" "$$after" | sort | uniq -u | cut -d ' ' -f 3- | sort -u); \
	test -z "$$changed" || { printf 'make generate changed these files; commit the changes:\n%s\n' "$$changed"; exit 1; }

.PHONY: dependencies
dependencies: ## checks the list of modules that the core needs, and that every go.mod is tidy
	go test -count=1 -run Dependencies -v ./internal/rules
	$(call each,go mod tidy -diff)

.PHONY: bench
bench: ## runs the benchmarks; BENCH=regexp selects some of them
	$(call each,go test -run '^$$' -bench '$(BENCH)' -benchmem ./...)

.PHONY: figures
figures: ## prints the size of the project, and how much of it a call uses
	cd internal/dev && go run ./figures

.PHONY: fuzz
fuzz: ## runs every fuzz target for FUZZTIME (10s)
	@grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | while IFS=: read -r file target; do \
		echo "== $$file: $${target#func }"; \
		(cd "$$(dirname "$$file")" && go test -run '^$$' -fuzz "^$${target#func }\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x .) || exit 1; \
	done

.PHONY: check
check: ## runs all steps of CI
	.ci/run

.PHONY: release
release: ## prepares the release of VERSION (such as v0.1.0): requires, changelog, checks, and the tags to set
	@cd internal/dev && go run ./release -version '$(VERSION)' >/dev/null
	ROUNDS=thorough $(MAKE) --no-print-directory check
	@cd internal/dev && echo 'Commit what changed, and set these tags on the commit:' && go run ./release -tags -version '$(VERSION)'

# Installs the tools in the versions of internal/dev/tools.mod.
$(BIN)/golangci-lint: internal/dev/tools.mod internal/dev/tools.sum
	GOBIN=$(BIN) go -C internal/dev install -modfile=tools.mod tool
	@touch $@
