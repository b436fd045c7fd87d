package rules_test

import (
	"encoding/json"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// floors are the packages of the project by level, lowest first. A package imports only packages of lower levels. An
// entry with the suffix /... includes all packages below it.
var floors = [][]string{
	{"internal/display"},
	{"boterr", "internal/blame", "internal/conformance", "internal/fair", "internal/nearest", "internal/textdiff", "script/internal/quickjs"},
	{"internal/absent", "internal/bounded", "internal/cron", "internal/safelog", "script/internal/locale"},
	{"outbound", "internal/bounded/boundedtest", "internal/golden", "internal/operations", "internal/rounds", "internal/scripttest", "internal/sealed", "internal/timelimit"},
	{"fakes/web", "internal/operations/declarations"},
	{"document", "internal/background"},
	{"internal/arbitrary", "internal/geometry", "internal/operations/schemas", "internal/page", "internal/redact", "internal/taps", "script/internal/modules", "script/internal/web"},
	{"internal/query"},
	{"store/query"},
	{"store"},
	{"internal/engine", "internal/pgserver", "store/memstore/internal/persistent"},
	{"store/memstore", "store/storetest"},
	{"internal/record", "internal/sharedtest"},
	{"channel", "agenda"},
	{"internal/channels", "utility"},
	{"member", "datasource"},
	{"internal/members", "internal/datasources"},
	{"internal/chatlog", "internal/lease"},
	{"internal/replies"},
	{"send", "internal/agendas", "internal/inbox", "internal/utilities"},
	{"internal/calls", "internal/sends"},
	{"internal/inbox/inboxtest"},
	{"livechat"},
	{"internal/around", "internal/livechats", "internal/render"},
	{"botctx", "internal/chatplatform", "internal/pieces", "send/sendtest"},
	{"botctx/schema", "fakes/expect", "internal/chaostest", "internal/chatplatform/chatplatformtest", "internal/inbound", "internal/operations/reference", "internal/session/sessiontest", "internal/telegramfake", "livechat/livechattest"},
	{"internal/graph"},
	{"botctx/botctxtest", "fakes", "backends/...", "internal/graph/graphtest"},
	{"fakes/conversation", "fakes/explore", "internal/alphafake", "internal/bravofake", "internal/echofake", "internal/fakestest", "internal/foxtrotfake", "internal/hotelfake", "fakes/recording"},
	{"internal/connectortest", "internal/session"},
	{"host/admin", "host/desk", "fakes/console", "script", "fakes/simulator"},
	{"examples/program"},
	{"docs/guides/...", "examples/...", "internal/dev/...", "internal/generate", "internal/operations/gen", "internal/rules", "script/internal/locale/generate"},
}

// floorOf returns the index of a package's level and the matching entry, or -1.
func floorOf(folder string) (int, string) {
	for i, floor := range floors {
		for _, entry := range floor {
			tree, isTree := strings.CutSuffix(entry, "...")
			if folder == entry || isTree && strings.HasPrefix(folder+"/", tree) {
				return i, entry
			}
		}
	}
	return -1, ""
}

func TestFloors_EachPackageHasOne(t *testing.T) {
	t.Parallel()
	var broken breaches
	for folder := range packages(t) {
		if floor, _ := floorOf(folder); floor < 0 {
			broken.add(folder, "is on no floor")
		}
	}
	broken.report(t, "Every package stands on a floor, which decides what it may import. "+
		"Add the package to the table in internal/rules/packages_test.go, as low as its imports allow.")
}

func TestFloors_ImportOnlyFromLower(t *testing.T) {
	t.Parallel()
	var broken breaches
	for _, file := range shippedFiles(t) {
		for _, imported := range file.imports() {
			target, isOurs := strings.CutPrefix(imported, modulePath+"/")
			if isOurs && !mayImport(file.folder(), target) {
				broken.add(file.path, "imports", target)
			}
		}
	}
	broken.report(t, "A package imports only from lower floors (the table is in internal/rules/packages_test.go). "+
		"Take what is needed from above as a function or a small interface.")
}

// mayImport reports whether a package in folder may import a package in target. Packages of one program or backend
// may import each other.
func mayImport(folder, target string) bool {
	from, entry := floorOf(folder)
	to, targetEntry := floorOf(target)
	if tree, isTree := strings.CutSuffix(entry, "..."); isTree && targetEntry == entry {
		return branch(folder, tree) == branch(target, tree)
	}
	return to >= 0 && to < from
}

// branch returns the first folder of a path inside a tree.
func branch(folder, tree string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(folder, tree), "/")
	return name
}

func TestFloors_NameEachPackageOnce(t *testing.T) {
	t.Parallel()
	entries := slices.Concat(floors...)
	slices.Sort(entries)
	if unique := slices.Compact(slices.Clone(entries)); len(unique) != len(entries) {
		t.Errorf("a package stands on two floors in internal/rules/packages_test.go: %v", entries)
	}
}

// shippedModules are the modules that a program gets when it imports the core.
var shippedModules = []string{
	"github.com/google/uuid",      // ids
	"github.com/tidwall/gjson",    // paths into raw JSON
	"github.com/tidwall/match",    // of gjson
	"github.com/tidwall/pretty",   // of gjson
	"github.com/gorhill/cronexpr", // CRON patterns
	"github.com/golang/geo",       // spherical geometry
}

// testModules are modules that only tests and *test packages add.
var testModules = []string{
	"github.com/stretchr/testify",
	"go.yaml.in/yaml/v3", // of testify
}

const dependencyRule = "The core depends on nothing but the modules that internal/rules/packages_test.go lists, " +
	"so that importing it pulls in nothing else. Put what needs another into a nested module, such as those of backends/."

