package document

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// MaxArrayIndex is the highest index at which a path may write. Elements between the end of the array and the
// index become null, as in MongoDB.
const MaxArrayIndex = 1_500_000

// Lookup returns the value at a dotted path, and reports whether there is one. A number in the path is the
// index of an element in an array: "items.0.name".
//
// If that finds nothing, Lookup also reads brackets in the path, as lodash.get does. They contain an index,
// "items[0].name", or a quoted name, which may contain dots: `prices["b.c"]`. A backslash in quotes escapes
// the next character. A path with malformed brackets finds nothing.
func (o Object) Lookup(path string) (any, bool) {
	value, ok := lookupDotted(o, path)
	if !ok && strings.IndexByte(path, '[') >= 0 {
		return o.lookupBrackets(path)
	}
	return value, ok
}

// lookupDotted returns the value at a dotted path of any value. It does not read brackets.
func lookupDotted(in any, path string) (any, bool) {
	current := in
	for part := range strings.SplitSeq(path, ".") {
		var ok bool
		if current, ok = child(current, part); !ok {
			return nil, false
		}
	}
	return current, true
}

// Has reports whether Lookup finds a value at a path. Null counts as a value.
func (o Object) Has(path string) bool {
	_, ok := o.Lookup(path)
	return ok
}

// Lookuper is an Object or a pointer to one, for Get.
type Lookuper interface {
	// Lookup returns the value at a path, and reports whether there is one.
	Lookup(path string) (any, bool)
}

// Get returns the value at a path of o as a T. It returns otherwise if there is no value, or if the value
// cannot be converted: Get(bot.Member.Meta, "order.items[0].id", "none"). Paths are as for Lookup. Numbers
// convert if nothing is lost; arrays become slices, and objects become structs or maps by JSON tags. A nil
// *Object has no values.
func Get[T any](o Lookuper, path string, otherwise T) T {
	if pointer, ok := o.(*Object); o == nil || ok && pointer == nil {
		return otherwise
	}
	value, ok := o.Lookup(path)
	if !ok || value == nil {
		return otherwise
	}
	if v, ok := value.(T); ok {
		return v
	}
	var v T
	if err := DecodeValue(value, &v); err != nil {
		return otherwise
	}
	return v
}

// child returns the field with a name, or the element with an index.
func child(value any, part string) (any, bool) {
	switch v := value.(type) {
	case Object:
		return v.Field(part)
	case Array:
		if i, ok := ParseIndex(part); ok && i < v.Len() {
			return v.At(i), true
		}
	}
	return nil, false
}

// ParseIndex reads a part of a path as an index: digits without a leading zero.
func ParseIndex(part string) (int, bool) {
	if part == "" || part[0] < '0' || part[0] > '9' || len(part) > 1 && part[0] == '0' {
		return 0, false
	}
	i, err := strconv.Atoi(part)
	return i, err == nil
}

// Set sets the value at a dotted path, and creates missing or null objects on the way to it. A number in the
// path is the index of an element in an array; beyond its end the array is filled with null. Brackets are
// part of a name, which Lookup and Get find again by the same path.
//
// If a part of the path leads through a string, a number or another value without fields, the value is not
// set, and o carries an error from then on (see Object).
func (o *Object) Set(path string, v any) {
	path = validText(path)
	value, err := ValueOf(v)
	if err == nil {
		err = CheckPath(path)
	}
	if err == nil {
		var next any
		if next, err = setAt(*o, strings.Split(path, "."), value); err == nil {
			*o = next.(Object)
			return
		}
	}
	*o = o.failed(boterr.PrefixField(path, err))
}

// Delete removes the value at a dotted path. An element of an array becomes null, so that the others keep
// their index. A missing value is not an error.
func (o *Object) Delete(path string) {
	next, _ := deleteAt(*o, strings.Split(path, "."))
	*o = next.(Object)
}

// CheckPath returns InvalidArgument for a dotted path that no document can have: one with an empty part, a NUL
// byte, or more than MaxNesting parts.
func CheckPath(path string) error {
	if path == "" || strings.HasPrefix(path, ".") || strings.HasSuffix(path, ".") || strings.Contains(path, "..") {
		return boterr.Invalid("", "the path %q has an empty part", path)
	}
	if err := checkPathLength(path); err != nil {
		return err
	}
	if strings.IndexByte(path, 0) >= 0 {
		return boterr.Invalid("", "the path %q contains a NUL byte", path)
	}
	return nil
}

