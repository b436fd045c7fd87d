package rules_test

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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
		"internal/rules/clients_test.go.")
}

func TestClients_GoThroughBounds(t *testing.T) {
	t.Parallel()
	var broken breaches
	for folder, files := range packages(t) {
		if !strings.HasPrefix(folder, "backends/") || isTool(folder) {
			continue
		}
		isBounded := slices.ContainsFunc(files, func(f sourceFile) bool {
			return slices.Contains(f.imports(), modulePath+"/internal/bounded")
		})
		if connects := len(clients[folder]) > 0 && folder != "backends/mongo"; connects && !isBounded {
			broken.add(folder, "connects to a service, and does not import internal/bounded")
		}
		for _, file := range files {
			for _, use := range unboundedIn(file) {
				broken.add(file.path, "has", use)
			}
			if made := regexp.MustCompile(`http\.Client\{|outbound\.HostTransport`).FindString(file.text); made != "" && !isBounded {
				broken.add(file.path, "has", made, "and no bounds for it")
			}
		}
	}
	broken.report(t, "What a service answers is read within bounds: connect with bounded.Dial, make each http.Client with "+
		"bounded.Client, and read with bounded.ReadAll (internal/bounded).")
}

// unboundedIn returns what a file uses of other packages that connects or reads past the bounds.
func unboundedIn(file sourceFile) []string {
	var found []string
	uses := map[string]*regexp.Regexp{
		"io":       regexp.MustCompile(`^(ReadAll|LimitReader|LimitedReader)$`),
		"ioutil":   regexp.MustCompile(`^ReadAll$`),
		"bufio":    regexp.MustCompile(`^(NewReader|NewReadWriter|NewScanner)`),
		"net":      regexp.MustCompile(`^(Dial.*|Resolver)$`),
		"tls":      regexp.MustCompile(`^Dial`),
		"http":     regexp.MustCompile(`^(DefaultClient|DefaultTransport|Transport|Get|Head|Post|PostForm)$`),
		"smtp":     regexp.MustCompile(`^(Dial.*|SendMail)$`),
		"outbound": regexp.MustCompile(`^Fetch$`),
	}
	ast.Inspect(file.syntax, func(node ast.Node) bool {
		selector, isSelector := node.(*ast.SelectorExpr)
		if !isSelector {
			return true
		}
		of, isName := selector.X.(*ast.Ident)
		if isName && uses[of.Name] != nil && uses[of.Name].MatchString(selector.Sel.Name) && importsAs(file, of.Name) {
			found = append(found, of.Name+"."+selector.Sel.Name)
		}
		return true
	})
	return found
}

// importsAs reports whether a name in a file is that of a package that it imports.
func importsAs(file sourceFile, name string) bool {
	return slices.ContainsFunc(file.syntax.Imports, func(spec *ast.ImportSpec) bool {
		if spec.Name != nil {
			return spec.Name.Name == name
		}
		return path.Base(strings.Trim(spec.Path.Value, `"`)) == name
	})
}

// The rule itself finds what goes past the bounds, and nothing else.
func TestClients_FindsWhatIsUnbounded(t *testing.T) {
	t.Parallel()
	const bad = `package bad

import (
	"io"
	"net/http"
)

func read() { r, _ := http.Get("x"); io.ReadAll(r.Body); own.ReadAll(r.Body); io.Copy(nil, nil) }
`
	syntax, err := parseSource("bad.go", bad)
	if err != nil {
		t.Fatal(err)
	}
	if found := unboundedIn(sourceFile{path: "bad.go", text: bad, syntax: syntax}); !slices.Equal(found, []string{"http.Get", "io.ReadAll"}) {
		t.Errorf("found %v", found)
	}
}
