package script

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// use is the purpose for which a value of a script is read.
type use int

const (
	// forData omits undefined, as JSON.stringify does.
	forData use = iota
	// forSelection refuses undefined: it would select everything.
	forSelection
	// forFilter also refuses undefined, and accepts regular expressions.
	forFilter
)

// reader reads values in the format of border.js. It must not trust the text, which comes from the memory of a
// script.
type reader struct {
	text string
	at   int
	// largest limits the bytes of a value. isTooLarge is true once a value exceeds this limit.
	largest    int
	isTooLarge bool
	// key is the field that is being read. isItem is true for an item of an array in that field.
	key    string
	isItem bool
}

// errText is the error for a text that border.js would not write.
var errText = boterr.New(boterr.Internal, "", "a value of the script cannot be read")

// value reads a value. It returns document.Missing for undefined.
func (r *reader) value(of use) (any, error) {
	begin := r.at
	value, err := r.any(of, 0)
	if err == nil && r.at-begin > r.largest {
		return nil, r.tooLarge()
	}
	return value, err
}

func (r *reader) tooLarge() error {
	r.isTooLarge = true
	return boterr.New(boterr.ResourceExhausted, "", "is larger than %d bytes of JSON: see Options.MaxResultBytes", r.largest)
}

// peek returns the next byte, or 0 at the end.
func (r *reader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// has skips the next byte if it is b, and reports whether it did.
func (r *reader) has(b byte) bool {
	if r.peek() != b {
		return false
	}
	r.at++
	return true
}

// want skips the byte b. If the next byte differs, want skips the rest, because it cannot be read.
func (r *reader) want(b byte) {
	if !r.has(b) {
		r.at = len(r.text)
	}
}

// rest returns the text up to the closing bracket.
func (r *reader) rest() string { return strings.TrimSuffix(r.text[r.at:], "]") }

// skip moves past the next JSON value without decoding it.
func (r *reader) skip() {
	open := 0
	for r.at < len(r.text) {
		switch r.peek() {
		case '"':
			_, _ = r.string() // Only its end matters.
			continue
		case '[', '{':
			open++
		case ']', '}':
			if open == 0 {
				return
			}
			open--
		case ',':
			if open == 0 {
				return
			}
		}
		r.at++
	}
}

func (r *reader) any(of use, depth int) (any, error) {
	if depth > deepest+1 {
		return nil, errText
	}
	switch r.peek() {
	case '{':
		return r.object(of, depth)
	case '[':
		return r.array(of, depth)
	case '"':
		return r.string()
	case 'U', 'D', 'I', 'R', 'X', 'L':
		return r.special(of)
	}
	return r.scalar()
}

// special reads a value that JSON cannot represent.
func (r *reader) special(of use) (any, error) {
	if strings.HasPrefix(r.text[r.at:], "Infinity") {
		r.word()
		return math.Inf(1), nil
	}
	r.at++
	switch r.text[r.at-1] {
	case 'U':
		if of != forData {
			return nil, boterr.Invalid("", "is undefined: leave it out, or give a value")
		}
		return document.Missing, nil
	case 'D':
		milliseconds, err := strconv.ParseFloat(r.word(), 64)
		if err != nil {
			return nil, errText
		}
		return document.ValueOf(time.UnixMilli(int64(milliseconds)))
	case 'I':
		integer, err := strconv.ParseInt(r.word(), 10, 64)
		if err != nil {
			return nil, boterr.Invalid("", "is a BigInt of more than 64 bits: convert it to a string")
		}
		return integer, nil
	case 'R':
		return r.pattern(of)
	case 'X':
		why, err := r.string()
		if err != nil {
			return nil, err
		}
		return nil, boterr.Invalid("", "%s", why)
	default:
		return nil, r.tooLarge()
	}
}

// word returns and skips the following letters, digits and signs.
func (r *reader) word() string {
	begin := r.at
	for r.at < len(r.text) && !strings.ContainsRune(`,:]}["`, rune(r.text[r.at])) {
		r.at++
	}
	return r.text[begin:r.at]
}

func (r *reader) scalar() (any, error) {
	switch word := r.word(); word {
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "null":
		return nil, nil //nolint:nilnil // Null is a value.
	default:
		integer, err := strconv.ParseInt(word, 10, 64)
		if err == nil && word != "-0" && -document.MaxExact <= integer && integer <= document.MaxExact {
			return integer, nil
		}
		number, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, errText
		}
		return number, nil
	}
}

