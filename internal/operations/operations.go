// Package operations holds the table of the operations that bot logic calls:
// their parameters with types and defaults, their results, errors and
// platforms.
//
// What an operation does, its errors, and what its parameters and results mean
// stand in the comments of the Operations interfaces and of their params;
// internal/generate puts that into comments_gen.json. What a comment cannot say
// in a form that programs read stands in operations.json, in the order of the
// specification: types, needs, defaults, platforms, and the shapes of results.
// Where a comment says some of it, too, the generator compares them.
//
// Tests call every operation by the table, and docs/operations.md and
// docs/from-scripts.md are made from it.
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

	"github.com/botctx/go-sdk/boterr"
)

//go:generate go run ./gendoc ../../docs
//go:generate go run ./genschemas ../../botctx/schema

// Operation describes one operation.
type Operation struct {
	// Name is the operation's name in the specification, such as "getMember".
	Name string `json:"name"`
	// Package is the Go package whose Operations interface has the method. (Comments)
	Package string `json:"-"`
	// Method is the name of the method, GoName(Name).
	Method string `json:"-"`
	// Summary says in one sentence what the operation does, Description in
	// paragraphs of which it is the beginning. (Comments)
	Summary     string   `json:"-"`
	Description []string `json:"-"`
	// Effect says what a call does to what is stored.
	Effect Effect `json:"effect"`
	// Repeatable is whether a call that succeeded changes nothing more when it is made again.
	Repeatable bool `json:"repeatable"`
	// Outside is whether a call may reach what is not the app's own: a messaging platform, a
	// mailbox, an object store, another server.
	Outside bool `json:"outside"`
	// Updated is whether the specification marks the operation as updated.
	Updated bool `json:"updated"`
	// Platforms are the channel types that the operation is limited to. Empty
	// means all.
	Platforms []string `json:"platforms"`
	// Parameters are the fields of the one argument, in the specification's
	// order.
	Parameters []Field `json:"parameters"`
	// Responses are the shapes that the result can have: one, or one for each
	// of the cases that Platforms and When tell apart.
	Responses []Response `json:"responses"`
	// Errors are the errors of this operation, beside CommonErrors. (Comments)
	Errors []Failure `json:"-"`
}

// Parameter returns the parameter of that JSON name, and whether there is one.
func (o Operation) Parameter(name string) (Field, bool) {
	return fieldNamed(o.Parameters, name)
}

// saidByPackage are what the names of packages say already of their operations.
var saidByPackage = map[string][]string{
	"member": {"Members", "Member"}, "agenda": {"MemberAgenda", "Agenda"}, "channel": {"Channel"}, "livechat": {"LiveChat"},
	"datasource": {"DataFromDataSource", "DataToDataSource", "FromDataSource", "DataSource"},
}

// ParamsType returns the name of the type of the parameters in Go: the method's, without what its package says already.
func (o Operation) ParamsType() string {
	for _, word := range saidByPackage[o.Package] {
		if before, after, found := strings.Cut(o.Method, word); found {
			return before + after + "Params"
		}
	}
	return o.Method + "Params"
}

// Effect is what a call does to what is stored.
type Effect string

// The effects.
const (
	// Reads: nothing changes.
	Reads Effect = "reads"
	// Adds: what is there stays as it is.
	Adds Effect = "adds"
	// Changes: what is there may be replaced or removed.
	Changes Effect = "changes"
)

// Field describes a field of a JSON object: a parameter, a key of a result or a
// field of a record.
type Field struct {
	// Name is the JSON name, exactly as in the specification.
	Name string `json:"name"`
	// Type is the JSON type.
	Type Type `json:"type"`
	// Kind names the Kind of the value, or of each of its elements. It is empty
	// where the type says all.
	Kind string `json:"kind"`
	// Need is when the field has to be there.
	Need Need `json:"need"`
	// Other is the field that Need refers to. With FromContext it is a second
	// field for the same record, which must not contradict this one.
	Other string `json:"other"`
	// Exclusive is whether this field and Other may not both be given.
	Exclusive bool `json:"exclusive"`
	// Most is the most characters of a text or elements of an array: a constant of package
	// send, or a number. Empty means any.
	Most string `json:"most"`
	// EmptyCounts is whether an empty list is not as good as none.
	EmptyCounts bool `json:"emptyCounts"`
	// Values are those that a text may have. Empty means any.
	Values []string `json:"values"`
	// Partial is whether a record may lack any of its fields, as where a projection left them out.
	Partial bool `json:"partial"`
	// Open is whether an object with Fields may have others.
	Open bool `json:"open"`
	// AnyOn are the channel types that take any object in place of one with Fields.
	AnyOn []string `json:"anyOn"`
	// Default is the JSON value that an absent field stands for. It is nil where
	// there is none.
	Default json.RawMessage `json:"default"`
	// Platforms are the channel types that the field is limited to. Empty means
	// all that the operation has.
	Platforms []string `json:"platforms"`
	// Meaning says what the value is. (Comments, where Go has a field)
	Meaning string `json:"meaning"`
	// Fields are the fields of an object, or of each object in an array, where
	// no Kind has them.
	Fields []Field `json:"fields"`
}

// GoName returns the name of the Go field.
func (f Field) GoName() string { return GoName(f.Name) }

