package query

import "github.com/botctx/go-sdk/document"

// valueSet finds out whether values are equal to one of a list, in time that does not
// grow with the list where that is long. It is safe for concurrent use while no value
// is added.
type valueSet struct {
	few []any
	// keys, where it is not nil, has the keys of all values.
	keys map[string]struct{}
}

// fewValues is the number of values that are compared one by one.
const fewValues = 16

func newValueSet(values []any, expected int) *valueSet {
	s := &valueSet{few: values}
	if len(values)+expected > fewValues {
		s.keys = make(map[string]struct{}, len(values)+expected)
		for _, value := range values {
			s.keys[string(document.AppendKey(nil, value))] = struct{}{}
		}
	}
	return s
}

// work is that of looking for a value, or adding it.
func (s *valueSet) work(value any) int {
	if s.keys != nil {
		return keyWork + readingWork(value)
	}
	work := 0
	for _, other := range s.few {
		work += stepWork + comparisonWork(value, other)
	}
	return work
}

// has reports whether the set has a value that is equal.
func (s *valueSet) has(value any) bool {
	if s.keys == nil {
		return containsEqual(s.few, value)
	}
	_, ok := s.keys[string(document.AppendKey(nil, value))]
	return ok
}

// add adds a value, unless the set has one that is equal, and reports whether it did.
func (s *valueSet) add(value any) bool {
	if s.keys == nil {
		if containsEqual(s.few, value) {
			return false
		}
		s.few = append(s.few, value)
		return true
	}
	key := string(document.AppendKey(nil, value))
	if _, ok := s.keys[key]; ok {
		return false
	}
	s.keys[key] = struct{}{}
	return true
}
