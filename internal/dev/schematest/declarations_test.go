package schematest_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Folders with scripts that the declarations must accept.
var scripts = []string{"testdata/scripts", "../patterns", "../../../examples/scripted"}

// wrong are faulty pieces of scripts, with the compiler's errors for them.
var wrong = map[string]string{
	`await this.getMembr({ memberId: "m" });`:  "'getMembr' does not exist",
	`await this.getMember({});`:                "'memberId' is missing",
	`await this.getMember({ memberId: 5 });`:   "'number' is not assignable to type 'string'",
	`await this.getMember({ memberID: "m" });`: "'memberID' does not exist",
	`await this.getMember();`:                  "Expected 1 arguments",
	`const member = await this.getMember({ memberId: "m" }); member.fristName.length; member._id.push(1);`:                   "'push' does not exist",
	`const member = this.getMember({ memberId: "m" }); console.log(member._id);`:                                             "'_id' does not exist",
	`await this.countDataSource({ filter: {} });`:                                                                            "'dataSourceId' is missing",
	`const n = await this.fetchDataFromDataSource({ dataSourceId: "a", count: true }); n.length;`:                            "'length' does not exist",
	`const rows = await this.fetchDataFromDataSource({ dataSourceId: "a" }); rows + 1; rows.first();`:                        "'first' does not exist",
	`await this.newAgenda({ memberId: "m", nodeCompositeId: "n" });`:                                                         "is not assignable",
	`await this.newAgenda({ memberId: "m", nodeCompositeId: "n", nextRunAt: new Date() });`:                                  "'Date' is not assignable to type 'number'",
	`await this.findAndModifyMember({ filter: {}, patch: {}, option: { returnDocument: "behind" } });`:                       `is not assignable to type '"after" | "before"`,
	`await this.sendResponse({ response: { text: "no type" } });`:                                                            "'type' is missing",
	`await this.sendResponse({ response: { type: "TEXT" }, memberId: [1] });`:                                                "'number' is not assignable to type 'string'",
	`await this.createAssignment({ targets: [{ label: "no channel" }] });`:                                                   "'channel' is missing",
	`await this.createAssignment({ member: { firstName: "no _id" } });`:                                                      "'_id' is missing",
	`await this.sendEmail({ destination: { ToAddresses: "a@example.com" }, message: { Subject: { Data: "" }, Body: {} } });`: "is not assignable to type 'string[]'",
	`const sent = await this.sendResponse({ response: { type: "TEXT" }, memberId: ["a", "b"] }); sent.result;`:               "'result' does not exist",
	`this.channel = this.member;`: "read-only",
	`this.agendaMta.x = 1;`:       "'agendaMta' does not exist",
	`const answer = await fetch("https://example.com"); answer.json.body;`: "'body' does not exist",
	`document.title;`: "Cannot find name 'document'",
	`process.exit();`: "Cannot find name 'process'",
}

func TestDeclarations_AllowScriptsAndRefuseMistakes(t *testing.T) {
	t.Parallel()
	compiler := filepath.Join("..", "node_modules", ".bin", "tsc")
	if _, err := os.Stat(compiler); err != nil {
		t.Skip("TypeScript is not here: run npm ci --ignore-scripts in internal/dev")
	}
	folder := t.TempDir()
	texts := readScripts(t)
	right := slices.Sorted(maps.Keys(texts))
	require.GreaterOrEqual(t, len(right), 3)
	var left strings.Builder
	for i, file := range right {
		write(t, folder, fmt.Sprintf("right%d.js", i), asFunction(i, texts[file]))
		for _, found := range leaves.FindAllStringSubmatch(texts[file], -1) {
			if !slices.Contains(records, found[1]) {
				fmt.Fprintf(&left, "  %s: any;\n", found[1])
			}
		}
	}
	write(t, folder, "left.d.ts", "declare namespace botctx {\n interface Left {\n"+left.String()+"}\n}\n")
	pieces := slices.Sorted(maps.Keys(wrong))
	for i, piece := range pieces {
		write(t, folder, fmt.Sprintf("wrong%d.js", i), asFunction(len(right)+i, piece))
	}
	said := compileAll(t, compiler, folder)
	for i, file := range right {
		name := fmt.Sprintf("right%d.js", i)
		require.Empty(t, ignored.ReplaceAllString(said[name], ""), "%s", file)
		delete(said, name)
	}
	for i, piece := range pieces {
		require.Contains(t, said[fmt.Sprintf("wrong%d.js", i)], wrong[piece], "%s", piece)
	}
	require.Len(t, said, len(pieces), "%v", said)
}

// ignored matches the compiler's messages for unknown parameters of operations, which scripts of the platform pass
// and only strict mode refuses, and for missing modules of a script.
var ignored = regexp.MustCompile(`right\d+\.js\(\d+,\d+\): error (TS2353: .*|TS2307: Cannot find module '\./.*)\n( .*\n)*`)

// leaves matches assignments of values that a script leaves on `this` for other scripts.
var leaves = regexp.MustCompile(`\bthis\.(\w+) = `)

// records are already on `this`.
var records = []string{"channel", "member", "node", "agendaMeta", "messageEvent", "group"}

func readScripts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, folder := range scripts {
		require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && isLeftOut(path, entry.Name()):
				return fs.SkipDir
			case filepath.Ext(path) != ".js":
				return nil
			}
			text, err := os.ReadFile(path)
			texts[path] = string(text)
			return err
		}))
	}
	return texts
}

// isLeftOut reports whether a folder has other JavaScript, such as modules and test inputs.
func isLeftOut(path, name string) bool {
	return name == "node_modules" || name == "testdata" && filepath.Dir(path) != "."
}

func asFunction(number int, body string) string {
	return fmt.Sprintf("// @ts-check\n/** @this {botctx.Context} */\nasync function script%d() {\n%s\n}\n", number, body)
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
}

// compileAll compiles the files of a folder with the declarations. It returns the messages for each file.
func compileAll(t *testing.T, compiler, folder string) map[string]string {
	t.Helper()
	declarations, err := filepath.Abs("../../../botctx/schema/botctx.d.ts")
	require.NoError(t, err)
	compiler, err = filepath.Abs(compiler)
	require.NoError(t, err)
	write(t, folder, "tsconfig.json", fmt.Sprintf(`{
		"compilerOptions": {"strict": true, "noImplicitAny": false, "strictNullChecks": false, "useUnknownInCatchVariables": false,
			"allowJs": true, "checkJs": true, "noEmit": true, "lib": ["es2022"], "target": "es2022", "types": []},
		"include": ["*.js", "*.d.ts", %q]
	}`, declarations)) // As editors check JavaScript, which cannot declare null.
	command := exec.CommandContext(t.Context(), compiler, "--project", folder, "--pretty", "false")
	command.Dir = folder
	output, _ := command.CombinedOutput() // The command fails if a file has errors.
	said, file := map[string]string{}, ""
	for line := range strings.Lines(string(output)) {
		if named, _, isNew := strings.Cut(line, "("); isNew && !strings.HasPrefix(line, " ") {
			file = filepath.Base(named)
		}
		said[file] += line
	}
	return said
}
