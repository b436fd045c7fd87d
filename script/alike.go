package script

import "github.com/botctx/go-sdk/document"

// alike returns a value of a script with the numbers of one that it was made of: 5 and 5.0 are the same to a script.
func alike(now, before any) any {
	switch v := now.(type) {
	case document.Object:
		old, isObject := before.(document.Object)
		if !isObject || document.Identical(now, before) {
			return now
		}
		built := document.NewBuilder(v.Len())
		for name, value := range v.All() {
			built.Set(name, alike(value, old.Value(name)))
		}
		return built.Object()
	case document.Array:
		old, isArray := before.(document.Array)
		if !isArray || document.Identical(now, before) {
			return now
		}
		items := make([]any, 0, v.Len())
		for i, item := range v.All() {
			if i < old.Len() {
				item = alike(item, old.At(i))
			}
			items = append(items, item)
		}
		return document.ArrayOf(items)
	case int64:
		if old, isFloat := before.(float64); isFloat && old == float64(v) && v <= document.MaxExact && v >= -document.MaxExact {
			return old
		}
	}
	return now
}
