package document

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
