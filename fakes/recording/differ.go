package recording

import (
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// absent stands for a value that is not there.
type absent struct{}

// pair is what stands at one path of two values.
type pair struct {
	path      string
	want, got any
}

// likeness reports whether two values at a path are alike that are neither both objects nor both arrays.
type likeness func(path string, want, got any) bool

// areEqual is the likeness of values that are the same.
func areEqual(_ string, want, got any) bool { return document.Equal(want, got) }

// differences returns where two values of documents differ. The order of fields is none, and what was
// redacted is like anything.
func (alike likeness) differences(path string, want, got any) []pair {
	switch want := want.(type) {
	case absent:
		return []pair{{path, want, got}}
	case document.Object:
		if got, isObject := got.(document.Object); isObject {
			return alike.ofObjects(path, want, got)
		}
	case document.Array:
		if got, isArray := got.(document.Array); isArray {
			return alike.ofArrays(path, want, got)
		}
	}
	if _, isAbsent := got.(absent); !isAbsent && (isRedacted(want) || alike(path, want, got)) {
		return nil
	}
	return []pair{{path, want, got}}
}

// isRedacted reports whether a recorded value had a credential.
func isRedacted(want any) bool {
	text, isText := want.(string)
	return isText && strings.Contains(text, redacted)
}

func (alike likeness) ofObjects(path string, want, got document.Object) (all []pair) {
	for name, value := range want.All() {
		other, has := got.Field(name)
		if !has {
			other = absent{}
		}
		all = append(all, alike.differences(join(path, name), value, other)...)
	}
	for name, value := range got.All() {
		if !want.Has(name) {
			all = append(all, pair{join(path, name), absent{}, value})
		}
	}
	return all
}

func (alike likeness) ofArrays(path string, want, got document.Array) (all []pair) {
	for i := range max(want.Len(), got.Len()) {
		all = append(all, alike.differences(fmt.Sprintf("%s[%d]", path, i), itemOf(want, i), itemOf(got, i))...)
	}
	return all
}

func itemOf(array document.Array, i int) any {
	if i >= array.Len() {
		return absent{}
	}
	return array.At(i)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// longest is how many bytes of a value are shown.
const longest = 200

// text returns a value for a reader.
func text(value any) string {
	if _, isAbsent := value.(absent); isAbsent {
		return "nothing"
	}
	encoded, err := document.EncodeJSON(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if len(encoded) > longest {
		return strings.ToValidUTF8(string(encoded[:longest]), "") + "…"
	}
	return string(encoded)
}
