package document

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/boterr"
)

// structPlan is the mapping between a struct type and an object.
type structPlan struct {
	fields []fieldPlan
	byName map[string]int
	// inAnyCase maps lower-case names to the fields that may be spelled in any case.
	inAnyCase map[string]int
	// untagged maps lower-case names to the names of fields without a tag.
	untagged map[string]string
	// decodesFields is true if the struct is a FieldDecoder.
	decodesFields bool
	// unknown is the index of the field for unknown fields, or nil. A struct that has one is a record.
	unknown []int
}

// fieldPlan is the mapping between a field of a struct and a field of an object.
type fieldPlan struct {
	name      string
	index     []int
	read      reader
	omitEmpty bool
	omitZero  bool
	// anyCase is true if the name is read in lower and upper case.
	anyCase bool
}

// plans caches the plan of each struct type. Its content depends only on types.
var plans sync.Map //nolint:gochecknoglobals // A cache of reflection, such as encoding/json keeps.

func planOf(t reflect.Type) *structPlan {
	if known, ok := plans.Load(t); ok {
		return known.(*structPlan)
	}
	plan := &structPlan{byName: map[string]int{}, decodesFields: decodesFields(t)}
	plan.add(t, nil)
	known, _ := plans.LoadOrStore(t, plan)
	return known.(*structPlan)
}

// decodesFields reports whether a struct has its own DecodeField. The DecodeField of an embedded struct is
// not enough, because it does not know the other fields, which may have the same names.
func decodesFields(t reflect.Type) bool {
	for field := range t.Fields() {
		if field.Anonymous && decodesByField(field.Type) {
			return false
		}
	}
	return decodesByField(t)
}

func decodesByField(t reflect.Type) bool {
	return t.Implements(fieldDecoderType) || reflect.PointerTo(t).Implements(fieldDecoderType)
}

// add plans the fields of the struct at index.
func (p *structPlan) add(t reflect.Type, index []int) {
	for i := range t.NumField() {
		field := t.Field(i)
		at := append(slices.Clone(index), i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Tag.Get("document") == "unknown":
			p.unknown = at
		case name == "-" && options == "":
		case field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct:
			p.add(field.Type, at)
		case field.IsExported():
			if name == "" {
				name = field.Name
				p.addUntagged(name)
			}
			read := readerOf(field.Type)
			switch field.Tag.Get("document") {
			case "listOfOne":
				read = orListOfOne(read)
			case "orNumber":
				read = orNumber(read)
			case "notEmpty":
				read = unlessEmpty(read)
			}
			p.addField(fieldPlan{
				name: name, index: at, read: read, anyCase: field.Tag.Get("document") == "anyCase",
				omitEmpty: hasOption(options, "omitempty"), omitZero: hasOption(options, "omitzero"),
			})
		}
	}
}

// addUntagged records a name that does not come from a tag.
func (p *structPlan) addUntagged(name string) {
	if p.untagged == nil {
		p.untagged = map[string]string{}
	}
	p.untagged[strings.ToLower(name)] = name
}

// checkUnread returns an error for a key that differs only in case from the name of a field without a tag,
// unless the object also has that name.
func (p *structPlan) checkUnread(key string, o Object) error {
	if p.untagged == nil {
		return nil
	}
	name, isMeant := p.untagged[strings.ToLower(key)]
	if !isMeant || o.Has(name) {
		return nil
	}
	return boterr.Invalid(key, "differs in case from %s, a field without a tag, which would stay empty: tag the field `json:%q`", name, key)
}

// addField adds a field, unless a field with the same name is embedded less deeply.
func (p *structPlan) addField(f fieldPlan) {
	if at, ok := p.byName[f.name]; ok {
		if len(f.index) < len(p.fields[at].index) {
			p.fields[at] = f
		}
		return
	}
	p.byName[f.name] = len(p.fields)
	if f.anyCase {
		if p.inAnyCase == nil {
			p.inAnyCase = map[string]int{}
		}
		p.inAnyCase[strings.ToLower(f.name)] = len(p.fields)
	}
	p.fields = append(p.fields, f)
}

// find returns the index of the field for a key. next is the index after the previous field, because the
// fields of most objects are in the order of the struct, with some left out.
func (p *structPlan) find(key string, next int) (at int, ok bool) {
	for at = next; at < len(p.fields) && at < next+fewLeftOut; at++ {
		if p.fields[at].name == key {
			return at, true
		}
	}
	if at, ok = p.byName[key]; ok || p.inAnyCase == nil {
		return at, ok
	}
	at, ok = p.inAnyCase[strings.ToLower(key)]
	return at, ok
}

// fewLeftOut is the number of fields that are compared with a key before it is looked up among all.
const fewLeftOut = 4

func hasOption(options, option string) bool {
	return slices.Contains(strings.Split(options, ","), option)
}

func (f *fieldPlan) isOmitted(v reflect.Value) bool {
	return f.omitEmpty && isEmpty(v) || f.omitZero && isZero(v)
}

// isEmpty reports whether omitempty of encoding/json omits v.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

// isZero reports whether omitzero of encoding/json omits v.
func isZero(v reflect.Value) bool {
	if t := v.Type(); t == objectType || t == arrayType {
		return v.IsZero() // Their method IsZero returns the same.
	}
	if z, ok := reflect.TypeAssert[interface{ IsZero() bool }](v); ok {
		if v.Kind() == reflect.Pointer && v.IsNil() {
			return true
		}
		return z.IsZero()
	}
	return v.IsZero()
}