// CheckReadPath returns InvalidArgument for a dotted path that cannot be read: one with a NUL byte, or more
// than MaxNesting parts. A path with an empty part is valid but finds nothing.
func CheckReadPath(path string) error {
	if strings.IndexByte(path, 0) >= 0 {
		return boterr.Invalid("", "the path %q contains a NUL byte", path)
	}
	return checkPathLength(path)
}

// checkPathLength refuses a path that leads deeper than a value can be nested.
func checkPathLength(path string) error {
	if strings.Count(path, ".") >= MaxNesting {
		return boterr.Invalid("", "the path has more than %d parts", MaxNesting)
	}
	return nil
}

func setAt(container any, parts []string, value any) (any, error) {
	part := parts[0]
	if len(parts) > 1 {
		inner, _ := child(container, part)
		next, err := setAt(inner, parts[1:], value)
		if err != nil {
			return nil, err
		}
		value = next
	}
	switch c := container.(type) {
	case nil:
		return singleField(part, value), nil
	case Object:
		return c.Put(part, value), nil
	case Array:
		i, ok := ParseIndex(part)
		if !ok {
			return nil, boterr.Invalid("", "%q is not an array index", part)
		}
		return c.withItem(i, value)
	default:
		return nil, boterr.Invalid("", "cannot set %q in a %s", part, JSONType(container))
	}
}

// withItem returns a with element i set, padded with null if it is shorter.
func (a Array) withItem(i int, value any) (Array, error) {
	if i > MaxArrayIndex {
		return Array{}, boterr.New(boterr.ResourceExhausted, "", "the index %d is above %d", i, MaxArrayIndex)
	}
	items := make([]any, max(a.Len(), i+1))
	copy(items, a.Items())
	items[i] = value
	return ArrayOf(items), nil
}

// deleteAt returns container without the path, and whether that changed it.
func deleteAt(container any, parts []string) (any, bool) {
	part := parts[0]
	if len(parts) > 1 {
		inner, ok := child(container, part)
		if !ok {
			return container, false
		}
		next, changed := deleteAt(inner, parts[1:])
		if !changed {
			return container, false
		}
		return replaceChild(container, part, next), true
	}
	switch c := container.(type) {
	case Object:
		next := c.Without(part)
		return next, next != c
	case Array:
		if i, ok := ParseIndex(part); ok && i < c.Len() {
			return replaceChild(c, part, nil), true
		}
	}
	return container, false
}

func replaceChild(container any, part string, value any) any {
	switch c := container.(type) {
	case Object:
		return c.Put(part, value)
	case Array:
		i, _ := ParseIndex(part)
		items := slices.Clone(c.Items())
		items[i] = value
		return ArrayOf(items)
	default:
		return container
	}
}

// lookupBrackets returns the value at a path in which brackets hold an index or a name.
func (o Object) lookupBrackets(path string) (any, bool) {
	parts, ok := splitBrackets(path)
	var current any = o
	for _, part := range parts {
		if current, ok = child(current, part); !ok {
			return nil, false
		}
	}
	return current, ok
}

// splitBrackets returns the parts of a path, and whether its brackets are well-formed.
func splitBrackets(path string) (parts []string, ok bool) {
	for rest, isFirst := path, true; ; isFirst = false {
		if !isFirst || rest[0] != '[' {
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				return append(parts, rest), true
			}
			parts, rest = append(parts, rest[:end]), rest[end:]
		}
		for rest != "" && rest[0] == '[' {
			var part string
			if part, rest, ok = cutBracket(rest[1:]); !ok {
				return nil, false
			}
			parts = append(parts, part)
		}
		switch {
		case rest == "":
			return parts, true
		case rest[0] != '.':
			return nil, false
		}
		rest = rest[1:]
	}
}

// cutBracket returns the content of the bracket that begins before text, and the text after the bracket.
func cutBracket(text string) (part, rest string, ok bool) {
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		return cutQuoted(text[1:], text[0])
	}
	part, rest, ok = strings.Cut(text, "]")
	return part, rest, ok && part != "" && !strings.ContainsAny(part, `.["'`)
}

// cutQuoted returns the quoted name that begins before text, and the text after its bracket. A backslash
// escapes the next character.
func cutQuoted(text string, quote byte) (part, rest string, ok bool) {
	var name strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == quote:
			rest, ok = strings.CutPrefix(text[i+1:], "]")
			return name.String(), rest, ok
		case text[i] == '\\' && i+1 < len(text):
			i++
		}
		name.WriteByte(text[i])
	}
	return "", "", false
}
