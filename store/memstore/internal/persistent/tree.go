// Package persistent holds collections whose versions never change: a sequence by position, a tree sorted by
// key, and a trie by hash. Copying the struct keeps a version, at no cost. A later change copies the few
// nodes on its path and shares all others, so that the older version does not change.
package persistent

import (
	"iter"
	"slices"
)

// Key is the type of a Tree's keys: types with a total order, which excludes floats because of NaN.
type Key interface{ string | uint64 }

// Tree is a map sorted by its keys: a B+ tree. The zero Tree is empty.
type Tree[K Key, V any] struct {
	root   *treeNode[K, V]
	length int
}

// Len returns the number of keys.
func (t *Tree[K, V]) Len() int { return t.length }

// Get returns the value of a key, and whether there is one.
func (t *Tree[K, V]) Get(key K) (value V, ok bool) {
	n := t.root
	if n == nil {
		return value, false
	}
	for n.isBranch() {
		n = n.children[n.childFor(key)]
	}
	i, found := n.find(key)
	if !found {
		return value, false
	}
	return n.values[i], true
}

// Set sets the value of a key.
func (t *Tree[K, V]) Set(edit Edit, key K, value V) {
	if t.root == nil {
		t.root = newTreeLeaf[K, V](edit, 1)
	}
	left, right, added := t.root.set(edit, key, value)
	t.root = left
	if right != nil {
		root := newTreeBranch[K, V](edit, fewItems)
		root.insertItem(0, left.asChild())
		root.insertItem(1, right.asChild())
		t.root = root
	}
	if added {
		t.length++
	}
}

// Delete removes a key and reports whether it was present.
func (t *Tree[K, V]) Delete(edit Edit, key K) bool {
	if _, ok := t.Get(key); !ok {
		return false
	}
	t.length--
	t.root = t.root.remove(edit, key)
	for t.root.isBranch() && len(t.root.keys) == 1 {
		t.root = t.root.children[0]
	}
	if len(t.root.keys) == 0 {
		t.root = nil
	}
	return true
}

// All returns the keys with their values in ascending order.
func (t *Tree[K, V]) All() iter.Seq2[K, V] {
	root := t.root
	return func(yield func(K, V) bool) {
		if root != nil {
			root.ascendAt(0, yield)
		}
	}
}

// From returns the keys that are not below a key, in ascending order.
func (t *Tree[K, V]) From(key K) iter.Seq2[K, V] {
	root := t.root
	return func(yield func(K, V) bool) {
		if root != nil {
			root.ascendFrom(key, yield)
		}
	}
}

// Before returns the keys below a key, in descending order.
func (t *Tree[K, V]) Before(key K) iter.Seq2[K, V] {
	root := t.root
	return func(yield func(K, V) bool) {
		if root != nil {
			root.descendBefore(key, yield)
		}
	}
}

// A node of a tree has at most maxItems items and, unless it is the root, at least
// minItems.
const (
	maxItems = 32
	minItems = maxItems / 4
)

// treeNode is a leaf, which has values, or a branch, which has children. The keys of a branch are lower
// bounds: the keys below child i are in [keys[i], keys[i+1]).
type treeNode[K Key, V any] struct {
	edit     Edit
	keys     []K
	values   []V
	children []*treeNode[K, V]
}

// treeItem is a key of a leaf with its value, or of a branch with its child.
type treeItem[K Key, V any] struct {
	key   K
	value V
	child *treeNode[K, V]
}

// fewItems is the number of items up to which a node has a small allocation. That saves memory in small
// trees: most keys of an index have few documents, and some indexes have few keys.
const fewItems = 4

// newTreeLeaf allocates the node together with room for its items.
func newTreeLeaf[K Key, V any](edit Edit, room int) *treeNode[K, V] {
	if room <= fewItems {
		leaf := &struct {
			node   treeNode[K, V]
			keys   [fewItems]K
			values [fewItems]V
		}{}
		leaf.node = treeNode[K, V]{edit: edit, keys: leaf.keys[:0], values: leaf.values[:0]}
		return &leaf.node
	}
	leaf := &struct {
		node   treeNode[K, V]
		keys   [maxItems]K
		values [maxItems]V
	}{}
	leaf.node = treeNode[K, V]{edit: edit, keys: leaf.keys[:0], values: leaf.values[:0]}
	return &leaf.node
}

