package schemas

import (
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
)

// kindPairs returns the schemas of a kind for input and for output, as alternating names and schemas.
func kindPairs(kind operations.Kind) []any {
	switch {
	case kind.Name == "integer" || kind.Name == "timestamp":
		return nil // These kinds become JSON types.
	case kind.Name == "cron":
		const most = 256 // The maximum length of a CRON pattern in package agenda.
		return []any{kind.Name, document.O("type", "string", "maxLength", most, "description", kind.Meaning)}
	case len(kind.Fields) == 0:
		return []any{kind.Name, document.O("type", "object", "description", kind.Meaning)}
	case len(kind.Cases) > 0:
		return []any{kind.Name + endParam, input.byCase(kind).With("description", kind.Meaning)}
	default:
		return []any{
			kind.Name + endPart, output.record(kind, asPart(kind)), kind.Name, output.record(kind, kind.Fields),
			kind.Name + endParam, input.record(kind, asInput(kind)),
		}
	}
}

// record returns the schema of a record with the given fields.
func (f form) record(kind operations.Kind, fields []operations.Field) document.Object {
	return f.objectOf(operations.Field{Fields: fields, Open: kind.Open}).With("description", kind.Meaning)
}

// asInput returns a record's fields as input. All are optional, except the _id of a kind that is an
// address.
func asInput(kind operations.Kind) []operations.Field {
	fields := slices.Clone(kind.Fields)
	for i, field := range fields {
		switch {
		case field.Need == operations.Always && kind.Address && field.Name == "_id":
			fields[i].Need = operations.Required
		case field.Need == operations.Always:
			fields[i].Need = operations.Optional
		}
	}
	return fields
}

// asPart returns the fields of a record as optional fields.
func asPart(kind operations.Kind) []operations.Field {
	fields := slices.Clone(kind.Fields)
	for i := range fields {
		fields[i].Need = operations.Optional
	}
	return fields
}

// byCase returns the schema of an object whose fields depend on the value of one field. In each case,
// fields that belong only to other cases are allowed and not checked.
func (f form) byCase(kind operations.Kind) document.Object {
	var schemas []document.Object
	var known []string
	tells := fieldNamed(kind, kind.Cases[0].Field())
	for _, c := range kind.Cases {
		known = append(known, c.Values...)
		schemas = append(schemas, f.caseOf(kind, c, tells))
	}
	return document.O("type", "object", "anyOf", append(schemas, f.otherCase(kind, tells, known)))
}

func (f form) caseOf(kind operations.Kind, c operations.Case, tells operations.Field) document.Object {
	tells.Values, tells.Need = c.Values, operations.Required
	if tells.Default != nil {
		tells.Need = operations.Optional
	}
	fields := []operations.Field{tells}
	add := func(names []string, need operations.Need) {
		for _, name := range names {
			field := fieldNamed(kind, name)
			field.Need = need
			fields = append(fields, field)
		}
	}
	add(c.Required, operations.Required)
	add(c.OneOf, operations.RequiredUnless)
	add(c.Optional, operations.Optional)
	if len(c.OneOf) > 0 {
		last := len(fields) - 1
		fields[last-1].Other, fields[last].Other = fields[last].Name, fields[last-1].Name
	}
	return f.object(fields)
}

// otherCase returns the schema of an object for which the field tells has none of the known values.
// It includes the limits of fields, except for responses.
func (f form) otherCase(kind operations.Kind, tells operations.Field, known []string) document.Object {
	tells.Need, tells.Meaning = operations.Required, "A type that the platform defines."
	fields := []operations.Field{tells}
	for _, field := range kind.Fields {
		if field.Most != "" && kind.Name != "response" {
			fields = append(fields, field)
		}
	}
	schema := f.object(fields)
	properties := document.Get(schema, "properties", document.O())
	own := document.Get(properties, tells.Name, document.O()).Without("default").With("not", document.O("enum", known))
	return schema.With("properties", properties.With(tells.Name, own))
}

func fieldNamed(kind operations.Kind, name string) operations.Field {
	i := slices.IndexFunc(kind.Fields, func(field operations.Field) bool { return field.Name == name })
	if i < 0 {
		panic("the kind " + kind.Name + " has no field " + name)
	}
	return kind.Fields[i]
}
