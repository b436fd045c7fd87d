package rules_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
)

// documents returns the Markdown files without the inputs of generators.
func documents(t *testing.T) []sourceFile {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(allFiles(t)), func(f sourceFile) bool {
		return path.Ext(f.path) != ".md" || f.folder() == "internal/operations/reference"
	})
}

func TestDocuments_CodeIsCompiled(t *testing.T) {
	t.Parallel()
	code := withoutIndentation(t)
	var broken breaches
	for _, block := range blocks(t, "go") {
		if strings.Contains(block.text, `"example.com/firstbot"`) {
			continue // TestGuides_ANewUsersPath of docs/guides pastes it into a new module, and compiles it there.
		}
		if difference := notIn(code, block.text); difference != "" {
			broken.add(block.path, difference)
		}
	}
	broken.report(t, "Go code in a document is what a Go file of the repository has, line for line, but for the indentation: "+
		"there it is compiled, and a test runs it. Change the Go file, and copy what the document shows. "+
		"The code of docs/guides stands in its tests.")
}

func TestDocuments_OutputIsThatOfAnExample(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile("(?m)^(.+)$")
	code := withoutIndentation(t)
	var broken breaches
	ofGuides := slices.DeleteFunc(blocks(t, "text"), func(block sourceFile) bool {
		return !strings.HasPrefix(block.path, "docs/guides/") // The output of a program, which another test runs.
	})
	for _, block := range slices.Concat(ofGuides, blocks(t, "mermaid")) {
		if difference := notIn(code, line.ReplaceAllString(block.text, "// $1")); difference != "" {
			broken.add(block.path, difference)
		}
	}
	broken.report(t, "What a guide shows as output, and a graph in any document, is that of an Example, line for line. Run the Example, and copy what it prints.")
}

