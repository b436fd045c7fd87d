package channel

import (
	"reflect"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// readInfo reads the info of a channel by the channel's type. It is nil where there
// is none.
func readInfo(source document.Object) (Info, error) {
	given, _ := source.Field(fieldInfo)
	if given == nil {
		return nil, nil
	}
	if given == redactedText {
		return OtherInfo{Hidden{lost: true}}, nil
	}
	var fields document.Object
	if err := document.DecodeValue(given, &fields); err != nil {
		return nil, err
	}
	if read := PlatformOf(Type(document.Get(source, fieldType, ""))).readInfo; read != nil {
		return read(fields)
	}
	return OtherInfo{Hide(fields)}, nil
}

// infoReader returns how an info of a known type is read.
func infoReader[T Info, P interface {
	*T
	keep(unknown document.Object)
}]() func(fields document.Object) (Info, error) {
	known := namesOf(reflect.TypeFor[T]())
	return func(fields document.Object) (Info, error) {
		var info T
		if err := document.Decode(fields, &info); err != nil {
			return nil, err
		}
		P(&info).keep(further(fields, known))
		return info, nil
	}
}

// further returns the fields that are not known.
func further(fields document.Object, known []string) document.Object {
	var unknown document.Builder
	for name, value := range fields.All() {
		if !slices.Contains(known, name) {
			unknown.Set(name, value)
		}
	}
	return unknown.Object()
}

// namesOf returns the JSON names of a struct's fields.
func namesOf(t reflect.Type) []string {
	var names []string
	for field := range slices.Values(reflect.VisibleFields(t)) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
