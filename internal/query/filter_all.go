package query

import "github.com/botctx/go-sdk/document"

// everyValue is $all with so many values that looking for each of them by itself would
// take too long: they are looked for together.
type everyValue struct {
	// keys are the keys of the values.
	keys map[string]struct{}
}

func newEveryValue(values []any) *everyValue {
	e := &everyValue{keys: make(map[string]struct{}, len(values))}
	for _, value := range values {
		e.keys[string(document.AppendKey(nil, value))] = struct{}{}
	}
	return e
}

// test is the condition on one array element, which can be no two values.
func (c *everyValue) test(value any, e *Evaluation) bool {
	if value == document.Missing {
		value = nil
	}
	if !e.reading(value) {
		return false
	}
	_, ok := c.keys[string(document.AppendKey(nil, value))]
	return ok && len(c.keys) == 1
}

// everyValueMatcher is everyValue on the values at a path.
type everyValueMatcher struct {
	path   *fieldPath
	values *everyValue
}

func (m *everyValueMatcher) match(root any, e *Evaluation) bool {
	found := foundValues{keys: m.values.keys, seen: map[string]struct{}{}}
	return m.path.walk(root, leafExpanded, &found, e)
}

// foundValues counts which of the values were seen.
type foundValues struct {
	keys, seen map[string]struct{}
	buffer     []byte
}

// test stops the walk once all were seen.
func (f *foundValues) test(value any, e *Evaluation) bool {
	if value == document.Missing {
		value = nil
	}
	if !e.reading(value) {
		return false
	}
	f.buffer = document.AppendKey(f.buffer[:0], value)
	if _, ok := f.keys[string(f.buffer)]; ok {
		if _, again := f.seen[string(f.buffer)]; !again {
			f.seen[string(f.buffer)] = struct{}{}
		}
	}
	return len(f.seen) == len(f.keys)
}