// blocks returns the code blocks of a language in the documents. A block's path includes its line.
func blocks(t *testing.T, language string) (found []sourceFile) {
	t.Helper()
	block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```")
	for _, document := range documents(t) {
		for _, at := range block.FindAllStringSubmatchIndex(document.text, -1) {
			line := 1 + strings.Count(document.text[:at[2]], "\n")
			found = append(found, sourceFile{path: fmt.Sprintf("%s:%d", document.path, line), text: document.text[at[2]:at[3]]})
		}
	}
	return found
}

// notIn returns the first difference between a block and the file that contains most of its first lines. It returns
// "" if a file contains the whole block.
func notIn(files []sourceFile, block string) string {
	has := func(text string) func(sourceFile) bool {
		return func(f sourceFile) bool { return strings.Contains(f.text, text) }
	}
	if slices.ContainsFunc(files, has(unindented(block))) {
		return ""
	}
	lines := strings.SplitAfter(strings.TrimPrefix(unindented(block), "\n"), "\n")
	closest := ""
	for n := range lines {
		i := slices.IndexFunc(files, has("\n"+strings.Join(lines[:n+1], "")))
		switch {
		case i >= 0:
			closest = files[i].path
		case n == 0:
			return fmt.Sprintf("no Go file has %q", strings.TrimSpace(lines[0]))
		default:
			return fmt.Sprintf("%s has the first %d lines of it, and then not %q", closest, n, strings.TrimSpace(lines[n]))
		}
	}
	return ""
}

// withoutIndentation returns the Go files with unindented text.
func withoutIndentation(t *testing.T) []sourceFile {
	t.Helper()
	files := goFiles(t)
	for i := range files {
		files[i].text = unindented(files[i].text)
	}
	return files
}

// unindented returns a text after a line break, with its lines trimmed.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return "\n" + strings.Join(lines, "\n")
}

func TestDocuments_LinksLeadToFiles(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	headings := headings(t)
	var broken breaches
	for _, document := range documents(t) {
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(document.text, "`code`"), -1) {
			if !leads(document, found[1], headings) {
				broken.add(document.path, "links to", found[1])
			}
		}
	}
	broken.report(t, "A link of a document leads to a file of the repository, and to a heading that the file has. "+
		"Correct the path or the heading.")
}

// leads reports whether the target of a link exists: a file and a heading in it. URLs outside the repository are not
// requested.
func leads(from sourceFile, link string, headings map[string]bool) bool {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return true
	}
	target, heading, hasHeading := strings.Cut(link, "#")
	file := path.Join(from.folder(), target)
	if target == "" {
		file = from.path
	}
	_, err := os.Stat(filepath.Join(root, file))
	return err == nil && (!hasHeading || headings[file+"#"+heading])
}

// headings returns the headings of all documents as targets of links, such as README.md#install.
func headings(t *testing.T) map[string]bool {
	t.Helper()
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	other := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	all := map[string]bool{}
	for _, document := range documents(t) {
		for _, found := range heading.FindAllStringSubmatch(document.text, -1) {
			name := other.ReplaceAllString(strings.ToLower(found[1]), "")
			all[document.path+"#"+strings.ReplaceAll(name, " ", "-")] = true
		}
	}
	return all
}

func TestDocuments_MarkupIsSound(t *testing.T) {
	t.Parallel()
	var broken breaches
	for _, document := range documents(t) {
		for _, problem := range markupProblems(document.text) {
			broken.add(document.path, problem)
		}
	}
	broken.report(t, "Code, links and brackets of a document show as they are meant: each backquote has its other one in the same paragraph, "+
		"a name is in backquotes as a whole, what looks like a tag stands in backquotes, and a link has its address behind it. "+
		"Of docs/operations.md, correct the Go comment, or the rules of internal/generate/main.go, and run make generate.")
}

func TestDocuments_MarkupThatIsNot(t *testing.T) {
	t.Parallel()
	for text, isSound := range map[string]bool{
		"The `name` is a [link](a.md), and `code` too.": true, "- `a`\n- `b`, `c`s": false, "```go\na := `b\n```\nfine": true, "an ` alone": false,
		"`response.buttons`[3].title": false, "[`adminName`] stands for": false, "[`name`](a.md)": true, "`<id>`": true, "the <id> of it": false,
		"one<br>two": true, "<!-- a -->": true, "a [link] (a.md)": false, "an [x][y] too": false, "    indented `\n\nfine": true, "    indented\n\nan ` alone": false, "`a` and\n`b`": true,
		"1 < 2 and 3 > 2": true, "<https://example.com>": true, "a `b\n\nc` d": false,
	} {
		if found := markupProblems(text); (len(found) == 0) != isSound {
			t.Errorf("%q: %q", text, found)
		}
	}
}

// markupProblems returns the parts of a document that Markdown shows wrongly.
func markupProblems(text string) (problems []string) {
	for _, block := range []*regexp.Regexp{
		regexp.MustCompile("(?s)```.*?```"), regexp.MustCompile(`(?m)^(?: {4}|\t).*$`), regexp.MustCompile("(?s)<!--.*?-->"),
	} {
		text = block.ReplaceAllString(text, "")
	}
	span := regexp.MustCompile("`[^`]*`")
	signs := map[string]*regexp.Regexp{
		"a backquote without its other one":         regexp.MustCompile("`"),
		"a name that is in backquotes in part":      regexp.MustCompile("[\\p{L}\\d_]\x00|\x00[\\p{L}\\d_\\[]"),
		"brackets around code that are no link":     regexp.MustCompile("\\[\x00\\](?:[^(]|$)"),
		"what would be taken for a tag":             regexp.MustCompile(`</?[A-Za-z][^>]*>`),
		"a link whose address is not right behind":  regexp.MustCompile(`\][ \t]+\([^)\s]*\.md[^)]*\)|\]\[[^\]]*\]`),
		"a link with a backquote that reaches over": regexp.MustCompile("\\[[^\\]]*`[^\\]]*\\]\\(|\\]\\([^)]*`"),
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		plain := span.ReplaceAllString(paragraph, "\x00")
		plain = regexp.MustCompile(`<br>|<https?://[^>]*>`).ReplaceAllString(plain, " ")
		for _, sign := range slices.Sorted(maps.Keys(signs)) {
			if at := signs[sign].FindStringIndex(plain); at != nil {
				from, to := max(at[0]-20, 0), min(at[1]+20, len(plain))
				problems = append(problems, fmt.Sprintf("has %s: %q", sign, strings.ReplaceAll(plain[from:to], "\x00", "`...`")))
			}
		}
	}
	return problems
}

// longestReadme is the maximum number of lines of the README.
const longestReadme = 250

func TestReadme_IsShort(t *testing.T) {
	t.Parallel()
	if lines := strings.Count(readme(t), "\n"); lines >= longestReadme {
		t.Errorf("README.md has %d lines, and fewer than %d are wanted. Move what only some need into a guide of docs/guides, "+
			"and link it.", lines, longestReadme)
	}
}

// TestReadme_CommandsRun runs the commands of the README, except the ones that run elsewhere: the host, which does
// not end, in TestHost_TriedWithoutSettings of internal/dev/browsertest; go mod in TestGuides_ANewUsersPath of
// docs/guides; and the make targets in CI.
func TestReadme_CommandsRun(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	elsewhere := []string{"go -C examples run ./host", "go mod edit -replace github.com/botctx/go-sdk=../go-sdk", "go mod tidy", "make test", "make thorough"}
	var programs []string
	for _, command := range commands(t) {
		switch {
		case slices.ContainsFunc(elsewhere, func(known string) bool { return strings.HasPrefix(command, known) }):
		case strings.HasPrefix(command, "go -C examples run "):
			programs = append(programs, command)
		default:
			t.Errorf("README.md has the command %q, which no test runs: run it here, or name here what does.", command)
		}
	}
	require.NotEmpty(t, programs)
	for _, program := range programs {
		run := exec.CommandContext(t.Context(), "go", strings.Fields(program)[1:]...)
		run.Dir, run.Stdin = root, strings.NewReader("hi\n")
		printed, err := run.CombinedOutput()
		require.NoError(t, err, "%s: %s", program, printed)
		require.NotEmpty(t, printed, program)
	}
}

// commands returns the shell commands in the README without comments.
func commands(t *testing.T) []string {
	t.Helper()
	command := regexp.MustCompile(`(?m)^ {4}((?:\S+ )*\S+)`)
	var found []string
	for _, match := range command.FindAllStringSubmatch(readme(t), -1) {
		found = append(found, match[1])
	}
	require.NotEmpty(t, found)
	return found
}

func readme(t *testing.T) string {
	t.Helper()
	files := allFiles(t)
	i := slices.IndexFunc(files, func(f sourceFile) bool { return f.path == "README.md" })
	require.GreaterOrEqual(t, i, 0)
	return files[i].text
}

// TestSecurity_TestsExist checks that the tests named in SECURITY.md, as `folder/name`, exist.
func TestSecurity_TestsExist(t *testing.T) {
	t.Parallel()
	files := allFiles(t)
	at := slices.IndexFunc(files, func(f sourceFile) bool { return f.path == "SECURITY.md" })
	require.GreaterOrEqual(t, at, 0)
	var broken breaches
	named := 0
	for row := range strings.Lines(files[at].text) {
		_, tests, isPromise := strings.Cut(strings.TrimSuffix(strings.TrimSpace(row), "|"), " | ")
		if !isPromise {
			continue
		}
		for _, name := range regexp.MustCompile("`([^`]+/[^`]+)`").FindAllStringSubmatch(tests, -1) {
			named++
			declaration := regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + regexp.QuoteMeta(path.Base(name[1])) + `\(`)
			if !slices.ContainsFunc(files, func(f sourceFile) bool {
				return f.folder() == path.Dir(name[1]) && path.Ext(f.path) == ".go" && declaration.MatchString(f.text)
			}) {
				broken.add("SECURITY.md", name[1]+" is not there")
			}
		}
	}
	require.NotZero(t, named)
	broken.report(t, "A promise names the tests that hold it. Name the test that replaced it, or drop the promise.")
}