// maxShared is the maximum length in bytes of a text whose strings may share its memory, as in document.ParseJSON.
// Otherwise one short string could keep a long text in memory.
const maxShared = 4096

func (r *reader) string() (string, error) {
	begin := r.at
	if !r.has('"') {
		return "", errText
	}
	isPlain := true
	for r.at < len(r.text) && r.text[r.at] != '"' {
		if r.text[r.at] == '\\' {
			isPlain = false
			r.at++
		}
		r.at++
	}
	if !r.has('"') {
		r.at = len(r.text)
		return "", errText
	}
	if isPlain {
		plain := r.text[begin+1 : r.at-1]
		if len(r.text) > maxShared {
			plain = strings.Clone(plain)
		}
		return plain, nil
	}
	var text string
	if err := json.Unmarshal([]byte(r.text[begin:r.at]), &text); err != nil {
		return "", errText
	}
	return text, nil
}

func (r *reader) array(of use, depth int) (any, error) {
	items, key := []any{}, r.key
	err := r.separated('[', ']', func(i int) error {
		r.key, r.isItem = key, true
		item, err := r.any(of, depth+1)
		if err != nil {
			return boterr.PrefixField(boterr.Index(i), err)
		}
		items = append(items, orNull(item))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return document.ArrayOf(items), nil
}

func (r *reader) separated(begin, end byte, item func(i int) error) error {
	if !r.has(begin) {
		return errText
	}
	if r.has(end) {
		return nil
	}
	for i := 0; ; i++ {
		if err := item(i); err != nil {
			return err
		}
		if r.has(end) {
			return nil
		}
		if !r.has(',') {
			return errText
		}
	}
}

func (r *reader) object(of use, depth int) (any, error) {
	return r.fields(func(name string) (any, error) {
		within := of
		if of == forData && isCondition(name) {
			within = forFilter
		}
		return r.any(within, depth+1)
	})
}

// isCondition reports whether a field of an update contains conditions.
func isCondition(name string) bool { return name == "$pull" || name == "arrayFilters" }

// fields reads an object and calls value for each field.
func (r *reader) fields(value func(name string) (any, error)) (any, error) {
	built := document.NewBuilder(8)
	err := r.separated('{', '}', func(int) error {
		name, err := r.string()
		if err != nil || !r.has(':') {
			return errText
		}
		r.key, r.isItem = name, false
		field, err := value(name)
		if err != nil {
			return boterr.PrefixField(name, err)
		}
		if pattern, isPattern := field.(document.Object); isPattern && name == opRegex && pattern.Len() > 0 {
			for name, value := range pattern.All() { // {$regex: /a/i}
				built.Set(name, value)
			}
		} else if field != document.Missing {
			built.Set(name, field)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	made := built.Object()
	return made, made.Err()
}

// patternFlags are the flags of regular expressions that $options supports. otherFlags do not affect whether a text
// matches.
const patternFlags, otherFlags = "ims", "dgyu"

const opRegex = "$regex"

// takesPattern reports whether a filter may have a regular expression at this place.
func (r *reader) takesPattern() bool {
	if r.isItem {
		return r.key == "$in" || r.key == "$nin" || r.key == "$all"
	}
	return !strings.HasPrefix(r.key, "$") || r.key == "$not" || r.key == opRegex
}

// pattern reads a regular expression. In filters, it becomes a $regex.
func (r *reader) pattern(of use) (any, error) {
	var source, flags string
	takesPattern := r.takesPattern()
	err := r.separated('[', ']', func(i int) (err error) {
		if i == 0 {
			source, err = r.string()
		} else {
			flags, err = r.string()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if of != forFilter || !takesPattern {
		return nil, boterr.Invalid("", "is a regular expression: only filters take them, for a field and in $in, $nin, $all and $not")
	}
	var options []byte
	for i := range len(flags) {
		switch {
		case strings.IndexByte(patternFlags, flags[i]) >= 0:
			options = append(options, flags[i])
		case strings.IndexByte(otherFlags, flags[i]) < 0:
			return nil, boterr.Invalid("", "has the flag %q, which filters do not have", flags[i:i+1])
		}
	}
	if len(options) == 0 {
		return document.O(opRegex, source), nil
	}
	return document.O(opRegex, source, "$options", string(options)), nil
}

func orNull(value any) any {
	if value == document.Missing {
		return nil
	}
	return value
}