// newTreeBranch allocates the node together with room for its items.
func newTreeBranch[K Key, V any](edit Edit, room int) *treeNode[K, V] {
	if room <= fewItems {
		branch := &struct {
			node     treeNode[K, V]
			keys     [fewItems]K
			children [fewItems]*treeNode[K, V]
		}{}
		branch.node = treeNode[K, V]{edit: edit, keys: branch.keys[:0], children: branch.children[:0]}
		return &branch.node
	}
	branch := &struct {
		node     treeNode[K, V]
		keys     [maxItems]K
		children [maxItems]*treeNode[K, V]
	}{}
	branch.node = treeNode[K, V]{edit: edit, keys: branch.keys[:0], children: branch.children[:0]}
	return &branch.node
}

func (n *treeNode[K, V]) sibling(edit Edit, room int) *treeNode[K, V] {
	if n.isBranch() {
		return newTreeBranch[K, V](edit, room)
	}
	return newTreeLeaf[K, V](edit, room)
}

// editable returns n if the edit created it, else a copy with room for another item.
func (n *treeNode[K, V]) editable(edit Edit) *treeNode[K, V] {
	if n.edit == edit {
		return n
	}
	c := n.sibling(edit, len(n.keys)+1)
	c.keys = append(c.keys, n.keys...)
	c.values = append(c.values, n.values...)
	c.children = append(c.children, n.children...)
	return c
}

func (n *treeNode[K, V]) isBranch() bool { return n.children != nil }

// asChild returns the item of n in its parent branch.
func (n *treeNode[K, V]) asChild() treeItem[K, V] {
	return treeItem[K, V]{key: n.keys[0], child: n}
}

// find returns the index of the lowest key that is not below key, and whether it is that key.
func (n *treeNode[K, V]) find(key K) (int, bool) {
	low, high := 0, len(n.keys)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if n.keys[middle] < key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < len(n.keys) && n.keys[low] == key
}

// childFor returns the index of the child that a key belongs to.
func (n *treeNode[K, V]) childFor(key K) int {
	i, found := n.find(key)
	if !found && i > 0 {
		i--
	}
	return i
}

// set returns the node that replaces n, a second one to its right if n was split, and whether the key was
// added.
func (n *treeNode[K, V]) set(edit Edit, key K, value V) (left, right *treeNode[K, V], added bool) {
	n = n.editable(edit)
	if !n.isBranch() {
		i, found := n.find(key)
		if found {
			n.values[i] = value
			return n, nil, false
		}
		right = n.insert(edit, i, treeItem[K, V]{key: key, value: value})
		return n, right, true
	}
	i := n.childFor(key)
	n.keys[i] = min(n.keys[i], key)
	n.children[i], right, added = n.children[i].set(edit, key, value)
	if right != nil {
		right = n.insert(edit, i+1, right.asChild())
	}
	return n, right, added
}

// insert inserts an item at index i. If n is full, insert splits it and returns the new node to its right. It
// splits in the middle, or at the end if the item comes last, so that ascending keys leave full nodes.
func (n *treeNode[K, V]) insert(edit Edit, i int, item treeItem[K, V]) (right *treeNode[K, V]) {
	if len(n.keys) < maxItems {
		n.grow()
		n.insertItem(i, item)
		return nil
	}
	right = n.sibling(edit, maxItems)
	if i == maxItems {
		right.insertItem(0, item)
		return right
	}
	const half = maxItems / 2
	n.moveTail(half, right)
	if i <= half {
		n.insertItem(i, item)
	} else {
		right.insertItem(i-half, item)
	}
	return right
}

// grow gives a full node the capacity of the largest node, so that it is copied only once.
func (n *treeNode[K, V]) grow() {
	if len(n.keys) < cap(n.keys) {
		return
	}
	n.keys = slices.Grow(n.keys, maxItems-len(n.keys))
	if n.isBranch() {
		n.children = slices.Grow(n.children, maxItems-len(n.children))
	} else {
		n.values = slices.Grow(n.values, maxItems-len(n.values))
	}
}

func (n *treeNode[K, V]) insertItem(i int, item treeItem[K, V]) {
	n.keys = slices.Insert(n.keys, i, item.key)
	if n.isBranch() {
		n.children = slices.Insert(n.children, i, item.child)
	} else {
		n.values = slices.Insert(n.values, i, item.value)
	}
}

