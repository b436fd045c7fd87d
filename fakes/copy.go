package fakes

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/botctx/go-sdk/utility"
)

// copyOf returns a deep copy of params or a result. It copies pointers, slices, maps and the exported fields
// of structs. It shares unexported fields, such as in a document.Object, which never change, and errors
// and payment clients. A value that refers to itself is copied with the same shape.
func copyOf(v any) any {
	if v == nil {
		return nil
	}
	return copier{}.copied(reflect.ValueOf(v)).Interface()
}

// cloneOf returns a deep copy of a value, by the rules of copyOf, with the value's own type.
func cloneOf[T any](v T) (made T) {
	reflect.ValueOf(&made).Elem().Set(copier{}.copied(reflect.ValueOf(&v).Elem()))
	return made
}

// copier maps the pointers, slices and maps copied so far to their copies.
type copier map[reference]reflect.Value

// reference is the target of a pointer, a slice or a map.
type reference struct {
	kind   reflect.Type
	at     uintptr
	length int
}

func (c copier) copied(v reflect.Value) reflect.Value {
	switch plan := planOf(v.Type()); {
	case plan.isShared:
		return v
	case v.Kind() == reflect.Struct:
		return c.copiedStruct(v, plan.fields)
	case v.IsNil():
		return v
	default:
		return c.copiedReference(v)
	}
}

// copyPlan describes how values of a type are copied.
type copyPlan struct {
	// isShared is true if values need no copy, because they refer to nothing that can change or are not data.
	isShared bool
	// fields are the exported fields of a struct that are not shared.
	fields []int
}

// plans caches the copyPlans of types. Its size is bounded by the number of types in the program.
var plans sync.Map

func planOf(t reflect.Type) *copyPlan {
	if known, ok := plans.Load(t); ok {
		return known.(*copyPlan) //nolint:forcetypeassert // The map holds nothing else.
	}
	made := newCopyPlan(t)
	plans.Store(t, made)
	return made
}

func newCopyPlan(t reflect.Type) *copyPlan {
	switch t.Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Slice, reflect.Map:
		return &copyPlan{isShared: isNoData(t)}
	case reflect.Struct:
		plan := &copyPlan{}
		for i := range t.NumField() {
			if field := t.Field(i); field.IsExported() && !planOf(field.Type).isShared {
				plan.fields = append(plan.fields, i)
			}
		}
		plan.isShared = len(plan.fields) == 0 || isNoData(t)
		return plan
	default:
		return &copyPlan{isShared: true}
	}
}

// isNoData reports whether values of a type are errors or payment clients. They are shared, because they are not
// data.
func isNoData(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[error]()) || t.Implements(reflect.TypeFor[utility.PaymentClient]())
}

// copiedReference copies a value that refers to another one and is not nil.
func (c copier) copiedReference(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		made := reflect.New(v.Type()).Elem()
		made.Set(c.copied(v.Elem()))
		return made
	case reflect.Pointer:
		return c.once(v, 0, reflect.New(v.Type().Elem()), func(made reflect.Value) {
			made.Elem().Set(c.copied(v.Elem()))
		})
	case reflect.Slice:
		return c.once(v, v.Len(), reflect.MakeSlice(v.Type(), v.Len(), v.Len()), func(made reflect.Value) {
			for i := range v.Len() {
				made.Index(i).Set(c.copied(v.Index(i)))
			}
		})
	default:
		return c.once(v, 0, reflect.MakeMapWithSize(v.Type(), v.Len()), func(made reflect.Value) {
			for entries := v.MapRange(); entries.Next(); {
				made.SetMapIndex(entries.Key(), c.copied(entries.Value()))
			}
		})
	}
}

// once copies the target of v with fill, or returns the copy made before.
func (c copier) once(v reflect.Value, length int, made reflect.Value, fill func(made reflect.Value)) reflect.Value {
	of := reference{kind: v.Type(), at: v.Pointer(), length: length}
	if before, ok := c[of]; ok {
		return before
	}
	c[of] = made
	fill(made)
	return made
}

// copiedStruct copies a struct. It copies the given fields deeply and shares the others.
func (c copier) copiedStruct(v reflect.Value, fields []int) reflect.Value {
	made := reflect.New(v.Type()).Elem()
	made.Set(v)
	for _, i := range fields {
		made.Field(i).Set(c.copied(v.Field(i)))
	}
	return made
}

// put sets an entry. It makes the map if it is nil: maps of services' state start as nil, because most platforms
// use few services.
func put[M ~map[K]V, K comparable, V any](kept *M, key K, value V) {
	if *kept == nil {
		*kept = M{}
	}
	(*kept)[key] = value
}

// copyOfMap returns a copy of a map, or nil if it is empty.
func copyOfMap[K comparable, V any](m map[K]V) map[K]V {
	if len(m) == 0 {
		return nil
	}
	return maps.Clone(m)
}

// copyOfLists returns a copy of a map of lists, or nil if it is empty.
func copyOfLists[K comparable, V any](m map[K][]V) map[K][]V {
	lists := copyOfMap(m)
	for key, list := range lists {
		lists[key] = slices.Clone(list)
	}
	return lists
}

// guarded is a part of a platform's state, which snapshots contain, and its mutex.
type guarded[T interface{ clone() T }] struct {
	mu   sync.Mutex
	kept T
}

// state returns a copy of the state.
func (g *guarded[T]) state() T {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.kept.clone()
}

func (g *guarded[T]) set(state T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.kept = state
}

// table is a map that is a part of a platform's state. It is nil while empty.
type table[K comparable, V any] map[K]V

func (t table[K, V]) clone() table[K, V] { return copyOfMap(t) }

// counter makes short ids: a prefix with a number that counts from 1.
type counter struct{ guarded[table[string, int]] }

// next returns the next id of a prefix: "member-1", "member-2".
func (c *counter) next(prefix string) string { return prefix + "-" + strconv.Itoa(c.count(prefix)) }

// formed formats the next number with a form such as "C%06d".
func (c *counter) formed(form string) string { return fmt.Sprintf(form, c.count(form)) }

func (c *counter) count(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	put(&c.kept, name, c.kept[name]+1)
	return c.kept[name]
}

// derived returns the id for a prefix and a text: the prefix's next id on first use, and the same id for the
// same text afterwards.
func (c *counter) derived(prefix, of string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := prefix + " of " + of
	if c.kept[name] == 0 {
		put(&c.kept, prefix, c.kept[prefix]+1)
		c.kept[name] = c.kept[prefix]
	}
	return prefix + "-" + strconv.Itoa(c.kept[name])
}
