// Package persistent holds collections of which every version stays as it is: a
// sequence by position, a tree sorted by key, and a trie by hash. Copying the struct
// takes a version, at no cost. A change afterwards copies the few nodes on the way to
// what it changes and shares all others, so that whoever holds the older version sees
// nothing of it.
package persistent

// Edit is a batch of changes to one or several collections. A node that was made
// in an edit is changed in place by the same edit, so that many changes cost
// little more than in a collection that is not persistent.
//
// An edit belongs to one goroutine. It ends when a version that it made is handed
// out: from then on nothing may be changed with it.
type Edit struct {
	// An Edit is told from others by its address, which a struct without a size
	// would not have.
	_ byte
}

// NewEdit begins an edit.
func NewEdit() *Edit { return new(Edit) }