// noExamples are packages that need no Example, because users of the module do not begin with them.
var noExamples = []string{"fakes/web"}

func TestExamples_EveryPackageHasOneThatRuns(t *testing.T) {
	t.Parallel()
	runs := regexp.MustCompile(`\nfunc Example\w*\(\) \{(?s:.*?)\n\t// Output:`)
	shown := map[string]bool{}
	for _, file := range goFiles(t) {
		if file.isTest() && runs.MatchString(file.text) {
			shown[file.folder()] = true
		}
	}
	var broken breaches
	for folder := range packages(t) {
		if isForUsers(folder) && !shown[folder] {
			broken.add(folder, "has no Example")
		}
	}
	broken.report(t, "Each package of the module has an Example with its output, which shows what its user does first. "+
		"Write one into example_test.go.")
}

// isForUsers reports whether users of the core module import a package, and not only to test their own
// implementations.
func isForUsers(folder string) bool {
	first, _, _ := strings.Cut(folder, "/")
	return !slices.Contains([]string{"internal", "examples", "backends", "docs"}, first) && !strings.Contains(folder, "/internal/") &&
		!strings.HasSuffix(path.Base(folder), "test") && !slices.Contains(noExamples, folder)
}

func TestPackageDocs_OpenWithWhatOneDoes(t *testing.T) {
	t.Parallel()
	var broken breaches
	for folder, files := range packages(t) {
		if isImportedByUsers(folder, files) && !opensWithUses(documented(t, folder, files)) {
			broken.add(folder, "does not")
		}
	}
	broken.report(t, "The comment of each package goes on, after the sentence with its subject, with a list of the two or three "+
		"things that one does with it, each with a link to what does it: \"  - To send it, use [Text].\"")
}

