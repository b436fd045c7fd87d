// Package operations contains the table of operations: their parameters with types and defaults, results, errors and
// platforms.
//
// The table has two sources. The comments of the Operations interfaces and their params describe operations, errors,
// parameters and results; internal/generate copies them into comments_gen.json. operations.json contains the facts
// that comments do not state in a fixed form: types, needs, defaults, platforms, and the shapes of results. It is in
// the order of the specification. If a comment states such a fact, the generator checks that both agree.
//
// docs/operations.md, the JSON Schemas and the TypeScript declarations are generated from the table,
// and tests use it to call every operation.
package operations

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/botctx/go-sdk/boterr"
)

//go:generate go run ./gen ../..

// Operation describes one operation.
type Operation struct {
	// Name is the operation's name in the specification, such as "getMember".
	Name string `json:"name"`
	// Package is the Go package whose Operations interface has the method. (From comments)
	Package string `json:"-"`
	// Method is the name of the method, GoName(Name).
	Method string `json:"-"`
	// Summary is the first sentence of Description. (From comments)
	Summary     string   `json:"-"`
	Description []string `json:"-"`
	// Effect describes how a call changes stored data.
	Effect Effect `json:"effect"`
	// Repeatable is true if repeating a successful call has no further effect.
	Repeatable bool `json:"repeatable"`
	// Outside is true if a call may reach systems outside the app: a messaging platform, a mailbox,
	// an object store, another server.
	Outside bool `json:"outside"`
	// Updated is true if the specification marks the operation as updated.
	Updated bool `json:"updated"`
	// Platforms are the channel types that the operation is limited to. Empty means all.
	Platforms []string `json:"platforms"`
	// Parameters are the parameters in the order of the specification.
	Parameters []Field `json:"parameters"`
	// Responses are the shapes of the result: one, or one for each combination of Platforms and
	// When.
	Responses []Response `json:"responses"`
	// Errors are the errors of this operation in addition to CommonErrors. (From comments)
	Errors []Failure `json:"-"`
}

// Parameter returns the parameter with a JSON name, and whether there is one.
func (o Operation) Parameter(name string) (Field, bool) {
	return fieldNamed(o.Parameters, name)
}

// saidByPackage holds, for each package, the words of method names that repeat the package's name.
var saidByPackage = map[string][]string{
	"member": {"Members", "Member"}, "agenda": {"MemberAgenda", "Agenda"}, "channel": {"Channel"}, "livechat": {"LiveChat"},
	"datasource": {"DataFromDataSource", "DataToDataSource", "FromDataSource", "DataSource"},
}

// ParamsType returns the name of the params type, such as "GetParams" for GetMember in package member.
func (o Operation) ParamsType() string {
	for _, word := range saidByPackage[o.Package] {
		if before, after, found := strings.Cut(o.Method, word); found {
			return before + after + "Params"
		}
	}
	return o.Method + "Params"
}

// Effect describes how a call changes stored data.
type Effect string

// The effects of calls.
const (
	// Reads means that nothing changes.
	Reads Effect = "reads"
	// Adds means that existing data does not change.
	Adds Effect = "adds"
	// Changes means that existing data may be replaced or removed.
	Changes Effect = "changes"
)

