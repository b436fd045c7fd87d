package document

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/boterr"
)

// timeLayout is the layout of times in JSON, the same as in a Date of JavaScript.
const timeLayout = "2006-01-02T15:04:05.000Z"

// ParseJSON reads one JSON value. Objects keep the order of their keys; a duplicate key keeps its first place
// and its last value. A number without a fraction or an exponent is an int64 if it fits; other numbers are the
// nearest float64, which is 0 for a number such as 1e-400. Invalid UTF-8 in a string, and unpaired surrogates,
// become U+FFFD, as in encoding/json.
func ParseJSON(text []byte) (any, error) {
	if !json.Valid(text) {
		return nil, invalidJSON(text)
	}
	p := jsonParser{text: string(text), isLong: len(text) > longText}
	value, err := p.value(0)
	if err == nil {
		err = errOf(value)
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

func invalidJSON(text []byte) error {
	var ignored json.RawMessage
	err := json.Unmarshal(text, &ignored)
	return boterr.Invalid("", "is not valid JSON: %w", err)
}

// longText is the maximum length in bytes of a text whose strings may share its memory. Strings of a longer text are
// copied. Otherwise one short string could keep the whole text in memory.
const longText = 4096

// jsonParser reads valid JSON in one pass.
type jsonParser struct {
	text string
	// at is the position of the next byte to read.
	at int
	// isLong is true if the text is longer than longText.
	isLong bool
}

// peek skips whitespace and returns the next byte.
func (p *jsonParser) peek() byte {
	for {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return c
		}
	}
}

func (p *jsonParser) value(depth int) (any, error) {
	c := p.peek()
	switch c {
	case '"':
		return p.string(), nil
	case 't':
		p.at += len("true")
		return true, nil
	case 'f':
		p.at += len("false")
		return false, nil
	case 'n':
		p.at += len("null")
		return nil, nil //nolint:nilnil // It is the value null.
	case '{', '[':
	default:
		return p.number()
	}
	if depth == MaxNesting {
		return nil, boterr.Invalid("", "is nested deeper than %d levels", MaxNesting)
	}
	if c == '[' {
		return p.array(depth + 1)
	}
	return p.object(depth + 1)
}

// hasNext skips the bracket or comma before an item, and reports whether there is an item before the end.
func (p *jsonParser) hasNext(end byte) bool {
	p.at++
	if p.text[p.at-1] == end {
		return false
	}
	if p.peek() == end { // It is empty.
		p.at++
		return false
	}
	return true
}

func (p *jsonParser) object(depth int) (any, error) {
	b := NewBuilder(0)
	for p.hasNext('}') {
		key := p.string()
		p.peek()
		p.at++ // the colon
		value, err := p.value(depth)
		if err != nil {
			return nil, boterr.PrefixField(key, err)
		}
		b.Set(key, value)
		p.peek()
	}
	return b.Object(), nil
}

func (p *jsonParser) array(depth int) (any, error) {
	items := []any{}
	for p.hasNext(']') {
		value, err := p.value(depth)
		if err != nil {
			return nil, boterr.PrefixField(boterr.Index(len(items)), err)
		}
		items = append(items, value)
		p.peek()
	}
	return ArrayOf(items), nil
}

// string reads a string. If it contains U+FFFD, the standard library parses it, because gjson loses an escape after an
// unpaired surrogate.
func (p *jsonParser) string() string {
	begin := p.at
	end := begin + 1 + strings.IndexByte(p.text[begin+1:], '"')
	text := p.text[begin+1 : end]
	isEscaped := strings.IndexByte(text, '\\') >= 0
	if isEscaped {
		end = begin + 1
		for ; p.text[end] != '"'; end++ {
			if p.text[end] == '\\' {
				end++
			}
		}
		text = gjson.Parse(p.text[begin : end+1]).String()
	}
	p.at = end + 1
	if !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
		if err := json.Unmarshal([]byte(p.text[begin:p.at]), &text); err != nil {
			return strings.ToValidUTF8(text, "\uFFFD") // Not reached: ParseJSON has checked the text.
		}
		return text
	}
	if p.isLong && !isEscaped {
		return strings.Clone(text)
	}
	return text
}

func (p *jsonParser) number() (any, error) {
	length := strings.IndexAny(p.text[p.at:], ",]} \t\r\n")
	if length < 0 {
		length = len(p.text) - p.at
	}
	p.at += length
	return parseNumber(p.text[p.at-length : p.at])
}

func parseNumber(text string) (any, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil && text != "-0" {
		return i, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, boterr.Invalid("", "the number %.40s is beyond the range of a double", text)
	}
	return f, nil
}

