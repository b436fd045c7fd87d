package conversation

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// importGroups are the paths that a saved test may import, in groups.
func importGroups() [][]string {
	const sdk = "github.com/botctx/go-sdk/"
	return [][]string{
		{"testing", "time"},
		{"github.com/stretchr/testify/require"},
		{
			sdk + "botctx", sdk + "boterr", sdk + "channel", sdk + "document", sdk + "fakes", sdk + "fakes/conversation",
			sdk + "member", sdk + "send",
		},
	}
}

// importing returns the imports of a file without any, by what it names.
func importing(file string) (string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "", file, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	named := map[string]bool{}
	ast.Inspect(parsed, func(node ast.Node) bool {
		if selector, isSelector := node.(*ast.SelectorExpr); isSelector {
			if of, isName := selector.X.(*ast.Ident); isName {
				named[of.Name] = true
			}
		}
		return true
	})
	var groups []string
	for _, paths := range importGroups() {
		var lines strings.Builder
		for _, path := range paths {
			if named[path[strings.LastIndexByte(path, '/')+1:]] {
				lines.WriteString("\t" + strconv.Quote(path) + "\n")
			}
		}
		if lines.Len() > 0 {
			groups = append(groups, lines.String())
		}
	}
	return "import (\n" + strings.Join(groups, "\n") + ")\n", nil
}
