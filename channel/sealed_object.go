package channel

import (
	"strconv"
	"time"

	"github.com/botctx/go-sdk/document"
)

// An object is sealed as JSON in which the types are told that JSON lacks: a list begins with
// one of these marks.
const (
	markObject = "o" // Names and values follow in turns.
	markArray  = "a"
	markDouble = "f" // Its text follows.
	markTime   = "t" // Its milliseconds follow.
)

// sealObject seals an object.
func sealObject(o document.Object) (sealed, error) {
	if o.Err() != nil {
		return "", o.Err()
	}
	text, err := document.EncodeJSON(marked(o))
	return seal(string(text)), err
}

// openObject returns the object that was sealed.
func (s sealed) openObject() document.Object {
	value, err := document.ParseJSON([]byte(s.open()))
	if err != nil {
		return document.Object{}
	}
	o, _ := unmarked(value).(document.Object)
	return o
}

// marked returns a value with its types told.
func marked(value any) any {
	switch v := value.(type) {
	case document.Object:
		items := []any{markObject}
		for name, inner := range v.All() {
			items = append(items, name, marked(inner))
		}
		return document.A(items...)
	case document.Array:
		items := []any{markArray}
		for _, inner := range v.All() {
			items = append(items, marked(inner))
		}
		return document.A(items...)
	case float64:
		return document.A(markDouble, strconv.FormatFloat(v, 'g', -1, 64))
	case time.Time:
		return document.A(markTime, v.UnixMilli())
	default:
		return v
	}
}

// unmarked returns the value again.
func unmarked(value any) any {
	list, isList := value.(document.Array)
	if !isList {
		return value
	}
	var items []any
	for _, item := range list.All() {
		items = append(items, unmarked(item))
	}
	mark, items := items[0], items[1:]
	switch mark {
	case markObject:
		return document.O(items...)
	case markDouble:
		number, _ := strconv.ParseFloat(items[0].(string), 64) //nolint:forcetypeassert // marked wrote it.
		return number
	case markTime:
		return time.UnixMilli(items[0].(int64)).UTC() //nolint:forcetypeassert // marked wrote it.
	default:
		return document.A(items...)
	}
}
