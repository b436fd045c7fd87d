package send

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/member"
)

// Fill replaces {{path}} in the strings of a response by values of the member, such as
// {{firstName}}, {{meta.order.id}} or {{meta.items.0}}. A missing or null value is replaced by
// nothing; numbers, booleans, arrays and objects are written as JSON. Field names and the
// response's type are not changed.
//
// Placeholders in inserted values are not filled, and the returned response is literal. A literal
// response is returned unchanged. The error is InvalidArgument if the response or the member
// contains an invalid value, if m is nil, or, with the field, if more than a megabyte would be
// inserted.
func Fill(response Response, m *member.Member) (Response, error) {
	if err := response.object.Err(); err != nil {
		return Response{}, err
	}
	if !response.IsTemplate() {
		return Raw(response.object), nil
	}
	f := fillerFrom(m)
	tooLong := -1
	filled := response.object.Shape().Object(func(i int) any {
		value := response.object.At(i)
		if response.object.NameAt(i) != fieldType {
			value = f.value(value)
		}
		if f.left < 0 && tooLong < 0 {
			tooLong = i
		}
		return value
	})
	switch {
	case f.err != nil:
		return Response{}, f.err
	case tooLong >= 0:
		return Response{}, boterr.Invalid(response.object.NameAt(tooLong),
			"becomes too long once {{path}} is filled in: the limit is %d bytes", maxFilled)
	}
	return Raw(filled), nil
}

// Filled calls Fill and then Validate. If validation fails, the error also names the placeholders
// for which the member has no value.
func Filled(response Response, m *member.Member) (Response, error) {
	filled, err := Fill(response, m)
	if err != nil {
		return Response{}, err
	}
	err = filled.Validate()
	if err == nil {
		return filled, nil
	}
	e, ok := boterr.AsError(err)
	paths := Unfilled(response, m)
	if !ok || len(paths) == 0 {
		return Response{}, err
	}
	told := *e
	list := display.List(len(paths), func(i int) string { return "{{" + paths[i] + "}}" })
	told.Err = boterr.New(e.Code, "", "%w: the member has no value for %s", e.Err, list).Err // New cuts a long list.
	return Response{}, &told
}

// Unfilled returns the paths for which the member has no value or null, such as misspelt ones: each
// path once, and at most 100. It returns nil for a literal response.
func Unfilled(response Response, m *member.Member) []string {
	if !response.IsTemplate() {
		return nil
	}
	f := fillerFrom(m)
	for field, value := range response.object.All() {
		if field != fieldType {
			f.value(value)
		}
	}
	return f.missing
}

// mayHavePlaceholder reports whether a string in value contains "{{".
func mayHavePlaceholder(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, "{{")
	case document.Array:
		for _, item := range v.All() {
			if mayHavePlaceholder(item) {
				return true
			}
		}
	case document.Object:
		for _, field := range v.All() {
			if mayHavePlaceholder(field) {
				return true
			}
		}
	}
	return false
}

// mostUnfilled limits the paths of Unfilled, since each may become a line of a log.
const mostUnfilled = 100

// maxFilled is the maximum number of bytes inserted into a response, far more than any platform accepts.
const maxFilled = 1 << 20

type filler struct {
	// from is the member, or nil to replace each placeholder by "{{", which marks a URL as not known yet.
	from *member.Member
	// err is the error from reading the member.
	err error
	// left is the number of bytes that may still be inserted, or negative after too many.
	left int
	// missing are the paths without a value, as Unfilled returns them.
	missing []string
}

func fillerFrom(m *member.Member) filler {
	if m == nil {
		return filler{err: boterr.Missing("member", "whose fields fill the placeholders"), left: maxFilled}
	}
	return filler{from: m, err: m.Err(), left: maxFilled}
}

// value returns value with all its strings filled.
func (f *filler) value(value any) any {
	switch v := value.(type) {
	case string:
		return f.text(v)
	case document.Array:
		items := make([]any, 0, v.Len())
		for _, item := range v.All() {
			items = append(items, f.value(item))
		}
		return document.A(items...)
	case document.Object:
		pairs := make([]any, 0, 2*v.Len())
		for field, inner := range v.All() {
			pairs = append(pairs, field, f.value(inner))
		}
		return document.O(pairs...)
	default:
		return value
	}
}

func (f *filler) text(text string) string {
	var filled strings.Builder
	for f.left >= 0 && f.err == nil {
		before, path, after := cutPlaceholder(text)
		if path == "" {
			break
		}
		value := f.at(path)
		filled.Grow(len(text) + len(value)) // Usually enough for the rest, too.
		filled.WriteString(before)
		filled.WriteString(value)
		text = after
	}
	if filled.Len() == 0 {
		return text
	}
	filled.WriteString(text)
	return filled.String()
}

func (f *filler) at(path string) string {
	if f.from == nil {
		return "{{"
	}
	var value any
	value, _, f.err = document.LookupIn(f.from, path)
	if value == nil && len(f.missing) < mostUnfilled && !slices.Contains(f.missing, path) {
		f.missing = append(f.missing, path)
	}
	filled := formatted(value)
	f.left -= len(filled)
	return filled
}

// cutPlaceholder cuts text around its first {{path}}; spaces around path are trimmed. path is "" if
// there is none.
func cutPlaceholder(text string) (before, path, after string) {
	for begin := 0; ; begin++ {
		at := strings.Index(text[begin:], "{{")
		if at < 0 {
			return text, "", ""
		}
		begin += at
		inner := text[begin+len("{{"):]
		end := strings.IndexAny(inner, "{}")
		if end < 0 {
			return text, "", ""
		}
		path = strings.Trim(inner[:end], "\t\n\f\r ")
		if after, closed := strings.CutPrefix(inner[end:], "}}"); closed && path != "" {
			return text[:begin], path, after
		}
	}
}

// formatted returns a value as text.
func formatted(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	text, err := document.AppendJSON(nil, value)
	if err != nil {
		return "" // The value has no JSON form, such as NaN.
	}
	return strings.Trim(string(text), `"`) // A time is a JSON string: drop its quotes.
}