func TestPackageDocs_LinksResolve(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\[\*?(\w+\.)?[A-Z]\w*(\.[A-Z]\w*)?\]`)
	var broken breaches
	for folder, files := range packages(t) {
		documented := documented(t, folder, files)
		for name, text := range commentsOf(documented) {
			for _, words := range plain(documented.Parser().Parse(text).Content) {
				for _, found := range link.FindAllString(words, -1) {
					broken.add(folder, name, "links to", found)
				}
			}
		}
	}
	broken.report(t, "A link of a comment, such as [Text] or [Service.Save], leads to an exported name of the package, or of one "+
		"that it imports. Correct the name, or take the brackets away.")
}

// isImportedByUsers reports whether users import a package, and not only the repository.
func isImportedByUsers(folder string, files []sourceFile) bool {
	first, _, _ := strings.Cut(folder, "/")
	return !slices.Contains([]string{"internal", "examples", "docs"}, first) && !strings.Contains(folder, "/internal/") &&
		files[0].syntax.Name.Name != "main"
}

// documented returns the documentation of a package. It parses the files again, because go/doc removes unexported
// names from the syntax trees that other rules read.
func documented(t *testing.T, folder string, files []sourceFile) *doc.Package {
	t.Helper()
	syntax := make([]*ast.File, len(files))
	for i, file := range files {
		own, err := parseSource(file.path, file.text)
		require.NoError(t, err)
		syntax[i] = own
	}
	found, err := doc.NewFromFiles(positions, syntax, path.Join(modulePath, folder), doc.PreserveAST)
	require.NoError(t, err)
	return found
}

// opensWithUses reports whether the second block of a package's comment is a list of at most
// three things, each with a link.
func opensWithUses(of *doc.Package) bool {
	content := of.Parser().Parse(of.Doc).Content
	if len(content) < 2 {
		return false
	}
	list, ok := content[1].(*comment.List)
	return ok && len(list.Items) <= 3 && !slices.ContainsFunc(list.Items, func(item *comment.ListItem) bool {
		return !slices.ContainsFunc(item.Content, hasLink)
	})
}

func hasLink(block comment.Block) bool {
	paragraph, ok := block.(*comment.Paragraph)
	return ok && slices.ContainsFunc(paragraph.Text, func(text comment.Text) bool {
		_, isLink := text.(*comment.DocLink)
		return isLink
	})
}

// commentsOf returns the comments of a package and of its declarations by name.
func commentsOf(of *doc.Package) map[string]string {
	comments := map[string]string{"package " + of.Name: of.Doc}
	values := slices.Concat(of.Consts, of.Vars)
	functions := slices.Clone(of.Funcs)
	for _, t := range of.Types {
		comments[t.Name] = t.Doc
		values = slices.Concat(values, t.Consts, t.Vars)
		functions = slices.Concat(functions, t.Funcs, t.Methods)
	}
	for _, v := range values {
		comments[strings.Join(v.Names, ", ")] = v.Doc
	}
	for _, f := range functions {
		comments[f.Recv+"."+f.Name] = f.Doc
	}
	return comments
}

// plain returns the words in blocks that are neither code nor links.
func plain(blocks []comment.Block) (words []string) {
	for _, block := range blocks {
		switch block := block.(type) {
		case *comment.Paragraph:
			words = append(words, plainText(block.Text))
		case *comment.Heading:
			words = append(words, plainText(block.Text))
		case *comment.List:
			for _, item := range block.Items {
				words = append(words, plain(item.Content)...)
			}
		}
	}
	return words
}

// plainText returns the text without its links.
func plainText(texts []comment.Text) string {
	var words strings.Builder
	for _, text := range texts {
		if text, ok := text.(comment.Plain); ok {
			words.WriteString(string(text))
		}
	}
	return words.String()
}
