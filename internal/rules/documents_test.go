package rules_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documents returns the files of Markdown, but for those that a generator makes documents of.
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
		return !strings.HasPrefix(block.path, "docs/guides/") // A test of its own runs what prints it.
	})
	for _, block := range slices.Concat(ofGuides, blocks(t, "mermaid")) {
		if difference := notIn(code, line.ReplaceAllString(block.text, "// $1")); difference != "" {
			broken.add(block.path, difference)
		}
	}
	broken.report(t, "What a guide shows as output, and a graph in any document, is that of an Example, line for line. Run the Example, and copy what it prints.")
}

// blocks returns the blocks of code of the documents that are in a language. The path of each has its line.
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

// notIn says where a block differs from the file that has most of its first lines, "" where a file
// has all of it.
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

// withoutIndentation returns the Go files with unindented texts.
func withoutIndentation(t *testing.T) []sourceFile {
	t.Helper()
	files := goFiles(t)
	for i := range files {
		files[i].text = unindented(files[i].text)
	}
	return files
}

// unindented returns a text with a line break before it, whose lines have lost the space around
// them.
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

// leads reports whether a link of a document leads to what is there: a file, and one of the
// headings of it. Addresses outside of the repository are not asked.
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

// headings are the headings of all documents, as links name them.
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
		"Of docs/operations.md, correct the Go comment, or the rules of internal/generate/words.go, and run make generate.")
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

// markupProblems returns what of a document does not show as it is meant.
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
