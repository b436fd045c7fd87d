package rules_test

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// floors are the packages of the project, lowest first: each imports only from
// floors below its own. An entry that ends in /... holds everything under it.
var floors = [][]string{
	{"internal/display"},
	{"boterr", "internal/blame", "internal/bounded", "internal/conformance", "internal/fair", "internal/nearest", "internal/textdiff", "script/internal/quickjs", "script/internal/slots"},
	{"internal/absent", "script/internal/locale"},
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
	{"channel"},
	{"internal/channels", "utility"},
	{"member", "datasource"},
	{"internal/members", "internal/datasources"},
	{"internal/lease"},
	{"send", "agenda", "internal/inbox", "internal/utilities"},
	{"internal/inbox/inboxtest"},
	{"livechat"},
	{"internal/around"},
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
		"Add the package to the table in internal/rules/floors_test.go, as low as its imports allow.")
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
	broken.report(t, "A package imports only from lower floors (the table is in internal/rules/floors_test.go). "+
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

func TestFloors_TestingStaysOut(t *testing.T) {
	t.Parallel()
	var broken breaches
	for _, file := range shippedFiles(t) {
		folder := file.folder()
		if strings.HasSuffix(path.Base(folder), "test") || strings.HasPrefix(folder, "examples/") {
			continue
		}
		for _, imported := range file.imports() {
			if imported == "testing" || strings.HasPrefix(imported, "github.com/stretchr/testify") {
				broken.add(file.path, "imports", imported)
			}
		}
	}
	broken.report(t, "`testing` and testify are imported only by *test packages, _test.go files and examples. "+
		"Take a small interface that *testing.T meets instead, as fakes.For does.")
}

func TestFloors_NameEachPackageOnce(t *testing.T) {
	t.Parallel()
	entries := slices.Concat(floors...)
	slices.Sort(entries)
	if unique := slices.Compact(slices.Clone(entries)); len(unique) != len(entries) {
		t.Errorf("a package stands on two floors in internal/rules/floors_test.go: %v", entries)
	}
}
