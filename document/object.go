package document

import (
	"iter"
	"slices"

	"github.com/botctx/go-sdk/boterr"
)

// MaxDepth is the number of levels of nested objects and arrays that a stored document may have, as in
// MongoDB.
const MaxDepth = 180

// MaxNesting is the number of nested levels that any value may have, and of parts that a path may have, as in
// MongoDB. It is greater than MaxDepth because values that contain a document, such as a result or an update,
// are deeper than the document.
const MaxNesting = 200

// MaxSize is the maximum size of a document in bytes, as Object.Size counts them. It is the same as
// MongoDB's.
const MaxSize = 16 << 20

// Object is an object whose fields keep their order, which equality, sorting and JSON depend on. It is a
// value: assigning it copies it, at no cost.
//
// The zero Object has no fields and counts as absent: IsZero reports true, JSON shows null, and omitzero
// leaves it out. O() returns an object that is empty but present. Set works on both.
//
// Making an object never fails. An object made of something that is not a value (a channel, a function, an
// odd number of arguments) carries an error: Err returns it, and every operation refuses such an object with
// InvalidArgument.
type Object struct{ node *objectNode }

// O returns an object of key and value pairs in the order given:
//
//	document.O("taken", false, "size", document.O("$gt", 3))
//
// Keys are taken literally: a dot in a key is not a separator. A duplicate key keeps its first place and its
// last value. ValueOf converts the values.
func O(pairs ...any) Object {
	if len(pairs) == 0 {
		return Object{emptyNode}
	}
	b := NewBuilder(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		key, ok := pairs[i].(string)
		switch {
		case !ok:
			b.fail(boterr.Invalid("", "argument %d of document.O is a key and must be a string, got %T", i+1, pairs[i]))
		case i+1 == len(pairs):
			b.fail(boterr.Invalid(key, "document.O takes pairs, and this key has no value"))
		default:
			b.setAny(validText(key), pairs[i+1])
		}
	}
	return b.Object()
}

// Len returns the number of fields.
func (o Object) Len() int {
	if o.node == nil {
		return 0
	}
	return len(o.node.shape.names)
}

// IsZero reports whether o is the zero Object, which counts as absent.
func (o Object) IsZero() bool { return o.node == nil }

// Err returns the error that o carries, or nil. Its Field is the path of the invalid part.
func (o Object) Err() error {
	if o.node == nil {
		return nil
	}
	return o.node.err()
}

// All returns the fields in order.
func (o Object) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if o.node == nil {
			return
		}
		for i, key := range o.node.shape.names {
			if !yield(key, o.node.at(i)) {
				return
			}
		}
	}
}

// Keys returns the names of the fields in order.
func (o Object) Keys() []string {
	if o.node == nil {
		return []string{}
	}
	return slices.Clone(o.node.shape.names)
}

// Field returns the value of the field with exactly this name, and reports whether there is one.
func (o Object) Field(key string) (any, bool) {
	if o.node == nil {
		return nil, false
	}
	if i := o.node.shape.Position(key); i >= 0 {
		return o.node.at(i), true
	}
	return nil, false
}

// Value returns the value of the field with exactly this name, or Missing.
func (o Object) Value(key string) any {
	if value, ok := o.Field(key); ok {
		return value
	}
	return Missing
}

// NameAt returns the name of field i, counted from 0. It panics if there is none.
func (o Object) NameAt(i int) string { return o.node.shape.names[i] }

// At returns the value of field i. It panics if there is none.
func (o Object) At(i int) any { return o.node.at(i) }

// Values returns the values of the fields in order. They must not be changed.
func (o Object) Values() []any {
	if o.node == nil {
		return nil
	}
	return o.node.allValues()
}

// Depth returns the number of nested levels in o, including o itself.
func (o Object) Depth() int {
	if o.node == nil {
		return 1
	}
	return int(o.node.depth)
}

