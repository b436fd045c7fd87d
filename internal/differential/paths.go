package differential

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// valuesAt returns what a path leads to, through all elements of arrays.
func valuesAt(value any, path []string) []any {
	if len(path) == 0 {
		return []any{value}
	}
	switch v := value.(type) {
	case document.Object:
		if inner, ok := v.Field(path[0]); ok {
			return valuesAt(inner, path[1:])
		}
	case document.Array:
		var found []any
		for i, inner := range v.All() {
			if strconv.Itoa(i) == path[0] {
				found = append(found, valuesAt(inner, path[1:])...)
			}
			if _, isObject := inner.(document.Object); isObject {
				found = append(found, valuesAt(inner, path)...)
			}
		}
		return found
	}
	return nil
}

// meets reports whether a path meets, before its end, an array of a kind, that kind
// being told the rest of the path as well. It goes through the elements of all arrays.
func meets(value any, path []string, ofKind func(array document.Array, rest []string) bool) bool {
	if len(path) == 0 {
		return false
	}
	switch v := value.(type) {
	case document.Object:
		inner, ok := v.Field(path[0])
		return ok && meets(inner, path[1:], ofKind)
	case document.Array:
		if ofKind(v, path) {
			return true
		}
		for i, inner := range v.All() {
			if meets(inner, path, ofKind) || strconv.Itoa(i) == path[0] && meets(inner, path[1:], ofKind) {
				return true
			}
		}
	}
	return false
}

// meets reports whether a path that the case reads meets an array of a kind before
// its end.
func (s shape) meets(ofKind func(array document.Array, rest []string) bool) bool {
	whole, inner := s.wholePaths(), s.innerPaths()
	return s.stored(func(value any) bool {
		return slices.ContainsFunc(inner, func(path string) bool { return meets(value, strings.Split(path, "."), ofKind) })
	}) || slices.ContainsFunc(s.c.Docs, func(o document.Object) bool {
		return slices.ContainsFunc(whole, func(path string) bool { return meets(o, strings.Split(path, "."), ofKind) })
	})
}

// wholePaths returns the paths that the case reads from the documents themselves.
func (s shape) wholePaths() []string {
	paths := append(queryPaths(s.c.Filter), s.sortPaths()...)
	if key, ok := s.c.Key.(string); ok {
		paths = append(paths, key)
	}
	return paths
}

// innerPaths returns the paths that the case reads from elements of arrays: those
// of $elemMatch and $pull, and of array filters.
func (s shape) innerPaths() []string {
	paths := pathsIn(document.A(append(operands(s.source, "$elemMatch"), operands(s.c.Update, "$pull")...)...))
	for _, path := range pathsIn(s.c.ArrayFilters) {
		if _, rest, dotted := strings.Cut(path, "."); dotted {
			paths = append(paths, rest)
		}
	}
	return paths
}

// queryPaths returns the paths of a query on which it has conditions.
func queryPaths(query any) []string {
	var paths []string
	fields, _ := query.(document.Object)
	for key, operand := range fields.All() {
		if key != "" && key[0] != '$' {
			paths = append(paths, key)
			continue
		}
		clauses, _ := operand.(document.Array)
		for _, clause := range clauses.All() {
			paths = append(paths, queryPaths(clause)...)
		}
	}
	return paths
}

// holdsObject reports whether an element of an array is an object.
func holdsObject(a document.Array, _ []string) bool {
	for _, item := range a.All() {
		if _, ok := item.(document.Object); ok {
			return true
		}
	}
	return false
}

// isAskedByNumber reports whether the next part of a path is a number that an array
// does not take for the index of one of its elements alone: it holds objects, for
// which it is a name, or has no such element.
func isAskedByNumber(a document.Array, rest []string) bool {
	index, err := strconv.Atoi(rest[0])
	return err == nil && (index >= a.Len() || len(rest) > 1 || holdsObject(a, rest))
}

// hasArrayOrNothing reports whether a path leads, in an element of an array that is
// an object, to an array or to nothing.
func hasArrayOrNothing(a document.Array, rest []string) bool {
	for _, item := range a.All() {
		if _, ok := item.(document.Object); ok {
			values := valuesAt(item, rest)
			if len(values) == 0 || slices.ContainsFunc(values, isArray) {
				return true
			}
		}
	}
	return false
}

// updatePaths returns the paths that an update changes.
func (s shape) updatePaths() []string {
	var paths []string
	for operator, operand := range s.update().All() {
		fields, _ := operand.(document.Object)
		for path, argument := range fields.All() {
			paths = append(paths, path)
			if target, ok := argument.(string); ok && operator == "$rename" {
				paths = append(paths, target)
			}
		}
	}
	return paths
}