// Need is when a field has to be there.
type Need string

// The needs.
const (
	// Always: the key of a result, or the field of a record, is always there.
	Always Need = ""
	// Required: the parameter has to be given.
	Required Need = "required"
	// Optional: the field may be absent.
	Optional Need = "optional"
	// FromContext: where the parameter is absent, the context's own channel or
	// member is meant.
	FromContext Need = "fromContext"
	// RequiredUnless: the parameter has to be given unless Field.Other is.
	RequiredUnless Need = "requiredUnless"
	// RequiredWith: the parameter has to be given where Field.Other is given and
	// not false.
	RequiredWith Need = "requiredWith"
)

// Response describes one shape of a result.
type Response struct {
	// Platforms are the channel types that give this shape. Empty means all.
	Platforms []string `json:"platforms"`
	// When is the case in which the result has this shape. Empty means always.
	When string `json:"when"`
	// Type is the JSON type.
	Type Type `json:"type"`
	// Kind names the Kind of the value, or of each of its elements. It is empty
	// where there is none.
	Kind string `json:"kind"`
	// Meaning says what the value is.
	Meaning string `json:"meaning"`
	// Fields are the keys of an object, or of each object in an array, where no
	// Kind has them.
	Fields []Field `json:"fields"`
}

// Failure is a case in which an operation returns an error.
type Failure struct {
	// Code is the error's code.
	Code boterr.Code `json:"code"`
	// When is a sentence that says what has happened.
	When string `json:"when"`
}

// Kind describes values that several operations take or give, such as filters
// and member records.
type Kind struct {
	// Name is what Field.Kind and Response.Kind refer to.
	Name string `json:"name"`
	// Meaning says what a value of this kind is.
	Meaning string `json:"meaning"`
	// Address is whether a parameter of this kind is looked at for its _id alone.
	Address bool `json:"address"`
	// Open is whether a record has fields beside Fields.
	Open bool `json:"open"`
	// Fields are the fields of the record. Empty where the kind is no record.
	Fields []Field `json:"fields"`
	// Cases say which fields go with which values of one of them.
	Cases []Case `json:"cases"`
}

// Case says what an object has whose field Of has one of the Values.
type Case struct {
	// Of is the field that tells the case, "type" where it is empty. A record
	// without it is of the case of its default.
	Of string `json:"of"`
	// Values are the values of the field.
	Values []string `json:"values"`
	// Required are the fields that have to be there, OneOf those of which one has to be,
	// Optional those that are looked at where they are there.
	Required []string `json:"required"`
	OneOf    []string `json:"oneOf"`
	Optional []string `json:"optional"`
}

// Field returns the name of the field that tells the case.
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

// table is what operations.json holds.
type table struct {
	Errors     []Failure   `json:"errors"`
	Kinds      []Kind      `json:"kinds"`
	Operations []Operation `json:"operations"`
}

// written reads operations.json once.
var written = sync.OnceValue(func() table {
	read := decode[table]("operations.json", source)
	for i, operation := range read.Operations {
		read.Operations[i].Method = GoName(operation.Name)
	}
	return read
})

// said reads comments_gen.json once.
var said = sync.OnceValue(func() Comments { return decode[Comments]("comments_gen.json", comments) })

// load returns the table together with what the comments say.
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

// decode reads an embedded file. It panics where that cannot be read, which is a
// defect that every test of this package finds.
func decode[T any](name string, text []byte) T {
	var read T
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		panic(fmt.Errorf("%s: %w", name, err))
	}
	return read
}

// Written returns the operations as operations.json has them, without what the
// comments say, and WrittenKinds the kinds. They are for the generator.
func Written() []Operation { return slices.Clone(written().Operations) }

// WrittenKinds returns the kinds as operations.json has them.
func WrittenKinds() []Kind { return slices.Clone(written().Kinds) }

// All returns the operations in the order of the specification. What the
// elements hold is shared and must not be changed.
func All() []Operation { return slices.Clone(load().Operations) }

// ByName returns the operation of that name in the specification, and whether
// there is one.
func ByName(name string) (Operation, bool) {
	for _, operation := range load().Operations {
		if operation.Name == name {
			return operation, true
		}
	}
	return Operation{}, false
}

// Kinds returns the kinds that fields and responses refer to, each once. What
// the elements hold is shared and must not be changed.
func Kinds() []Kind { return slices.Clone(load().Kinds) }

// KindNamed returns the kind of that name, and whether there is one.
func KindNamed(name string) (Kind, bool) {
	for _, kind := range load().Kinds {
		if kind.Name == name {
			return kind, true
		}
	}
	return Kind{}, false
}

// Limit returns the most characters or elements that a field may have, and whether there is a
// limit.
func (f Field) Limit() (most int, isLimited bool) {
	text, isConstant := said().Limits[f.Most]
	if !isConstant {
		text = f.Most
	}
	most, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	return most, err == nil
}

// CommonErrors returns the errors that every operation can give.
func CommonErrors() []Failure { return slices.Clone(load().Errors) }

func fieldNamed(fields []Field, name string) (Field, bool) {
	for _, field := range fields {
		if field.Name == name {
			return field, true
		}
	}
	return Field{}, false
}
