package nodefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/nearest"
)

// reader reads values, and collects what is wrong with them.
type reader struct {
	problems []Problem
}

// complainf notes what is wrong at a place.
func (r *reader) complainf(at Place, path, format string, args ...any) {
	r.problems = append(r.problems, Problem{Place: at, Field: path, Text: fmt.Sprintf(format, args...)})
}

// refuse notes an error about a value.
func (r *reader) refuse(v value, path string, err error) {
	text := err.Error()
	if coded, ok := errors.AsType[*boterr.Error](err); ok {
		text = coded.Message()
		path = field(path, coded.Field)
		if coded.Field == "" {
			path = strings.TrimSuffix(path, ".")
		}
	}
	r.complainf(v.place, path, "%s", text)
}

// schema is how each field of an object is read.
type schema map[string]func(v value, path string)

// object reads an object by a schema, and reports whether it is one.
func (r *reader) object(v value, path string, fields schema) bool {
	if !v.isObject {
		r.complainf(v.place, path, "must be an object, got %s", v.kind())
		return false
	}
	seen := map[string]bool{}
	for _, member := range v.members {
		read, isKnown := fields[member.name]
		switch {
		case !isKnown:
			r.complainf(member.place, field(path, member.name), "is no field%s", perhaps(member.name, fields))
		case seen[member.name]:
			r.complainf(member.place, field(path, member.name), "is there twice: keep one")
		default:
			read(member.value, field(path, member.name))
		}
		seen[member.name] = true
	}
	return true
}

// perhaps says which field a misspelt one may be, or all that there are.
func perhaps(name string, fields schema) string {
	names := make([]string, 0, len(fields))
	for known := range fields {
		names = append(names, known)
	}
	slices.Sort(names)
	if near := nearest.To(name, names); near != "" {
		return fmt.Sprintf(": perhaps %q is meant", near)
	}
	return ": there are " + strings.Join(names, ", ")
}

// array reads each element of an array.
func (r *reader) array(v value, path string, read func(v value, path string)) {
	if !v.isArray {
		r.complainf(v.place, path, "must be an array, got %s", v.kind())
		return
	}
	for i, item := range v.items {
		read(item, path+boterr.Index(i))
	}
}

// one returns a reader of an element of an array, or of what stands there alone.
func (r *reader) oneOrMany(v value, path string, read func(v value, path string)) {
	if v.isArray {
		r.array(v, path, read)
		return
	}
	read(v, path)
}

// text returns how a text that is not empty is read into a variable.
func (r *reader) text(into *string) func(v value, path string) {
	return func(v value, path string) {
		text, ok := v.scalar.(string)
		switch {
		case !ok:
			r.complainf(v.place, path, "must be a text, got %s", v.kind())
		case text == "":
			r.complainf(v.place, path, "is empty: give a text, or leave the field out")
		default:
			*into = text
		}
	}
}

// boolean returns how a boolean is read into a variable.
func (r *reader) boolean(into *bool) func(v value, path string) {
	return func(v value, path string) {
		truth, ok := v.scalar.(bool)
		if !ok {
			r.complainf(v.place, path, "must be true or false, got %s", v.kind())
			return
		}
		*into = truth
	}
}

// whole returns how a whole number is read into a variable.
func (r *reader) whole(into *int) func(v value, path string) {
	return func(v value, path string) {
		number, ok := v.scalar.(json.Number)
		if !ok {
			r.complainf(v.place, path, "must be a number, got %s", v.kind())
			return
		}
		whole, err := number.Int64()
		if err != nil || whole != int64(int(whole)) {
			r.complainf(v.place, path, "must be a whole number, got %s", number)
			return
		}
		*into = int(whole)
	}
}
