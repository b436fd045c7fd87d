package rules_test

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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

// isImportedByUsers reports whether a package is imported by hosts or by authors of bots and their parts.
func isImportedByUsers(folder string, files []sourceFile) bool {
	first, _, _ := strings.Cut(folder, "/")
	return !slices.Contains([]string{"internal", "examples", "docs"}, first) && !strings.Contains(folder, "/internal/") &&
		files[0].syntax.Name.Name != "main"
}

// documented returns the documentation of a package. It parses the files anew, since go/doc takes what is not
// exported out of the syntax, which the other rules read.
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

// hasLink reports whether a block has a link to a name.
func hasLink(block comment.Block) bool {
	paragraph, ok := block.(*comment.Paragraph)
	return ok && slices.ContainsFunc(paragraph.Text, func(text comment.Text) bool {
		_, isLink := text.(*comment.DocLink)
		return isLink
	})
}

// commentsOf returns the comments of a package and of its names, by what they are about.
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

// plain returns what in blocks is neither code nor a link.
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
