package main

import (
	"maps"
	"regexp"
	"strings"

	"github.com/botctx/go-sdk/internal/operations"
)

// words turns what a comment says in Go's terms into what the reference says in JSON's.
type words struct {
	// names are JSON names by what they are called in Go, such as "Option.New".
	names map[string]string
	// constants are the values of constants.
	constants map[string]string
}

// wordsOf returns the words of a package's comments: its constants and the operations.
func wordsOf(source *goPackage) words {
	names := map[string]string{"nil": "null"}
	for _, operation := range operations.Written() {
		names[operation.Method] = code(operation.Name)
	}
	return words{names: names, constants: source.constants}
}

// with returns the words together with the names of fields.
func (w words) with(fields []field) words {
	names := map[string]string{}
	maps.Copy(names, w.names)
	for _, f := range fields {
		names[f.name] = code(f.json)
	}
	return words{names: names, constants: w.constants}
}

// term is what may be a name in a comment: code in backquotes, an object of JSON, quoted text, {{path}}, $[name], [name],
// a call, a name with dots and indexes.
var term = regexp.MustCompile("`[^`]*`|\\{\"[^{}]*\\}|\"[^\"]*\"|\\{\\{\\w+\\}\\}|\\$\\[\\w*\\]" +
	`|\[[a-z]+[A-Z]\w*\]|\*?[A-Za-z_$][\w$]*(?:\[\d+\])*(?:\.[A-Za-z_$][\w$]*(?:\[\d+\])*)*(?:\([^()]*\))?`)

// ofJSON is the form of a name that is written as JSON and the query language have it.
var ofJSON = regexp.MustCompile(`^(?:[_$]\w[\w.$]*|[a-z]+[A-Z]\w*|[a-z]\w+(?:\[\d+\])*(?:\.\w\w+(?:\[\d+\])*)+|[a-z]\w+(?:\[\d+\])+` +
	`|\{\{.*|\{".*|\$\[.*|\[.*|.*\)|\*.*)$`)

// translate returns a comment in JSON's terms.
func (w words) translate(comment string) string {
	return term.ReplaceAllStringFunc(comment, func(found string) string {
		if name, ok := w.names[found]; ok {
			return name
		}
		if value, ok := w.constants[found]; ok {
			return literal(value)
		}
		if head, rest, isPath := strings.Cut(found, "."); isPath && w.names[head] != "" {
			return code(strings.Trim(w.names[head], "`") + "." + strings.ToLower(rest[:1]) + rest[1:])
		}
		if ofJSON.MatchString(found) {
			return code(strings.TrimPrefix(found, "*"))
		}
		return found
	})
}

// literal returns the value of a constant as prose has it: numbers with their thousands apart.
func literal(value string) string {
	if text, isText := strings.CutPrefix(value, `"`); isText {
		return code(strings.TrimSuffix(text, `"`))
	}
	const group = 3
	digits := strings.ReplaceAll(value, "_", "")
	for i := len(digits) - group; i > 0; i -= group {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// code returns text in backquotes.
func code(text string) string { return "`" + text + "`" }
