# Everything here needs Go and make alone. `make help` lists the targets.

# The core and the modules nested in it.
MODULES := $(sort $(dir $(shell find . -name go.mod -not -path './.*/*' -not -path '*/node_modules/*')))

# Tests run under the race detector where it can be built, which takes a C compiler. In GOFLAGS it
# holds for programs that tests build, too: they are made of the packages that the tests have compiled.
# The race detector's checks of unsafe pointers are off: they are a tenth of the time that the tests
# take, and no package here has such pointers. SQLite, which is translated from C, is not watched.
RACE := -race -gcflags=all=-d=checkptr=0 -gcflags=modernc.org/sqlite/lib=-race=false
FOR_TESTS = PLAIN_GOFLAGS='$(shell go env GOFLAGS)' $(if $(shell go build -race runtime/cgo 2>/dev/null && echo yes),GOFLAGS='$(shell go env GOFLAGS) $(RACE)',CGO_ENABLED=0)

BIN := $(CURDIR)/.bin
BENCH ?= .
FUZZTIME ?= 10s

# $(call each,command) runs a command in every module, and fails if it failed in one.
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
test: ## runs every test of every module, under the race detector where there is one
	@why=$$(go build -race runtime/cgo 2>&1) || \
		echo "The race detector cannot be built here, so the tests run without it: $$why"
	@$(FOR_TESTS) .ci/each .ci/test $(MODULES)

.PHONY: thorough
thorough: ## runs the tests that search at length, without the race detector, and says how many rounds each one ran
	@.ci/each .ci/thorough $(MODULES)

.PHONY: npm
npm: ## gets what some tests take from npm, where npm is; without it they are skipped, and say so
	@command -v npm >/dev/null || { echo "npm is not installed: tests that need its packages are skipped"; exit 0; }; \
	git ls-files '*package-lock.json' | while read -r lock; do \
		npm ci --prefix "$$(dirname "$$lock")" --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null || \
			echo "npm has no packages for $$lock: the tests that need them are skipped"; \
	done

.PHONY: vet
vet: ## runs go vet in every module; make lint has its checks, too
	$(call each,go vet ./...)

# The engine of scripts takes its memory from the system: one way on Linux, another elsewhere.
.PHONY: systems
systems: ## runs go vet on the engine of scripts for another system and processor
	cd script && CGO_ENABLED=0 GOOS=windows GOARCH=arm64 go vet ./internal/quickjs

.PHONY: lint
lint: words $(BIN)/golangci-lint ## checks the words, and runs the linters of .golangci.yml in every module
	$(call each,$(BIN)/golangci-lint run ./...)

.PHONY: words
words: $(BIN)/golangci-lint ## checks the words of comments and documents by the rules in internal/dev/words
	@git ls-files '*.go' '*.md' ':!*_gen.go' | xargs $(BIN)/vale --output=line

.PHONY: fmt
fmt: $(BIN)/golangci-lint ## formats every Go file
	$(BIN)/golangci-lint fmt

.PHONY: generate
generate: ## writes the generated files anew
	$(call each,go generate ./...)

# A list of all files with their checksums, so that the check works in a clone
# with changes, too.
CHECKSUMS := find . -type f -not -path './.git/*' -not -path './.bin/*' -exec cksum {} +

.PHONY: generated
generated: ## checks that the generated files are current
	@before=$$($(CHECKSUMS)); $(MAKE) --no-print-directory generate && after=$$($(CHECKSUMS)) || exit 1; \
	changed=$$(printf '%s\n%s\n' "$$before" "$$after" | sort | uniq -u | cut -d ' ' -f 3- | sort -u); \
	test -z "$$changed" || { printf 'These were not as the generator writes them; commit what it wrote:\n%s\n' "$$changed"; exit 1; }

.PHONY: dependencies
dependencies: ## checks the modules that the core needs, and that every go.mod is tidy
	go test -count=1 -run Dependencies -v ./internal/rules
	$(call each,go mod tidy -diff)

.PHONY: bench
bench: ## runs the benchmarks; BENCH=regexp chooses among them
	$(call each,go test -run '^$$' -bench '$(BENCH)' -benchmem ./...)

.PHONY: figures
figures: ## prints how large the project is, and how much of it a call enters
	cd internal/dev && go run ./figures

.PHONY: fuzz
fuzz: ## runs every fuzz target for FUZZTIME (10s)
	@grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | while IFS=: read -r file target; do \
		echo "== $$file: $${target#func }"; \
		(cd "$$(dirname "$$file")" && go test -run '^$$' -fuzz "^$${target#func }\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x .) || exit 1; \
	done

.PHONY: check
check: ## does all that CI does
	.ci/run

.PHONY: release
release: ## prepares the release of VERSION (v0.1.0): requires, changelog, checks, and the tags to set
	@cd internal/dev && go run ./release -version '$(VERSION)' >/dev/null
	$(MAKE) --no-print-directory check thorough
	@cd internal/dev && echo 'Commit what changed, and set these tags on the commit:' && go run ./release -tags -version '$(VERSION)'

# The tools, in the versions that internal/dev/tools.mod pins.
$(BIN)/golangci-lint: internal/dev/tools.mod internal/dev/tools.sum
	GOBIN=$(BIN) go -C internal/dev install -modfile=tools.mod tool
	@touch $@
