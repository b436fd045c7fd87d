// Command generate writes the code that has the same form for every operation. It reads the Operations interfaces of
// the domain packages and the table of operations, and writes
//
//   - botctx/operations_gen.go: the names of operations, the methods of Context, the dispatch by
//     name, and the encoding as JSON;
//   - internal/operations/comments_gen.json: the comments with JSON names, for docs/operations.md
//     and for tests;
//   - fields_gen.go in agenda, channel and member: a DecodeField method for the package's record.
//
// It fails if an interface, a comment and the table contradict or repeat each other. Run it with go generate in
// botctx.
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

// generate returns the contents of the generated files by name.
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
	if err != nil {
		return nil, err
	}
	written := map[string][]byte{
		"botctx/operations_gen.go":              code,
		"internal/operations/comments_gen.json": append(text, '\n'),
	}
	for _, d := range decoders {
		if written[d.pkg+"/fields_gen.go"], err = d.source(packages[d.pkg]); err != nil {
			return nil, err
		}
	}
	return written, nil
}

//go:embed operations.tmpl
var source string

// view is the data of the template.
type view struct {
	Imports []string
	Methods []methodView
}

type methodView struct {
	Name, Method, Part, Interface, Params, Result, Summary string
	Comment                                                []string
}

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

// words replaces Go names in comments by JSON names.
type words struct {
	// names maps Go names, such as "Option.New", to JSON names.
	names map[string]string
	// constants maps constants to their values.
	constants map[string]string
}

// wordsOf returns the words for a package: its constants and the names of all operations.
func wordsOf(source *goPackage) words {
	names := map[string]string{"nil": "null"}
	for _, operation := range operations.Written() {
		names[operation.Method] = code(operation.Name)
	}
	return words{names: names, constants: source.constants}
}

// with returns the words with additional names of fields.
func (w words) with(fields []field) words {
	names := map[string]string{}
	maps.Copy(names, w.names)
	for _, f := range fields {
		names[f.name] = code(f.json)
	}
	return words{names: names, constants: w.constants}
}

// term matches what may be a name in a comment: code in backquotes, a JSON object, quoted text, {{path}}, $[name],
// [name], a call, and a name with dots and indexes.
var term = regexp.MustCompile("`[^`]*`|\\{\"[^{}]*\\}|\"[^\"]*\"|\\{\\{\\w+\\}\\}|\\$\\[\\w*\\]" +
	`|\[[a-z]+[A-Z]\w*\]|\*?[A-Za-z_$][\w$]*(?:\[\d+\])*(?:\.[A-Za-z_$][\w$]*(?:\[\d+\])*)*(?:\([^()]*\))?`)

// ofJSON matches names of JSON fields and of the query language.
var ofJSON = regexp.MustCompile(`^(?:[_$]\w[\w.$]*|[a-z]+[A-Z]\w*|[a-z]\w+(?:\[\d+\])*(?:\.\w\w+(?:\[\d+\])*)+|[a-z]\w+(?:\[\d+\])+` +
	`|\{\{.*|\{".*|\$\[.*|\[.*|.*\)|\*.*)$`)

// translate returns a comment with JSON names.
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

// literal returns a constant as text with thousands separators.
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

// field is a struct field that appears in JSON.
type field struct {
	json, name string
	declared   ast.Expr
	// form is the field's document tag, such as "listOfOne".
	form string
	// comment is the field's comment, or the comment of another field that mentions it.
	comment string
}

// fieldsOf returns the fields of a struct with JSON names, including embedded ones. It returns nil if typeName is not
// a struct of the package.
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

// withSharedComments gives fields without a comment the comment of another field that mentions them.
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

// tagsOf returns the field's JSON name and its document tag. Either may be "".
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
