package persistent

import (
	"math/bits"
	"slices"
)

// Trie is a map whose keys are hashes. The bits of a key choose the way to it, so that
// nothing is compared before its end, and keys that are as good as random keep all
// ways short. The zero Trie is empty.
type Trie[V any] struct {
	root   *trieNode[V]
	length int
}

// trieNode has a slot for each of the groups of bits that occur below it.
type trieNode[V any] struct {
	edit *Edit
	// used tells which slots there are. They are in the order of their bits.
	used  uint32
	slots []trieSlot[V]
}

// trieSlot holds a key, or a child with the keys whose bits are the same up to here.
type trieSlot[V any] struct {
	key   uint64
	value V
	child *trieNode[V]
}

// Len returns the number of keys.
func (t *Trie[V]) Len() int { return t.length }

// Get returns the value of a key, and whether there is one.
func (t *Trie[V]) Get(key uint64) (value V, ok bool) {
	for n, rest := t.root, key; n != nil; rest >>= levelBits {
		bit := uint32(1) << (rest & levelMask)
		if n.used&bit == 0 {
			return value, false
		}
		s := &n.slots[n.place(bit)]
		if s.child == nil {
			if s.key != key {
				return value, false
			}
			return s.value, true
		}
		n = s.child
	}
	return value, false
}

// place returns the place of the slot of a bit.
func (n *trieNode[V]) place(bit uint32) int { return bits.OnesCount32(n.used & (bit - 1)) }

// Set sets the value of a key.
func (t *Trie[V]) Set(edit *Edit, key uint64, value V) {
	if t.root == nil {
		t.root = &trieNode[V]{edit: edit}
	}
	var added bool
	if t.root, added = t.root.set(edit, 0, trieSlot[V]{key: key, value: value}); added {
		t.length++
	}
}

// set returns the node that takes the place of n, and whether a key was added rather
// than replaced. shift is the number of bits that led to n.
func (n *trieNode[V]) set(edit *Edit, shift uint, slot trieSlot[V]) (_ *trieNode[V], added bool) {
	n = n.editable(edit)
	bit := uint32(1) << (slot.key >> shift & levelMask)
	place := n.place(bit)
	if n.used&bit == 0 {
		n.used |= bit
		n.slots = slices.Insert(n.slots, place, slot)
		return n, true
	}
	there := &n.slots[place]
	if there.child == nil {
		if there.key == slot.key {
			there.value = slot.value
			return n, false
		}
		child, _ := (&trieNode[V]{edit: edit}).set(edit, shift+levelBits, *there)
		*there = trieSlot[V]{child: child}
	}
	there.child, added = there.child.set(edit, shift+levelBits, slot)
	return n, added
}

// editable returns n where the edit made it, else a copy.
func (n *trieNode[V]) editable(edit *Edit) *trieNode[V] {
	if n.edit == edit {
		return n
	}
	return &trieNode[V]{edit: edit, used: n.used, slots: slices.Clone(n.slots)}
}

// Delete removes a key and reports whether it was there.
func (t *Trie[V]) Delete(edit *Edit, key uint64) bool {
	if _, ok := t.Get(key); !ok {
		return false
	}
	t.length--
	if t.root = t.root.remove(edit, 0, key); len(t.root.slots) == 0 {
		t.root = nil
	}
	return true
}

// remove returns the node that takes the place of n without the key, which is there.
func (n *trieNode[V]) remove(edit *Edit, shift uint, key uint64) *trieNode[V] {
	n = n.editable(edit)
	bit := uint32(1) << (key >> shift & levelMask)
	place := n.place(bit)
	there := &n.slots[place]
	if there.child == nil {
		n.used &^= bit
		n.slots = slices.Delete(n.slots, place, place+1)
		return n
	}
	there.child = there.child.remove(edit, shift+levelBits, key)
	if rest := there.child.slots; len(rest) == 1 && rest[0].child == nil {
		*there = rest[0] // One key needs no node of its own.
	}
	return n
}
