package send

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// rule is what an object must hold. Its error is InvalidArgument with the path of
// the field in the object.
type rule func(o document.Object) error

// all is every one of the rules; the first that is broken is told.
func all(rules ...rule) rule {
	return func(o document.Object) error {
		for _, r := range rules {
			if err := r(o); err != nil {
				return err
			}
		}
		return nil
	}
}

// ifPresent is a rule for a field that may be absent or null.
func ifPresent(field string, r rule) rule {
	return func(o document.Object) error {
		if value, _ := o.Field(field); value == nil {
			return nil
		}
		return r(o)
	}
}

// optional is a rule for a string that may be absent, null or "", which is what {{path}} makes
// of a field that a member does not have.
func optional(field string, most int) rule {
	return func(o document.Object) error {
		if isAbsent(o, field) {
			return nil
		}
		return text(field, most)(o)
	}
}

// isAbsent reports whether an optional string is absent, null or "".
func isAbsent(o document.Object, field string) bool {
	value, _ := o.Field(field)
	return value == nil || value == ""
}

// text asks for a string that is not empty, of at most so many code points.
func text(field string, most int) rule {
	return func(o document.Object) error {
		value, _ := o.Field(field)
		s, isString := value.(string)
		switch {
		case value == nil:
			return boterr.Missing(field, "a string")
		case !isString:
			return wrongType(field, "a string", value)
		case s == "":
			return boterr.Invalid(field, "is empty")
		}
		if length := utf8.RuneCountInString(s); most != unlimited && length > most {
			return boterr.Invalid(field, "has %d characters, and at most %d are allowed", length, most)
		}
		return nil
	}
}

// address asks for a text that is not empty to be an address with a scheme, such as https:: a platform knows nothing that a path
// could be relative to. A text with {{path}} is filled later.
func address(field string) rule {
	return func(o document.Object) error {
		given, _ := o.Field(field)
		text, isString := given.(string)
		if !isString || text == "" || strings.Contains(text, "{{") {
			return nil
		}
		if parsed, err := url.Parse(text); err != nil || parsed.Scheme == "" {
			return boterr.Invalid(field, "is %.100q, which a platform cannot open: give a whole address, such as https://example.com/a.png", text)
		}
		return nil
	}
}

// either asks for at least one of two strings.
func either(first, second string) rule {
	return func(o document.Object) error {
		if isAbsent(o, first) && isAbsent(o, second) {
			return boterr.Missing(first, "%s or %s", first, second)
		}
		return all(optional(first, unlimited), optional(second, unlimited))(o)
	}
}

// list asks for an array of objects, each by a rule. The elements are checked before
// their number, so that the error leads to the one at fault.
func list(field string, least, most int, element rule) rule {
	return func(o document.Object) error {
		value, _ := o.Field(field)
		array, ok := value.(document.Array)
		switch {
		case value == nil:
			return boterr.Missing(field, "%d to %d elements", least, most)
		case !ok:
			return wrongType(field, "an array", value)
		}
		for i, item := range array.All() {
			if err := checkElement(item, element); err != nil {
				return boterr.PrefixField(field+"["+strconv.Itoa(i)+"]", err)
			}
		}
		if n := array.Len(); n < least || n > most {
			return boterr.Invalid(field, "has %d elements; give %d to %d", n, least, most)
		}
		return nil
	}
}

func checkElement(item any, element rule) error {
	object, ok := item.(document.Object)
	if !ok {
		return wrongType("", "an object", item)
	}
	return element(object)
}