// Field describes a field of a JSON object: a parameter, a key of a result or a
// field of a record.
type Field struct {
	// Name is the JSON name, exactly as in the specification.
	Name string `json:"name"`
	// Type is the JSON type.
	Type Type `json:"type"`
	// Kind names the Kind of the value or of each of its elements. It is empty if the type says
	// everything.
	Kind string `json:"kind"`
	// Need states when the field must be present.
	Need Need `json:"need"`
	// Other is the name of the field that Need refers to. For FromContext, it is a second field for
	// the same record, and the two must not contradict each other.
	Other string `json:"other"`
	// Most is the maximum number of characters of a string or elements of an array: a constant of
	// package send, or a number. Empty means no limit.
	Most string `json:"most"`
	// EmptyCounts is true if an empty list is a value. Otherwise it counts as absent.
	EmptyCounts bool `json:"emptyCounts"`
	// NotEmpty is true if an optional string is refused if it is empty, because without it the call would reach more
	// records. Otherwise an empty string counts as absent.
	NotEmpty bool `json:"notEmpty"`
	// Values are the allowed values of a string. Empty means any.
	Values []string `json:"values"`
	// Partial is true if any field of a record may be missing, for example because of a projection.
	Partial bool `json:"partial"`
	// Open is true if an object may have fields that are not in Fields.
	Open bool `json:"open"`
	// Closed is true if the operation keeps unknown fields of an object only to refuse them.
	Closed bool `json:"closed"`
	// AnyOn are the channel types that accept any object, whatever Fields contains.
	AnyOn []string `json:"anyOn"`
	// Default is the JSON value of an absent field, or nil.
	Default json.RawMessage `json:"default"`
	// Platforms are the channel types that the field is limited to. Empty means all platforms of
	// the operation.
	Platforms []string `json:"platforms"`
	// Meaning describes the value. (From comments, if there is a Go field)
	Meaning string `json:"meaning"`
	// Fields are the fields of an object, or of each object in an array. They are empty if Kind has the
	// fields.
	Fields []Field `json:"fields"`
}

// Need states when a field must be present.
type Need string

// The needs of fields.
const (
	// Always means that a result or record always has the field.
	Always Need = ""
	// Required means that the parameter must be given.
	Required Need = "required"
	// Optional means that the field may be absent.
	Optional Need = "optional"
	// FromContext means that the default is the context's own channel or member.
	FromContext Need = "fromContext"
	// RequiredUnless means that the parameter must be given unless Field.Other is given.
	RequiredUnless Need = "requiredUnless"
	// RequiredWith means that the parameter must be given if Field.Other is given and is not false.
	RequiredWith Need = "requiredWith"
)

// Response describes one shape of a result.
type Response struct {
	// Platforms are the channel types with this shape. Empty means all.
	Platforms []string `json:"platforms"`
	// When is the condition for this shape. Empty means always.
	When string `json:"when"`
	// Type is the JSON type.
	Type Type `json:"type"`
	// Kind names the Kind of the value or of each of its elements. It is empty if the type says
	// everything.
	Kind string `json:"kind"`
	// Meaning describes the value.
	Meaning string `json:"meaning"`
	// Fields are the keys of an object, or of each object in an array. They are empty if Kind has the keys.
	Fields []Field `json:"fields"`
}

// Failure is a case in which an operation returns an error.
type Failure struct {
	// Code is the error's code.
	Code boterr.Code `json:"code"`
	// When is a sentence with the cause.
	When string `json:"when"`
}

// Kind describes values that several operations use, such as filters and member records.
type Kind struct {
	// Name is the name that Field.Kind and Response.Kind use.
	Name string `json:"name"`
	// Meaning describes a value of this kind.
	Meaning string `json:"meaning"`
	// Address is true if operations use only the _id of a parameter of this kind.
	Address bool `json:"address"`
	// Open is true if a record may have fields that are not in Fields.
	Open bool `json:"open"`
	// Fields are the fields of the record. They are empty if the kind is not a record.
	Fields []Field `json:"fields"`
	// Cases are the sets of fields that a record has, depending on the value of one field.
	Cases []Case `json:"cases"`
}

// Case lists the fields of an object whose field Of has one of the Values.
type Case struct {
	// Of is the name of the field that selects the case. The default is "type". If a record lacks the field,
	// the field's default value selects the case.
	Of string `json:"of"`
	// Values are the values of the field.
	Values []string `json:"values"`
	// The object must have all fields in Required and one field in OneOf. It may have the fields in
	// Optional; other fields are ignored.
	Required []string `json:"required"`
	OneOf    []string `json:"oneOf"`
	Optional []string `json:"optional"`
}

// Field returns the name of the field that selects the case.
func (c Case) Field() string {
	if c.Of == "" {
		return "type"
	}
	return c.Of
}

var (
	//go:embed operations.json
	source []byte

	//go:embed comments_gen.json
	comments []byte
)

