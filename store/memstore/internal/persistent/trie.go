package persistent

import (
	"math/bits"
	"slices"
)

// Trie is a map whose keys are hashes. The bits of a key choose its path, so that keys are compared only at
// the end. Random keys keep all paths short. The zero Trie is empty.
type Trie[V any] struct {
	root   *trieNode[V]
	length int
}

// trieNode has, for each group of bits that occurs below it, an entry or a child with the entries that share
// the bits so far. Both are in the order of their bits. They are separate, so that a node with only children,
// as most nodes on a path are, is cheap to copy.
type trieNode[V any] struct {
	edit Edit
	// ends has a bit for each entry. branches has a bit for each child.
	ends, branches uint32
	entries        []trieEntry[V]
	children       []*trieNode[V]
}

type trieEntry[V any] struct {
	key   uint64
	value V
}

// Len returns the number of keys.
func (t *Trie[V]) Len() int { return t.length }

// Get returns the value of a key, and whether there is one.
func (t *Trie[V]) Get(key uint64) (value V, ok bool) {
	n := t.root
	if n == nil {
		return value, false
	}
	rest := key
	for n.branches&bitOf(rest) != 0 {
		n = n.children[placeOf(n.branches, bitOf(rest))]
		rest >>= levelBits
	}
	if n.ends&bitOf(rest) == 0 {
		return value, false
	}
	if e := &n.entries[placeOf(n.ends, bitOf(rest))]; e.key == key {
		return e.value, true
	}
	return value, false
}

// bitOf returns the bit for the lowest group of bits.
func bitOf(rest uint64) uint32 { return 1 << (rest & levelMask) }

// placeOf returns the index of a bit's item among the items of the bits in used.
func placeOf(used, bit uint32) int { return bits.OnesCount32(used & (bit - 1)) }

// Set sets the value of a key.
func (t *Trie[V]) Set(edit Edit, key uint64, value V) {
	if t.root == nil {
		t.root = &trieNode[V]{edit: edit}
	}
	var added bool
	if t.root, added = t.root.set(edit, 0, trieEntry[V]{key: key, value: value}); added {
		t.length++
	}
}

// set returns the node that replaces n, and whether a key was added rather than replaced. shift is the number
// of bits that led to n.
func (n *trieNode[V]) set(edit Edit, shift uint, e trieEntry[V]) (_ *trieNode[V], added bool) {
	bit := bitOf(e.key >> shift)
	if n.branches&bit != 0 {
		n = n.editable(edit, 0)
		child := &n.children[placeOf(n.branches, bit)]
		*child, added = (*child).set(edit, shift+levelBits, e)
		return n, added
	}
	if n.ends&bit == 0 {
		n = n.editable(edit, 1)
		n.insert(bit, e)
		return n, true
	}
	n = n.editable(edit, 0)
	there := &n.entries[placeOf(n.ends, bit)]
	if there.key == e.key {
		there.value = e.value
		return n, false
	}
	child, _ := (&trieNode[V]{edit: edit}).set(edit, shift+levelBits, *there)
	child, _ = child.set(edit, shift+levelBits, e)
	n.take(bit)
	n.children = slices.Insert(n.children, placeOf(n.branches, bit), child)
	n.branches |= bit
	return n, true
}

// insert adds an entry to a node that belongs to the edit.
func (n *trieNode[V]) insert(bit uint32, e trieEntry[V]) {
	n.entries = slices.Insert(n.entries, placeOf(n.ends, bit), e)
	n.ends |= bit
}

// take removes an entry from a node that belongs to the edit.
func (n *trieNode[V]) take(bit uint32) {
	place := placeOf(n.ends, bit)
	n.entries = slices.Delete(n.entries, place, place+1)
	n.ends &^= bit
}

// editable returns n if the edit created it, else a copy with room for more entries.
func (n *trieNode[V]) editable(edit Edit, more int) *trieNode[V] {
	if n.edit == edit {
		return n
	}
	c := &trieNode[V]{edit: edit, ends: n.ends, branches: n.branches, children: slices.Clone(n.children)}
	if room := len(n.entries) + more; room > 0 {
		c.entries = append(make([]trieEntry[V], 0, room), n.entries...)
	}
	return c
}

// Delete removes a key and reports whether it was present.
func (t *Trie[V]) Delete(edit Edit, key uint64) bool {
	if _, ok := t.Get(key); !ok {
		return false
	}
	t.length--
	if t.root = t.root.remove(edit, 0, key); t.length == 0 {
		t.root = nil
	}
	return true
}

// remove returns the node that replaces n, without the key, which must be present.
func (n *trieNode[V]) remove(edit Edit, shift uint, key uint64) *trieNode[V] {
	bit := bitOf(key >> shift)
	if n.branches&bit == 0 {
		n = n.editable(edit, 0)
		n.take(bit)
		return n
	}
	n = n.editable(edit, 1)
	place := placeOf(n.branches, bit)
	rest := n.children[place].remove(edit, shift+levelBits, key)
	n.children[place] = rest
	if len(rest.entries) == 1 && rest.branches == 0 { // One key needs no separate node.
		n.children = slices.Delete(n.children, place, place+1)
		n.branches &^= bit
		n.insert(bit, rest.entries[0])
	}
	return n
}
