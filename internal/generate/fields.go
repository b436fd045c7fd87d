package main

import (
	"fmt"
	"go/ast"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

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

// named returns the field of a JSON name, and whether there is one.
func named(fields []field, json string) (field, bool) {
	for _, f := range fields {
		if f.json == json {
			return f, true
		}
	}
	return field{}, false
}
