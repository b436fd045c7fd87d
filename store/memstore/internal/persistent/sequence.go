package persistent

import (
	"iter"
	"math/bits"
)

// The positions of a sequence are cut into groups of bits; each level of nodes
// takes one group.
const (
	levelBits = 5
	width     = 1 << levelBits
	levelMask = width - 1
)

// Sequence holds values at positions from 0 up. It is made for positions that are assigned in order. Reading
// or changing one visits a node for each factor of 32 in the highest position. The zero Sequence is empty.
type Sequence[V any] struct {
	root *sequenceNode[V]
	// shift is the number of the lowest bit in the root's group.
	shift  uint
	length int
}

// sequenceNode is a leaf, which has values, or a branch, which has children.
type sequenceNode[V any] struct {
	edit Edit
	// used has a bit for each value or child that exists.
	used     uint32
	values   *[width]V
	children *[width]*sequenceNode[V]
}

// newSequenceLeaf allocates the node and its values together.
func newSequenceLeaf[V any](edit Edit) *sequenceNode[V] {
	leaf := &struct {
		node   sequenceNode[V]
		values [width]V
	}{}
	leaf.node.edit, leaf.node.values = edit, &leaf.values
	return &leaf.node
}

// newSequenceBranch allocates the node and its children together.
func newSequenceBranch[V any](edit Edit) *sequenceNode[V] {
	branch := &struct {
		node     sequenceNode[V]
		children [width]*sequenceNode[V]
	}{}
	branch.node.edit, branch.node.children = edit, &branch.children
	return &branch.node
}

// newSequenceNode makes a leaf if shift is 0, else a branch.
func newSequenceNode[V any](edit Edit, shift uint) *sequenceNode[V] {
	if shift == 0 {
		return newSequenceLeaf[V](edit)
	}
	return newSequenceBranch[V](edit)
}

// Len returns the number of values.
func (s *Sequence[V]) Len() int { return s.length }

// Get returns the value at a position, and whether there is one.
func (s *Sequence[V]) Get(position uint64) (value V, ok bool) {
	if !s.reaches(position) {
		return value, false
	}
	n := s.root
	for shift := s.shift; shift > 0; shift -= levelBits {
		if n = n.children[position>>shift&levelMask]; n == nil {
			return value, false
		}
	}
	i := position & levelMask
	return n.values[i], n.used&(1<<i) != 0
}

func (s *Sequence[V]) reaches(position uint64) bool {
	return s.root != nil && position>>s.shift < width
}

// All returns the values with their positions, lowest first.
func (s *Sequence[V]) All() iter.Seq2[uint64, V] {
	version := *s
	return func(yield func(uint64, V) bool) {
		version.Batches(func(from uint64, values []V, used uint32) bool {
			for ; used != 0; used &= used - 1 {
				i := bits.TrailingZeros32(used)
				if !yield(from+uint64(i), values[i]) {
					return false
				}
			}
			return true
		})
	}
}

// Batch is the number of positions that Batches yields at once.
const Batch = width

// Batches returns the values in batches, lowest first. A batch has the values at Batch positions beginning with
// from. The bits of used show which positions have a value.
func (s *Sequence[V]) Batches(yield func(from uint64, values []V, used uint32) bool) {
	if s.root != nil {
		s.root.batches(0, s.shift, yield)
	}
}

func (n *sequenceNode[V]) batches(from uint64, shift uint, yield func(uint64, []V, uint32) bool) bool {
	if shift == 0 {
		return yield(from, n.values[:], n.used)
	}
	for used := n.used; used != 0; used &= used - 1 {
		i := bits.TrailingZeros32(used)
		if !n.children[i].batches(from|uint64(i)<<shift, shift-levelBits, yield) {
			return false
		}
	}
	return true
}

// Set sets the value at a position.
func (s *Sequence[V]) Set(edit Edit, position uint64, value V) {
	if s.root == nil {
		s.root, s.shift = newSequenceLeaf[V](edit), 0
	}
	for !s.reaches(position) {
		s.grow(edit)
	}
	var added bool
	s.root, added = s.root.set(edit, s.shift, position, value)
	if added {
		s.length++
	}
}

// grow adds a level above the root.
func (s *Sequence[V]) grow(edit Edit) {
	root := newSequenceBranch[V](edit)
	if s.root.used != 0 {
		root.children[0], root.used = s.root, 1
	}
	s.root, s.shift = root, s.shift+levelBits
}

// set returns the node that replaces n, and whether a value was added rather than replaced.
func (n *sequenceNode[V]) set(edit Edit, shift uint, position uint64, value V) (*sequenceNode[V], bool) {
	n = n.editable(edit)
	i := position >> shift & levelMask
	added := n.used&(1<<i) == 0
	n.used |= 1 << i
	if shift == 0 {
		n.values[i] = value
		return n, added
	}
	child := n.children[i]
	if child == nil {
		child = newSequenceNode[V](edit, shift-levelBits)
	}
	n.children[i], added = child.set(edit, shift-levelBits, position, value)
	return n, added
}

// editable returns n if the edit created it, else a copy.
func (n *sequenceNode[V]) editable(edit Edit) *sequenceNode[V] {
	if n.edit == edit {
		return n
	}
	var c *sequenceNode[V]
	if n.values != nil {
		c = newSequenceLeaf[V](edit)
		*c.values = *n.values
	} else {
		c = newSequenceBranch[V](edit)
		*c.children = *n.children
	}
	c.used = n.used
	return c
}

// Delete removes the value at a position and reports whether there was one.
func (s *Sequence[V]) Delete(edit Edit, position uint64) bool {
	if _, ok := s.Get(position); !ok {
		return false
	}
	s.length--
	if s.root = s.root.remove(edit, s.shift, position); s.root == nil {
		s.shift = 0
	}
	return true
}

// remove returns the node that replaces n, or nil if it is empty. There must be a value at the position.
func (n *sequenceNode[V]) remove(edit Edit, shift uint, position uint64) *sequenceNode[V] {
	i := position >> shift & levelMask
	var child *sequenceNode[V]
	if shift > 0 {
		child = n.children[i].remove(edit, shift-levelBits, position)
	}
	if child == nil && n.used == 1<<i {
		return nil
	}
	n = n.editable(edit)
	if shift > 0 {
		n.children[i] = child
	} else {
		var none V
		n.values[i] = none
	}
	if child == nil {
		n.used &^= 1 << i
	}
	return n
}
