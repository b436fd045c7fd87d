package rules_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"go/ast"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// floors are the packages of the project, lowest first: each imports only from
// floors below its own. An entry that ends in /... holds everything under it.
var floors = [][]string{
	{"internal/display"},
	{"boterr", "internal/blame", "internal/bounded", "internal/conformance", "internal/fair", "internal/nearest", "internal/textdiff", "script/internal/quickjs", "script/internal/slots"},
	{"internal/absent", "internal/cron", "script/internal/locale"},
	{"outbound", "internal/bounded/boundedtest", "internal/inbound", "internal/golden", "internal/operations", "internal/page", "internal/rounds", "internal/safelog", "internal/timelimit"},
	{"fakes/web", "internal/operations/declarations"},
	{"document"},
	{"internal/arbitrary", "internal/geometry", "internal/operations/schemas", "script/internal/modules", "script/internal/web"},
	{"internal/query"},
	{"store/query"},
	{"store"},
	{"store/memstore/internal/persistent"},
	{"store/memstore", "store/storetest"},
	{"internal/record"},
	{"channel", "agenda"},
	{"internal/channels", "utility"},
	{"member", "datasource"},
	{"internal/members", "internal/datasources"},
	{"internal/lease"},
	{"internal/replies"},
	{"send", "internal/agendas", "internal/inbox", "internal/utilities"},
	{"internal/sends"},
	{"internal/inbox/inboxtest"},
	{"livechat"},
	{"internal/around", "internal/livechats"},
	{"botctx", "internal/chatplatform", "send/sendtest"},
	{"botctx/schema", "fakes/expect", "internal/chaostest", "internal/operations/reference"},
	{"botctx/botctxtest", "fakes", "backends/...", "script/internal/nodefile"},
	{"fakes/conversation", "fakes/explore", "internal/fakestest", "fakes/recording"},
	{"host/admin", "fakes/console", "script", "fakes/simulator"},
	{"examples/program"},
	{"docs/guides/...", "examples/...", "internal/dev/...", "internal/generate", "internal/genfields", "internal/operations/gendoc", "internal/operations/genschemas", "internal/rules", "script/internal/locale/generate"},
}

// floorOf returns the index of a package's floor and the entry that names it,
// or -1.
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

// mayImport reports whether the package in one folder may import that in
// another. Within one program or backend, packages import each other freely.
func mayImport(folder, target string) bool {
	from, entry := floorOf(folder)
	to, targetEntry := floorOf(target)
	if tree, isTree := strings.CutSuffix(entry, "..."); isTree && targetEntry == entry {
		return branch(folder, tree) == branch(target, tree)
	}
	return to >= 0 && to < from
}

// branch returns the first folder of a path below a tree.
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

// shippedModules are the modules that a program gets by importing the core.
var shippedModules = []string{
	"github.com/google/uuid",      // ids
	"github.com/tidwall/gjson",    // paths into raw JSON
	"github.com/tidwall/match",    // of gjson
	"github.com/tidwall/pretty",   // of gjson
	"github.com/gorhill/cronexpr", // CRON patterns
	"github.com/golang/geo",       // spherical geometry
}

// testModules are the modules that only tests and *test packages add.
var testModules = []string{
	"github.com/stretchr/testify",
	"go.yaml.in/yaml/v3", // of testify
}

const dependencyRule = "The core depends on nothing but the modules that internal/rules/packages_test.go lists, " +
	"so that importing it pulls in nothing else. Put what needs another into a nested module, such as those of backends/."

// goMod is what `go mod edit -json` shows of a go.mod.
type goMod struct {
	Require []goModule       `json:"Require"`
	Exclude []goModule       `json:"Exclude"`
	Tool    []goModule       `json:"Tool"`
	Replace []map[string]any `json:"Replace"`
}

type goModule struct {
	Path string `json:"Path"`
}

func TestDependencies_GoMod(t *testing.T) {
	t.Parallel()
	var mod goMod
	text := strings.Join(goCommand(t, "mod", "edit", "-json"), "\n")
	require.NoError(t, json.Unmarshal([]byte(text), &mod))

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

// clients are the packages under backends/ that ship, with the tests that show what they do with an answer that has no
// end. Those without a test connect to nothing themselves.
var clients = map[string][]string{
	"backends/blob":    nil, // The drivers of buckets connect, and a host imports them.
	"backends/bolt":    nil,
	"backends/charlie": {"TestSend_EndlessAnswer", "TestSend_RedirectIsNotFollowed", "TestRateLimit_IsWaitedFor"},
	"backends/golf":    {"TestCharge_EndlessAnswer", "TestCharge_RedirectIsNotFollowed", "TestCharge_RetryAfter"},
	"backends/mongo":   {"TestOpen_EndlessAnswer"}, // The driver has bounds of its own.
	"backends/otel":    nil,                        // The exporters are the host's.
	"backends/smtp":    {"TestSend_EndlessAnswer"},
	"backends/webhook": {"TestSend_EndlessAnswer", "TestSend_RedirectCarriesNothing", "TestRetryAfter_Obeyed"},
}

// isTool reports whether a package under backends/ is a program, a server or a suite for tests, which no host runs.
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
		"(internal/bounded/boundedtest), and redirects. Write them, and put the backend into the table in "+
		"internal/rules/packages_test.go.")
}

