// Command generate writes what is the same for every operation, from the Operations interfaces of
// the domain packages and the table of operations:
//
//   - botctx/operations_gen.go: the names of operations, the methods of Context, the dispatch by
//     name, and the way back from JSON;
//   - internal/operations/comments_gen.json: what the comments say, in JSON's terms, for
//     docs/operations.md and for tests.
//
// It refuses to write where an interface, a comment and the table disagree, or where one says
// what another one has to say.
//
// It is run by go generate in botctx.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/botctx/go-sdk/internal/operations"
)

func main() {
	if err := run(".."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes the files of the module at root.
func run(root string) error {
	written, err := generate(root)
	if err != nil {
		return err
	}
	for name, text := range written {
		const permissions = 0o644
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), text, permissions); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the files by their names.
func generate(root string) (map[string][]byte, error) {
	packages, err := readPackages(root)
	if err != nil {
		return nil, err
	}
	methods, err := readMethods(packages)
	if err != nil {
		return nil, err
	}
	if err := checkOperations(methods); err != nil {
		return nil, err
	}
	comments, err := commentsOf(packages, methods)
	if err != nil {
		return nil, err
	}
	code, err := render(methods, comments)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(comments, "", "  ")
	return map[string][]byte{
		"botctx/operations_gen.go":              code,
		"internal/operations/comments_gen.json": append(text, '\n'),
	}, err
}

//go:embed operations.tmpl
var source string

// view is what the template shows.
type view struct {
	Imports []string
	Methods []methodView
}

// methodView is one operation in the template.
type methodView struct {
	Name, Method, Part, Interface, Params, Result, Summary string
	Comment                                                []string
}

// render returns the formatted code.
func render(methods []method, comments operations.Comments) ([]byte, error) {
	var v view
	for _, m := range methods {
		if pkg := m.domain.pkg; pkg != contextPackage && !slices.Contains(v.Imports, pkg) {
			v.Imports = append(v.Imports, pkg)
		}
		v.Methods = append(v.Methods, methodView{
			Name: m.operation.Name, Method: m.operation.Method, Part: m.domain.part,
			Interface: m.domain.reference(), Params: m.params, Result: m.result,
			Summary: comments.Operations[m.operation.Name].Summary,
			Comment: strings.Split(strings.TrimSpace(m.doc), "\n"),
		})
	}
	slices.Sort(v.Imports)
	parsed, err := template.New("operations").Parse(source)
	if err != nil {
		return nil, err
	}
	var code bytes.Buffer
	if err := parsed.Execute(&code, v); err != nil {
		return nil, err
	}
	return format.Source(code.Bytes())
}

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

func code(text string) string { return "`" + text + "`" }

// field is a field of a struct that JSON shows.
type field struct {
	json, name string
	declared   ast.Expr
	// form is how its value is read, such as "listOfOne", "" where nothing is special.
	form string
	// comment is the field's own, or that of another field of the struct which names it.
	comment string
}

// fieldsOf returns the fields of a struct that have a JSON name, with those of the structs that
// it embeds, and none for what is no struct of the package.
func (p *goPackage) fieldsOf(typeName string) ([]field, error) {
	declared, ok := p.types[typeName].(*ast.StructType)
	if !ok {
		return nil, nil
	}
	var fields []field
	for _, f := range declared.Fields.List {
		if len(f.Names) == 0 {
			embedded, err := p.fieldsOf(elementOf(f.Type))
			if err != nil {
				return nil, err
			}
			fields = append(fields, embedded...)
			continue
		}
		name, form, err := tagsOf(f)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", typeName, f.Names[0].Name, err)
		}
		if name != "" && name != "-" {
			fields = append(fields, field{json: name, name: f.Names[0].Name, declared: f.Type, form: form, comment: f.Doc.Text()})
		}
	}
	return withSharedComments(fields), nil
}

// withSharedComments gives fields that have no comment the one that names them.
func withSharedComments(fields []field) []field {
	for i, f := range fields {
		if f.comment != "" {
			continue
		}
		names := regexp.MustCompile(`\b` + f.name + `\b`)
		for _, other := range fields {
			if names.MatchString(other.comment) {
				fields[i].comment = other.comment
				break
			}
		}
	}
	return fields
}

// tagsOf returns the name that a field has in JSON, "" where it has no tag, and how it is read.
func tagsOf(f *ast.Field) (name, form string, err error) {
	if f.Tag == nil {
		return "", "", nil
	}
	text, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return "", "", err
	}
	tag := reflect.StructTag(text)
	name, _, _ = strings.Cut(tag.Get("json"), ",")
	return name, tag.Get("document"), nil
}

func named(fields []field, json string) (field, bool) {
	for _, f := range fields {
		if f.json == json {
			return f, true
		}
	}
	return field{}, false
}