// moveTail moves the items from index i on to the beginning of another node.
func (n *treeNode[K, V]) moveTail(i int, to *treeNode[K, V]) {
	to.keys = slices.Insert(to.keys, 0, n.keys[i:]...)
	n.keys = slices.Delete(n.keys, i, len(n.keys))
	if n.isBranch() {
		to.children = slices.Insert(to.children, 0, n.children[i:]...)
		n.children = slices.Delete(n.children, i, len(n.children))
	} else {
		to.values = slices.Insert(to.values, 0, n.values[i:]...)
		n.values = slices.Delete(n.values, i, len(n.values))
	}
}

// moveHead moves the items before index i to the end of another node.
func (n *treeNode[K, V]) moveHead(i int, to *treeNode[K, V]) {
	to.keys = append(to.keys, n.keys[:i]...)
	n.keys = slices.Delete(n.keys, 0, i)
	if n.isBranch() {
		to.children = append(to.children, n.children[:i]...)
		n.children = slices.Delete(n.children, 0, i)
	} else {
		to.values = append(to.values, n.values[:i]...)
		n.values = slices.Delete(n.values, 0, i)
	}
}

// remove returns the node that replaces n, without the key, which must be present.
func (n *treeNode[K, V]) remove(edit Edit, key K) *treeNode[K, V] {
	n = n.editable(edit)
	if !n.isBranch() {
		i, _ := n.find(key)
		n.keys = slices.Delete(n.keys, i, i+1)
		n.values = slices.Delete(n.values, i, i+1)
		return n
	}
	i := n.childFor(key)
	n.children[i] = n.children[i].remove(edit, key)
	if len(n.children[i].keys) < minItems && len(n.children) > 1 {
		n.fill(edit, i)
	}
	return n
}

// fill joins child i, which has too few items, with its neighbour, or takes items
// from it.
func (n *treeNode[K, V]) fill(edit Edit, i int) {
	i = min(i, len(n.children)-2)
	left, right := n.children[i].editable(edit), n.children[i+1].editable(edit)
	n.children[i], n.children[i+1] = left, right
	count := len(left.keys) + len(right.keys)
	switch half := count / 2; {
	case count <= maxItems:
		right.moveHead(len(right.keys), left)
		n.keys = slices.Delete(n.keys, i+1, i+2)
		n.children = slices.Delete(n.children, i+1, i+2)
		return
	case len(left.keys) < half:
		right.moveHead(half-len(left.keys), left)
	default:
		left.moveTail(half, right)
	}
	n.keys[i+1] = right.keys[0]
}

func (n *treeNode[K, V]) ascendAt(i int, yield func(K, V) bool) bool {
	for ; i < len(n.keys); i++ {
		if n.isBranch() {
			if !n.children[i].ascendAt(0, yield) {
				return false
			}
		} else if !yield(n.keys[i], n.values[i]) {
			return false
		}
	}
	return true
}

// ascendFrom is like ascendAt, for the keys that are not below key.
func (n *treeNode[K, V]) ascendFrom(key K, yield func(K, V) bool) bool {
	if !n.isBranch() {
		i, _ := n.find(key)
		return n.ascendAt(i, yield)
	}
	i := n.childFor(key)
	return n.children[i].ascendFrom(key, yield) && n.ascendAt(i+1, yield)
}

// descend yields the entries before index i of the node in descending order, and reports whether to continue.
func (n *treeNode[K, V]) descend(i int, yield func(K, V) bool) bool {
	for i--; i >= 0; i-- {
		if n.isBranch() {
			child := n.children[i]
			if !child.descend(len(child.keys), yield) {
				return false
			}
		} else if !yield(n.keys[i], n.values[i]) {
			return false
		}
	}
	return true
}

func (n *treeNode[K, V]) descendBefore(key K, yield func(K, V) bool) bool {
	if !n.isBranch() {
		i, _ := n.find(key)
		return n.descend(i, yield)
	}
	i := n.childFor(key)
	return n.children[i].descendBefore(key, yield) && n.descend(i, yield)
}

// Edit is the number of a batch of changes to one or several collections. A node that was made
// in an edit is changed in place by the same edit, so that many changes cost
// little more than in a collection that is not persistent.
//
// Two batches that made versions of a collection must not have the same number, so a new edit continues
// counting from the edit that made the version. 0 means no edit. An edit must not be used by several goroutines
// at once. It ends when one of its versions is shared: no more changes may be made with it.
type Edit uint64