// table is the content of operations.json.
type table struct {
	Errors     []Failure   `json:"errors"`
	Kinds      []Kind      `json:"kinds"`
	Operations []Operation `json:"operations"`
}

// written returns the content of operations.json, with Go names of methods.
var written = sync.OnceValue(func() table {
	read := decode[table]("operations.json", source)
	for i, operation := range read.Operations {
		read.Operations[i].Method = GoName(operation.Name)
	}
	return read
})

// said returns the content of comments_gen.json.
var said = sync.OnceValue(func() Comments { return decode[Comments]("comments_gen.json", comments) })

// load returns the table with the comments.
var load = sync.OnceValue(func() table {
	read, said := written(), said()
	whole := table{Errors: read.Errors, Kinds: slices.Clone(read.Kinds), Operations: slices.Clone(read.Operations)}
	for i, operation := range whole.Operations {
		whole.Operations[i] = operation.with(said.Operations[operation.Name])
	}
	for i, kind := range whole.Kinds {
		whole.Kinds[i].Fields = withMeanings(withLimits(kind.Fields, said.Limits), said.Kinds[kind.Name], "")
	}
	return whole
})

// decode decodes an embedded file. It panics if the file is invalid; every test of this package would
// find such a file.
func decode[T any](name string, text []byte) T {
	var read T
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		panic(fmt.Errorf("%s: %w", name, err))
	}
	return read
}

// Written returns the operations of operations.json without comments. It is for the generator.
func Written() []Operation { return slices.Clone(written().Operations) }

// WrittenKinds returns the kinds of operations.json without comments. It is for the generator.
func WrittenKinds() []Kind { return slices.Clone(written().Kinds) }

// All returns the operations in the order of the specification. Callers must not modify what they contain.
func All() []Operation { return slices.Clone(load().Operations) }

// ByName returns the operation with a name of the specification, and whether there is one.
func ByName(name string) (Operation, bool) {
	for _, operation := range load().Operations {
		if operation.Name == name {
			return operation, true
		}
	}
	return Operation{}, false
}

// Kinds returns the kinds to which fields and responses refer. Callers must not modify what they contain.
func Kinds() []Kind { return slices.Clone(load().Kinds) }

// KindNamed returns the kind with a name, and whether there is one.
func KindNamed(name string) (Kind, bool) {
	for _, kind := range load().Kinds {
		if kind.Name == name {
			return kind, true
		}
	}
	return Kind{}, false
}

// Limit returns the maximum number of characters or elements of a field, and whether there is a
// limit.
func (f Field) Limit() (most int, isLimited bool) {
	text, isConstant := said().Limits[f.Most]
	if !isConstant {
		text = f.Most
	}
	most, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	return most, err == nil
}

// CommonErrors returns the errors that every operation can return.
func CommonErrors() []Failure { return slices.Clone(load().Errors) }

func fieldNamed(fields []Field, name string) (Field, bool) {
	for _, field := range fields {
		if field.Name == name {
			return field, true
		}
	}
	return Field{}, false
}

// Comments is the content of comments_gen.json: the comments of the Go code, with Go names replaced
// by JSON names. internal/generate writes the file.
type Comments struct {
	// Operations holds the comments of methods, params and results by operation name.
	Operations map[string]Comment `json:"operations"`
	// Kinds holds the comments of record fields by the names of kind and field.
	Kinds map[string]map[string]string `json:"kinds"`
	// Limits holds the limits of package send by the names of their constants, such as "2,000".
	// operations.json refers to them as {limit:MaxText}.
	Limits map[string]string `json:"limits"`
}

// Comment is the comment of one operation.
type Comment struct {
	// Package is the package that declares the method.
	Package string `json:"package"`
	// Summary is the first sentence of the description.
	Summary string `json:"summary"`
	// Description holds the paragraphs of the comment.
	Description []string `json:"description"`
	// Errors are the errors of this operation.
	Errors []Failure `json:"errors"`
	// Parameters and Result are the meanings of fields by path, such as "option.new".
	Parameters map[string]string `json:"parameters"`
	Result     map[string]string `json:"result"`
}

