package script

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
)

// deepest limits the nesting of a value.
const deepest = document.MaxNesting

// writer writes values in the format of border.js: JSON, and a list of the values that JSON cannot represent.
type writer struct {
	text []byte
	// path leads to the value that is being written. special lists the values that JSON cannot represent.
	path    []step
	special []byte
	// most limits the bytes of special, because there may be many values with long paths.
	most int64
	err  error
}

// newWriter returns a writer with a limit in bytes. Its buffer fits a typical answer.
func newWriter(most int64) *writer { return &writer{most: most, text: make([]byte, 0, 512)} }

// step is a step of a path: a field of an object, or an item of an array.
type step struct {
	name  string
	index int
}

// ofField is the index of a step to a field.
const ofField = -1

// MarshalJSON writes the name of the field, or the index of the item.
func (s step) MarshalJSON() ([]byte, error) {
	if s.index == ofField {
		return json.Marshal(s.name)
	}
	return strconv.AppendInt(nil, int64(s.index), 10), nil
}

// answer writes the answer to a call without the closing bracket. number identifies the error to the script.
func (w *writer) answer(value any, number int, err error) {
	if err == nil {
		w.text = append(w.text, "[0,"...)
		w.whole(value)
		return
	}
	told := map[string]any{"message": display.Text(err), "code": string(boterr.CodeOf(err)), "number": number}
	if e, ok := boterr.AsError(err); ok {
		told["field"], told["operation"] = e.Field, e.Op
	}
	text, failed := json.Marshal(told)
	if failed != nil {
		w.err = failed
		return
	}
	w.text = append(append(w.text, "[1,"...), text...)
	if value != nil && value != document.Missing { // Some functions return both a result and an error.
		w.text = append(w.text[:len(w.text)-1], `,"result":[`...)
		w.whole(value)
		w.text = append(w.text, "]}"...)
	}
	w.text = append(w.text, ",0"...)
}

// whole writes a value and the list of its special values.
func (w *writer) whole(value any) {
	w.special, w.path = w.special[:0], w.path[:0]
	if raw, isRaw := value.(json.RawMessage); isRaw {
		w.text = append(w.text, raw...)
	} else {
		w.value(value)
	}
	if len(w.special) > 0 {
		w.text = append(append(append(w.text, ",["...), w.special...), ']')
	} else {
		w.text = append(w.text, ",0"...)
	}
}

func (w *writer) value(value any) {
	switch v := value.(type) {
	case document.Object:
		w.object(v)
	case document.MissingValue:
		w.note("missing", 0)
	case document.Array:
		w.text = append(w.text, '[')
		for i, item := range v.All() {
			w.next(step{index: i}, item)
		}
		w.text = append(w.text, ']')
	case time.Time:
		w.note("date", v.UnixMilli())
	case int64:
		if v > document.MaxExact || v < -document.MaxExact {
			w.note("integer", strconv.FormatInt(v, 10))
			return
		}
		w.text = strconv.AppendInt(w.text, v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 && math.Signbit(v) {
			w.note("number", strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "Inf", "Infinity", 1))
			return
		}
		w.scalar(v)
	default:
		w.scalar(v)
	}
}

// next writes an item of an array, or the value of a field.
func (w *writer) next(to step, value any) {
	if last := w.text[len(w.text)-1]; last != '[' && last != '{' {
		w.text = append(w.text, ',')
	}
	if to.index == ofField {
		w.name(to.name)
		w.text = append(w.text, ':')
	}
	w.path = append(w.path, to)
	w.value(value)
	w.path = w.path[:len(w.path)-1]
}

func (w *writer) object(o document.Object) {
	w.text = append(w.text, '{')
	hasIndex := false
	for key, value := range o.All() {
		w.next(step{key, ofField}, value)
		hasIndex = hasIndex || key != "" && key[0] >= '0' && key[0] <= '9'
	}
	w.text = append(w.text, '}')
	if hasIndex { // The engine moves such keys to the front.
		keys := make([]string, 0, o.Len())
		for key := range o.All() {
			keys = append(keys, key)
		}
		w.list("order", keys)
	}
}

// name writes the name of a field. Most names need no escapes.
func (w *writer) name(name string) {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			w.scalar(name)
			return
		}
	}
	w.text = append(w.text, '"')
	w.text = append(w.text, name...)
	w.text = append(w.text, '"')
}

func (w *writer) scalar(value any) {
	text, err := document.AppendJSON(w.text, value)
	if err != nil {
		w.err = err
		return
	}
	w.text = text
}

// note writes 0 in place of a value, and adds the value to the special values.
func (w *writer) note(kind string, data any) {
	w.text = append(w.text, '0')
	w.list(kind, data)
}

func (w *writer) list(kind string, data any) {
	path := w.path
	if path == nil {
		path = []step{}
	}
	if int64(len(w.special)) > w.most {
		w.err = endingError{boterr.New(boterr.ResourceExhausted, "",
			"the dates and large numbers for the script take more than %d bytes: see Options.MaxResultBytes", w.most)}
		return
	}
	text, err := json.Marshal([]any{path, kind, data})
	if err != nil {
		w.err = err
		return
	}
	if len(w.special) > 0 {
		w.special = append(w.special, ',')
	}
	w.special = append(w.special, text...)
}