// Shape returns the list of o's names. Objects may share a Shape.
func (o Object) Shape() *Shape {
	if o.node == nil {
		return emptyShape
	}
	return o.node.shape
}

// With returns o with the field of exactly this name set. An existing field keeps its place; a new one is
// appended.
func (o Object) With(key string, v any) Object {
	value, err := ValueOf(v)
	if err != nil {
		return o.failed(boterr.PrefixField(key, err))
	}
	return o.Put(validText(key), value)
}

// Put is like With, for a value that needs no conversion. Missing removes the field, as Without does.
func (o Object) Put(key string, value any) Object {
	if value == Missing {
		return o.Without(key)
	}
	if o.node == nil {
		return singleField(key, value)
	}
	var next *objectNode
	if at := o.node.shape.Position(key); at >= 0 {
		next = o.node.withValue(at, value)
	} else {
		next = newObjectNode(len(o.node.shape.names) + 1)
		next.values = append(o.node.appendValues(next.values), value)
		next.fail(o.node.err())
		next.complete(o.node.shape.withKey(key))
		next.refuseNUL(key)
	}
	next.checkDepth()
	return Object{next}
}

func singleField(key string, value any) Object {
	node := newObjectNode(1)
	node.values = append(node.values, value)
	node.complete(emptyShape.withKey(key))
	node.refuseNUL(key)
	node.checkDepth()
	return Object{node}
}

// Without returns o without the field of exactly this name.
func (o Object) Without(key string) Object {
	if o.node == nil {
		return o
	}
	at := o.node.shape.Position(key)
	if at < 0 {
		return o
	}
	next, values := newObjectNode(len(o.node.shape.names)-1), o.node.allValues()
	next.values = append(append(next.values, values[:at]...), values[at+1:]...)
	next.fail(o.node.err())
	next.complete(o.node.shape.without(at))
	return Object{next}
}

// String returns o as JSON, for logs and failure messages.
func (o Object) String() string { return wholeText(o) }

// GoString returns the type and String, so that test failures are readable.
func (o Object) GoString() string { return "document.Object" + o.String() }

// failed returns o carrying err, unless it already carries an error.
func (o Object) failed(err error) Object {
	node := &objectNode{shape: emptyShape, depth: 1, size: emptySize}
	if o.node != nil {
		*node = *o.node
	}
	node.fail(err)
	return Object{node}
}

// Builders of the most common update documents. Each takes pairs as O does. To combine several operators, use
// O:
//
//	document.O("$set", document.O("done", true), "$inc", document.O("tries", 1))

// The shapes of updates with one operator.
var (
	setShape      = NewShape([]string{"$set"})
	incShape      = NewShape([]string{"$inc"})
	pushShape     = NewShape([]string{"$push"})
	pullShape     = NewShape([]string{"$pull"})
	addToSetShape = NewShape([]string{"$addToSet"})
	unsetShape    = NewShape([]string{"$unset"})
)

func (s *Shape) of(value any) Object { return s.Object(func(int) any { return value }) }

// Set returns an update that sets fields: Set("taken", true, "by", id).
func Set(pairs ...any) Object { return setShape.of(O(pairs...)) }

// Inc returns the update that adds to numbers: Inc("visits", 1).
func Inc(pairs ...any) Object { return incShape.of(O(pairs...)) }

// Push returns the update that appends to arrays: Push("log", entry).
func Push(pairs ...any) Object { return pushShape.of(O(pairs...)) }

// Pull returns the update that removes the elements of arrays that equal a value or
// match a query: Pull("tags", "old").
func Pull(pairs ...any) Object { return pullShape.of(O(pairs...)) }

// AddToSet returns an update that appends values to arrays that do not contain them.
func AddToSet(pairs ...any) Object { return addToSetShape.of(O(pairs...)) }

// Unset returns the update that removes the fields at dotted paths.
func Unset(paths ...string) Object {
	b := NewBuilder(len(paths))
	for _, path := range paths {
		b.Set(validText(path), "")
	}
	return unsetShape.of(b.Object())
}