func TestPlatforms_AreComplete(t *testing.T) {
	t.Parallel()
	var broken breaches
	for _, platform := range declaredTypes(t) {
		if !slices.Contains(channel.Types(), platform) {
			broken.add("channel/platform.go", "the table has no row for", string(platform))
		}
		broken = append(broken, missingOf(t, platform)...)
	}
	broken.report(t, "A type of channels has its row in the table of platforms, a connector in the fakes, "+
		"its shape of results, and its place among the results in operations.json.")
}

// declaredTypes returns the types of channels that package channel has constants for.
func declaredTypes(t *testing.T) []channel.Type {
	t.Helper()
	var types []channel.Type
	for _, file := range packages(t)["channel"] {
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			spec, isValue := node.(*ast.ValueSpec)
			if !isValue {
				return true
			}
			if name, isNamed := spec.Type.(*ast.Ident); isNamed && name.Name == "Type" {
				value := spec.Values[0].(*ast.BasicLit).Value
				types = append(types, channel.Type(strings.Trim(value, `"`)))
			}
			return true
		})
	}
	require.NotEmpty(t, types)
	return types
}

// missingOf returns what there is not for a platform.
func missingOf(t *testing.T, platform channel.Type) breaches {
	t.Helper()
	var broken breaches
	shape := channel.PlatformOf(platform).Result
	sent, err := sentOn(t, platform)
	switch {
	case errors.Is(err, boterr.Unsupported):
		broken.add("fakes/connectors.go", "the fakes have no connector to", string(platform))
	case err != nil:
		broken.add("fakes", string(platform), "takes no text:", err.Error())
	case !hasKeys(sent, shape):
		broken.add("send/result.go", "a result on", string(platform), "has the keys", strings.Join(sent, ", "),
			"and channel/platform.go says", strings.Join(slices.Sorted(slices.Values(slices.Concat(shape.Keys, shape.Optional))), ", "))
	}
	for _, name := range []string{"sendResponse", "sendMessageToInlet", "sendMessageToOutletGroup"} {
		keys := keysInTable(t, name, platform)
		if name == "sendMessageToOutletGroup" && len(keys) == 0 {
			continue // It is for platforms with groups of agents alone.
		}
		if !slices.Equal(keys, slices.Concat(shape.Keys, shape.Optional)) {
			broken.add("internal/operations/operations.json", name, "on", string(platform), "gives",
				cmp.Or(strings.Join(keys, ", "), "nothing"), "and channel/platform.go says",
				strings.Join(slices.Concat(shape.Keys, shape.Optional), ", "))
		}
	}
	return broken
}

// sentOn returns the keys of the result of a text that is sent on a platform.
func sentOn(t *testing.T, platform channel.Type) ([]string, error) {
	t.Helper()
	p := fakes.New()
	p.AddChannel(channel.Channel{ID: "front", Type: platform})
	ada := p.AddMember(member.Member{Channel: "front", FirstName: "Ada"})
	sent, err := ada.Context().SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hello")})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(sent)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	return slices.Sorted(maps.Keys(fields)), nil
}

func hasKeys(keys []string, shape channel.ResultShape) bool {
	isKnown := func(key string) bool { return slices.Contains(slices.Concat(shape.Keys, shape.Optional), key) }
	for _, needed := range shape.Keys {
		if !slices.Contains(keys, needed) {
			return false
		}
	}
	return !slices.ContainsFunc(keys, func(key string) bool { return !isKnown(key) })
}

// keysInTable returns the keys of the result of an operation on a platform, as the reference
// has them.
func keysInTable(t *testing.T, name string, platform channel.Type) []string {
	t.Helper()
	operation, ok := operations.ByName(name)
	require.True(t, ok, name)
	var keys []string
	for _, response := range operation.Responses {
		if slices.Contains(response.Platforms, string(platform)) {
			for _, field := range response.Fields {
				keys = append(keys, field.Name)
			}
		}
	}
	return keys
}

// The reference limits operations and fields to the platforms that have a feature.
func TestPlatforms_AreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	var broken breaches
	for name, feature := range map[string]channel.Feature{
		"reassignAssignment": channel.OutletGroups, "sendMessageToOutletGroup": channel.OutletGroups,
		"sendMessageToInletGroup": channel.InletGroups, "createAssignment.createGroup": channel.LiveChatAPI,
		"reassignAssignment.takenMessage": channel.TakenMessages, "sendMessageToOutletGroup.responseUrl": channel.ResponseURLs,
		"inletEndLiveChat.options.recallRelayMessage": channel.TicketRecall,
		"sendResponse.messagingType":                  channel.MessagingTypes, "sendResponse.messagingTag": channel.MessagingTypes,
	} {
		var known []string
		for _, platform := range feature.Types() {
			known = append(known, string(platform))
		}
		given := slices.Sorted(slices.Values(platformsAt(t, name)))
		slices.Sort(known)
		if !slices.Equal(given, known) {
			broken.add("internal/operations/operations.json", name, "is for", strings.Join(given, ", "),
				"and channel/platform.go says", strings.Join(known, ", "))
		}
	}
	broken.report(t, "Where the reference limits something to platforms, it is those that have the feature in channel/platform.go.")
}

// platformsAt returns the platforms of an operation, or of one of its parameters.
func platformsAt(t *testing.T, path string) []string {
	t.Helper()
	names := strings.Split(path, ".")
	operation, ok := operations.ByName(names[0])
	require.True(t, ok, path)
	platforms, fields := operation.Platforms, operation.Parameters
	for _, name := range names[1:] {
		i := slices.IndexFunc(fields, func(f operations.Field) bool { return f.Name == name })
		require.GreaterOrEqual(t, i, 0, path)
		platforms, fields = fields[i].Platforms, fields[i].Fields
	}
	return platforms
}
