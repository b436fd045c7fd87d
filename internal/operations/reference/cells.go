package reference

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
)

type table struct {
	rows [][]string
}

func newTable(heading ...string) *table {
	rule := make([]string, len(heading))
	for i := range rule {
		rule[i] = "---"
	}
	return &table{rows: [][]string{heading, rule}}
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(text *strings.Builder) {
	for _, row := range t.rows {
		for _, cell := range row {
			text.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		text.WriteString("|\n")
	}
}

// eachField calls visit with the path of each field, including nested ones.
func eachField(fields []operations.Field, visit func(path []operations.Field), above ...operations.Field) {
	for _, field := range fields {
		path := slices.Concat(above, []operations.Field{field})
		visit(path)
		eachField(field.Fields, visit, path...)
	}
}

// jsonPath returns a path with JSON names, such as "result[].accessToken".
func jsonPath(path []operations.Field) string {
	names := make([]string, 0, len(path))
	for i, field := range path {
		name := field.Name
		if _, isArray := field.Type.Element(); isArray && i < len(path)-1 {
			name += "[]"
		}
		names = append(names, name)
	}
	return strings.Join(names, ".")
}

// goField returns a path with Go names, such as `Option.New`. A field inside an object with any
// keys is described as a key of it.
func goField(path []operations.Field, params reflect.Type) string {
	names := make([]string, 0, len(path))
	for _, field := range path {
		for params.Kind() == reflect.Pointer || params.Kind() == reflect.Slice {
			params = params.Elem()
		}
		if params == reflect.TypeFor[document.Object]() {
			return "a key of " + code(strings.Join(names, "."))
		}
		names = append(names, field.GoName())
		if found, ok := params.FieldByName(field.GoName()); ok {
			params = found.Type
		}
	}
	return code(strings.Join(names, "."))
}

// typeOf returns a type, with a link to its kind if it has one.
func typeOf(declared operations.Type, kind string) string {
	name := code(strings.ReplaceAll(string(declared), " | ", "` or `"))
	if kind == "" {
		return name
	}
	return fmt.Sprintf("%s ([%s](#kind-%s))", name, kind, strings.ToLower(kind))
}

// required returns when a parameter must be given.
func required(field operations.Field) string {
	switch field.Need {
	case operations.Required:
		return "yes"
	case operations.FromContext:
		return "context"
	case operations.RequiredUnless:
		condition := "unless " + code(field.Other)
		if field.Exclusive {
			condition += "; not both"
		}
		return condition
	case operations.RequiredWith:
		return "with " + code(field.Other)
	case operations.Optional, operations.Always:
		return "no"
	}
	return ""
}

// meaning returns the field's meaning and platforms.
func meaning(field operations.Field) string {
	if len(field.Platforms) == 0 {
		return field.Meaning
	}
	only := platforms(field.Platforms, "") + " only."
	return field.Meaning + " " + strings.ToUpper(only[:1]) + only[1:]
}

// defaultOf returns a sentence with the default, or "".
func defaultOf(field operations.Field) string {
	if field.Default == nil {
		return ""
	}
	return " Default " + code(string(field.Default)) + "."
}

// platforms lists channel types, or returns ofNone for an empty list.
func platforms(names []string, ofNone string) string {
	if len(names) == 0 {
		return ofNone
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func operationLink(name string) string {
	return fmt.Sprintf("[%s](#%s)", code(name), strings.ToLower(name))
}

// code returns text in backquotes, or "" for "".
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
