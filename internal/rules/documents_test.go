package rules_test

import (
	"fmt"
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