// AppendJSON appends a value as JSON to text. NaN and infinities are InvalidArgument, because JSON cannot
// represent them.
func AppendJSON(text []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(text, "null"...), nil
	case bool:
		return strconv.AppendBool(text, v), nil
	case int64:
		return strconv.AppendInt(text, v, 10), nil
	case float64:
		return appendFloat(text, v)
	case string:
		return appendString(text, v)
	case time.Time:
		return append(append(append(text, '"'), v.UTC().Format(timeLayout)...), '"'), nil
	case Object:
		return appendObject(text, v)
	case Array:
		return appendArray(text, v)
	}
	value, err := ValueOf(value)
	if err != nil {
		return nil, err
	}
	return AppendJSON(text, value)
}

// appendFloat writes a double as JavaScript does, without an exponent unless the number is very small or so
// large that not every integer is a double. Without an exponent, such a large number would be read as an
// integer with a different value.
func appendFloat(text []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, boterr.Invalid("", "JSON cannot hold %v", f)
	}
	const smallest, largest = 1e-6, MaxExact
	format := byte('f')
	if size := math.Abs(f); size != 0 && (size < smallest || size >= largest) {
		format = 'e'
	}
	return strconv.AppendFloat(text, f, format, -1, 64), nil
}

// appendString writes a string, with the standard library's escapes.
func appendString(text []byte, s string) ([]byte, error) {
	if isPlain(s) {
		return append(append(append(text, '"'), s...), '"'), nil
	}
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false) // A document is not a web page, and logs should be readable.
	if err := encoder.Encode(s); err != nil {
		return nil, err
	}
	return append(text, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...), nil
}

func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func appendObject(text []byte, o Object) ([]byte, error) {
	if o.node == nil {
		return append(text, "null"...), nil
	}
	if err := o.node.err(); err != nil {
		return nil, err
	}
	text = append(text, '{')
	for i, key := range o.node.shape.names {
		if i > 0 {
			text = append(text, ',')
		}
		var err error
		if text, err = appendString(text, key); err != nil {
			return nil, err
		}
		if text, err = AppendJSON(append(text, ':'), o.node.at(i)); err != nil {
			return nil, boterr.PrefixField(key, err)
		}
	}
	return append(text, '}'), nil
}

func appendArray(text []byte, a Array) ([]byte, error) {
	if a.node == nil {
		return append(text, "null"...), nil
	}
	if a.node.err != nil {
		return nil, a.node.err
	}
	text = append(text, '[')
	for i, item := range a.node.items {
		if i > 0 {
			text = append(text, ',')
		}
		var err error
		if text, err = AppendJSON(text, item); err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
	}
	return append(text, ']'), nil
}

// wholeText returns a value as JSON, or the error if that fails.
func wholeText(value any) string {
	text, err := AppendJSON(nil, value)
	if err != nil {
		return "!(" + err.Error() + ")"
	}
	return string(text)
}

// Excerpt returns a value as JSON for an error message, cut if it is long.
func Excerpt(value any) string {
	const longest = 200
	room := longest
	text := wholeText(beginning(value, &room))
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return text
}

// beginning returns a first part of a value that takes at least room bytes as JSON, or all of it, so that a
// large value is not written only to be cut.
func beginning(value any, room *int) any {
	*room--
	switch v := value.(type) {
	case string:
		v = v[:min(len(v), max(*room, 0)+1)]
		*room -= len(v)
		return v
	case Array:
		items := []any{}
		for i := 0; i < v.Len() && *room >= 0; i++ {
			items = append(items, beginning(v.At(i), room))
		}
		return ArrayOf(items)
	case Object:
		b := NewBuilder(0)
		for name, inner := range v.All() {
			if *room < 0 {
				break
			}
			*room -= len(name)
			b.Set(name, beginning(inner, room))
		}
		return b.Object()
	default:
		return value
	}
}

// MarshalJSON writes the fields in their order, and null for the zero Object.
func (o Object) MarshalJSON() ([]byte, error) { return AppendJSON(nil, o) }

// UnmarshalJSON reads a JSON object. null gives the zero Object.
func (o *Object) UnmarshalJSON(text []byte) error { return unmarshal(text, o) }

// MarshalJSON writes the elements, and null for the zero Array.
func (a Array) MarshalJSON() ([]byte, error) { return AppendJSON(nil, a) }

// UnmarshalJSON reads a JSON array. null gives the zero Array.
func (a *Array) UnmarshalJSON(text []byte) error { return unmarshal(text, a) }

// unmarshal reads JSON of one type; null gives the zero value.
func unmarshal[T Object | Array](text []byte, into *T) error {
	value, err := ParseJSON(text)
	if err != nil {
		return err
	}
	var zero T
	v, ok := value.(T)
	if !ok && value != nil {
		return WrongType(JSONType(any(zero)), value)
	}
	*into = v
	return nil
}

// WrongType returns the error for a value that is not of the expected type.
func WrongType(expected string, value any) error {
	return boterr.Invalid("", "must be of type %s, got %s", expected, JSONType(value))
}

// JSONType returns JSON's name for the type of a value, such as "number", or "date" for a time. TypeName returns
// MongoDB's name.
func JSONType(value any) string {
	switch name := TypeName(value); name {
	case "bool":
		return "boolean"
	case "long", "double":
		return "number"
	default:
		return name
	}
}