func (o Operation) with(said Comment) Operation {
	o.Package, o.Summary, o.Description, o.Errors = said.Package, said.Summary, said.Description, said.Errors
	o.Parameters = withMeanings(o.Parameters, said.Parameters, "")
	o.Responses = slices.Clone(o.Responses)
	for i := range o.Responses {
		o.Responses[i].Fields = withMeanings(o.Responses[i].Fields, said.Result, "")
	}
	return o
}

// withMeanings returns fields with the meanings from comments. meanings has paths as keys; prefix is
// the path of the object that has the fields.
func withMeanings(fields []Field, meanings map[string]string, prefix string) []Field {
	told := slices.Clone(fields)
	for i, field := range told {
		path := prefix + field.Name
		if meaning, ok := meanings[path]; ok {
			told[i].Meaning = meaning
		}
		told[i].Fields = withMeanings(field.Fields, meanings, path+".")
	}
	return told
}

// withLimits returns fields with names of limits, such as {limit:MaxText}, replaced by numbers in
// their meanings.
func withLimits(fields []Field, limits map[string]string) []Field {
	told := slices.Clone(fields)
	for i := range told {
		for name, most := range limits {
			told[i].Meaning = strings.ReplaceAll(told[i].Meaning, "{limit:"+name+"}", most)
		}
	}
	return told
}

// Type is the JSON type of a value: any, null, boolean, number, string or object. The suffix [] makes
// it an array. Alternatives are separated by " | ", as in "object | object[]".
type Type string

// Alternatives returns the alternative types. A type without " | " is its only alternative.
func (t Type) Alternatives() []Type {
	var alternatives []Type
	for alternative := range strings.SplitSeq(string(t), " | ") {
		alternatives = append(alternatives, Type(alternative))
	}
	return alternatives
}

// Element returns the type of an array's elements, and whether t is an array.
func (t Type) Element() (Type, bool) {
	element, isArray := strings.CutSuffix(string(t), "[]")
	return Type(element), isArray && !strings.Contains(element, " | ")
}

// Accepts reports whether a value has the type. The value is nil or a bool, float64, string, []any or
// map[string]any, as decoded by encoding/json.
func (t Type) Accepts(value any) bool {
	return slices.ContainsFunc(t.Alternatives(), func(alternative Type) bool {
		return alternative.acceptsOne(value)
	})
}

// acceptsOne reports whether a value has the type, which must have no alternatives.
func (t Type) acceptsOne(value any) bool {
	if element, isArray := t.Element(); isArray {
		list, ok := value.([]any)
		return ok && !slices.ContainsFunc(list, func(item any) bool { return !element.acceptsOne(item) })
	}
	return t == "any" || t == typeOf(value)
}

// typeOf returns the type of a value, or "" for an array.
func typeOf(value any) Type {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case map[string]any:
		return "object"
	}
	return ""
}

// GoName returns the Go name of an operation, a parameter or a field: each word is capitalized,
// with Go's initialisms. "dataSourceId" becomes DataSourceID, "setBravoGroupIcon"
// SetBravoGroupIcon, "attachment_id" AttachmentID. Words in all capitals do not change.
func GoName(jsonName string) string {
	var name strings.Builder
	for _, word := range words(jsonName) {
		name.WriteString(goWord(word))
	}
	return name.String()
}

func goWord(word string) string {
	switch strings.ToLower(word) {
	case "id", "url", "api", "html", "ts":
		return strings.ToUpper(word)
	case "ids":
		return "IDs"
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// words splits a name at underscores, and before each capital letter that follows a lower-case letter or a digit.
func words(name string) []string {
	var split []string
	for part := range strings.SplitSeq(name, "_") {
		start := 0
		for i := 1; i < len(part); i++ {
			if unicode.IsUpper(rune(part[i])) && !unicode.IsUpper(rune(part[i-1])) {
				split = append(split, part[start:i])
				start = i
			}
		}
		if start < len(part) {
			split = append(split, part[start:])
		}
	}
	return split
}
