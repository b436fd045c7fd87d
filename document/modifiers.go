package document

// The builders of the update documents that are needed most. Each takes what O
// takes; several operators together are written with O:
//
//	document.O("$set", document.O("done", true), "$inc", document.O("tries", 1))

// Set returns the update that sets fields: Set("taken", true, "by", id).
func Set(pairs ...any) Object { return O("$set", O(pairs...)) }

// Inc returns the update that adds to numbers: Inc("visits", 1).
func Inc(pairs ...any) Object { return O("$inc", O(pairs...)) }

// Push returns the update that appends to arrays: Push("log", entry).
func Push(pairs ...any) Object { return O("$push", O(pairs...)) }

// Pull returns the update that removes the elements of arrays that equal a value or
// match a query: Pull("tags", "old").
func Pull(pairs ...any) Object { return O("$pull", O(pairs...)) }

// AddToSet returns the update that appends to arrays what they do not hold yet.
func AddToSet(pairs ...any) Object { return O("$addToSet", O(pairs...)) }

// Unset returns the update that removes the fields at dotted paths.
func Unset(paths ...string) Object {
	b := NewBuilder(len(paths))
	for _, path := range paths {
		b.Set(path, "")
	}
	return O("$unset", b.Object())
}
