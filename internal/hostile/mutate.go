package hostile

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// mutator changes calls at random.
type mutator struct {
	random *rand.Rand
	// parts are values that a place in a call may take.
	parts []any
	// known are the known calls by their operations.
	known map[string][]Call
}

func newMutator(seed uint64) *mutator {
	m := &mutator{random: rand.New(rand.NewPCG(seed, seed)), known: map[string][]Call{}} //nolint:gosec // A search is to be repeated.
	for _, call := range slices.Concat(known()...) {
		m.known[call.Operation] = append(m.known[call.Operation], call)
	}
	m.parts = expressions()
	for _, filter := range filters() {
		m.parts = append(m.parts, filter)
	}
	m.parts = append(m.parts, "$l", "$n", "$o", "$s", "$o.b", "$$ROOT", "l", "s", 0, 1, -1, 100_000, nil, true, "", strings.Repeat("ab", 500))
	return m
}

// mutated returns a call that is like another one, and not too long.
func (m *mutator) mutated(call Call) Call {
	const tries = 20
	for range tries {
		changed := call
		if m.random.IntN(3) == 0 {
			changed = m.crossed(call)
		}
		for range m.random.IntN(4) {
			value, _ := m.value(changed.Arguments, 0).(document.Object)
			changed.Arguments = value
		}
		if changed.Arguments.Len() > 0 && changed.Arguments.Size() < MostInput {
			return changed
		}
	}
	return call
}

// crossed returns a call with some of the arguments of a known one, whose filter may stand
// beside its own.
func (m *mutator) crossed(call Call) Call {
	others := m.known[call.Operation]
	if len(others) == 0 {
		return call
	}
	for key, value := range others[m.random.IntN(len(others))].Arguments.All() {
		own, has := call.Arguments.Field(key)
		switch {
		case m.random.IntN(2) == 0:
			continue
		case key == "filter" && has && m.random.IntN(2) == 0:
			value = o("$or", a(own, value))
		}
		call.Arguments = call.Arguments.With(key, value)
	}
	return call
}

// value changes one place in a value, or a few.
func (m *mutator) value(value any, depth int) any {
	switch v := value.(type) {
	case document.Object:
		return m.object(v, depth)
	case document.Array:
		return m.array(v, depth)
	default:
		return m.scalar(value)
	}
}

func (m *mutator) object(of document.Object, depth int) any {
	if of.Len() == 0 || depth > 3 && m.random.IntN(6) == 0 {
		return m.part()
	}
	if depth > 2 && m.random.IntN(8) == 0 {
		return times(1<<m.random.IntN(20), of)
	}
	keys := of.Keys()
	key := keys[m.random.IntN(len(keys))]
	if key == "dataSourceId" {
		return of
	}
	inner, _ := of.Field(key)
	return of.With(key, m.value(inner, depth+1))
}

func (m *mutator) array(of document.Array, depth int) any {
	items := slices.Collect(func(yield func(any) bool) {
		for _, item := range of.All() {
			if !yield(item) {
				return
			}
		}
	})
	if len(items) == 0 || m.random.IntN(8) == 0 {
		return a(append(items, m.part())...)
	}
	i := m.random.IntN(len(items))
	if m.random.IntN(5) == 0 {
		return a(append(items, slices.Repeat([]any{items[i]}, 1<<m.random.IntN(10))...)...)
	}
	items[i] = m.value(items[i], depth+1)
	return a(items...)
}

func (m *mutator) scalar(value any) any {
	switch v := value.(type) {
	case int64:
		return []any{v * 2, v / 2, v * 10, -v, v + 1}[m.random.IntN(5)]
	case string:
		if m.random.IntN(2) == 0 && len(v) < MostInput/4 && !strings.HasPrefix(v, "$") {
			return v + v
		}
	}
	return m.part()
}

func (m *mutator) part() any { return m.parts[m.random.IntN(len(m.parts))] }