// goMod is the output of `go mod edit -json`.
type goMod struct {
	Require []goModule `json:"Require"`
	Exclude []goModule `json:"Exclude"`
	Tool    []goModule `json:"Tool"`
	Replace []struct {
		Old goModule `json:"Old"`
		New goModule `json:"New"`
	} `json:"Replace"`
}

type goModule struct {
	Path string `json:"Path"`
}

// readGoMod returns the module file in a folder.
func readGoMod(t *testing.T, folder string) (mod goMod) {
	t.Helper()
	text := strings.Join(goCommand(t, "mod", "edit", "-json", folder+"/go.mod"), "\n")
	require.NoError(t, json.Unmarshal([]byte(text), &mod))
	return mod
}

func TestDependencies_GoMod(t *testing.T) {
	t.Parallel()
	mod := readGoMod(t, ".")
	var broken breaches
	for _, required := range mod.Require {
		if !slices.Contains(slices.Concat(shippedModules, testModules), required.Path) {
			broken.add("go.mod", "requires", required.Path)
		}
	}
	broken.report(t, dependencyRule)
	require.Empty(t, mod.Replace, "go.mod replaces nothing: who imports the core would not get the replacement")
	require.Empty(t, mod.Exclude, "go.mod excludes nothing: it would hold here and not for who imports the core")
	require.Empty(t, mod.Tool, "tools are pinned in internal/dev/tools.mod, so that go.mod holds what the core imports")
}

func TestDependencies_NestedModulesReplaceOnlyModulesHere(t *testing.T) {
	t.Parallel()
	var broken breaches
	for _, file := range allFiles(t) {
		if path.Base(file.path) != "go.mod" || file.folder() == "." {
			continue
		}
		mod := readGoMod(t, file.folder())
		for _, replaced := range mod.Replace {
			if !strings.HasPrefix(replaced.New.Path, "..") || !strings.HasPrefix(replaced.Old.Path, modulePath) {
				broken.add(file.path, "replaces", replaced.Old.Path)
			}
		}
		for _, excluded := range slices.Concat(mod.Exclude, mod.Tool) {
			broken.add(file.path, "has an exclude or tool line for", excluded.Path)
		}
	}
	broken.report(t, "A nested module replaces only modules of this repository, by their folder; it excludes none and has no tools.")
}

// goCommand runs the go command in the core module and returns its lines.
func goCommand(t *testing.T, args ...string) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = root
	var complaint strings.Builder
	command.Stderr = &complaint
	out, err := command.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(args, " "), complaint.String())
	return strings.Split(strings.TrimRight(string(out), "\n"), "\n")
}

// clients maps each shipped package under backends/ to its tests with misbehaving servers, for example with endless
// responses. It maps a package to nil if the package makes no connections or if its driver guards them.
var clients = map[string][]string{
	"backends/alpha":    {"TestFailures", "TestRateLimit_TellsTheTime", "TestOpen_EndlessFile"},
	"backends/blob":     nil, // The drivers of buckets connect, and a host imports them.
	"backends/sqlite":   nil,
	"backends/bravo":    {"TestFailures", "TestRateLimit_OfARecipient", "TestOpen_SendsTheTokenToThePlatformAlone"},
	"backends/charlie":  {"TestFailures", "TestRateLimit_IsWaitedFor"},
	"backends/echo":     {"TestFailures", "TestRateLimit_TellsTheTime", "TestOpen_EndlessFile"},
	"backends/foxtrot":  {"TestFailures", "TestRateLimit_TellsTheTime"},
	"backends/golf":     {"TestCharge_EndlessAnswer", "TestCharge_RedirectIsNotFollowed", "TestCharge_RetryAfter"},
	"backends/hotel":    {"TestFailures", "TestRateLimit_TellsTheTime", "TestOpen_EndlessFile"},
	"backends/mongo":    {"TestOpen_EndlessAnswer"}, // The driver has its own limits.
	"backends/otel":     nil,                        // The exporters are the host's.
	"backends/postgres": nil,                        // The driver has its own limits, and the host runs the server.
	"backends/smtp":     {"TestSend_EndlessAnswer"},
	"backends/telegram": {"TestFailures", "TestRetryAfter_Obeyed"},
	"backends/webchat":  nil, // Browsers connect to it.
	"backends/webhook":  {"TestSend_EndlessAnswer", "TestSend_RedirectCarriesNothing", "TestRetryAfter_Obeyed"},
}

// isTool reports whether a package under backends/ is a program, a server or a test suite that hosts do not run.
func isTool(folder string) bool {
	return slices.ContainsFunc(strings.Split(folder, "/"), func(name string) bool {
		return strings.HasSuffix(name, "test") || name == "memserver"
	})
}

func TestClients_EachIsTestedWithoutAnEnd(t *testing.T) {
	t.Parallel()
	var broken breaches
	for folder := range packages(t) {
		if _, isListed := clients[folder]; strings.HasPrefix(folder, "backends/") && !isTool(folder) && !isListed {
			broken.add(folder, "is not in the table")
		}
	}
	for folder, tests := range clients {
		if len(packages(t)[folder]) == 0 {
			broken.add(folder, "is in the table, and not there")
		}
		for _, name := range tests {
			declaration := regexp.MustCompile(`(?m)^func ` + name + `\(t \*testing\.T\)`)
			if !slices.ContainsFunc(goFiles(t), func(f sourceFile) bool {
				return f.folder() == folder && f.isTest() && declaration.MatchString(f.text)
			}) {
				broken.add(folder, "has no test", name)
			}
		}
	}
	broken.report(t, "Every backend that connects to a service has a test in which the service never ends its answer "+
		"(internal/bounded/boundedtest), and one in which it redirects; package internal/connectortest has both. Write them, and put the backend into the table in "+
		"internal/rules/packages_test.go.")
}
