package agendas

import (
	"cmp"

	"github.com/botctx/go-sdk/internal/fair"
)

// heap is the entries of one place in a queue, the first one on top. Each node has four children,
// and their slots hold the keys, so that few entries are looked at.
type heap struct {
	place place
	slots []slot
	// channel is the channel whose agendas a heap of a fair queue has.
	channel fair.Key
	isFair  bool
}

// slot is an entry with what it is ordered by first.
type slot struct {
	first, second int64
	entry         *entry
}

// before reports whether a slot comes before another one: by its keys, then by creation.
func (s *slot) before(other *slot) bool {
	switch {
	case s.first != other.first:
		return s.first < other.first
	case s.second != other.second:
		return s.second < other.second
	default:
		created := cmp.Compare(s.entry.createdAt, other.entry.createdAt)
		return created < 0 || created == 0 && s.entry.arrival < other.entry.arrival
	}
}

// children is the number of children of a node.
const children = 4

// top returns the first entry, nil where there is none.
func (h *heap) top() *entry {
	if len(h.slots) == 0 {
		return nil
	}
	return h.slots[0].entry
}

// push adds an entry.
func (h *heap) push(e *entry) {
	e.place = h.place
	h.slots = append(h.slots, slot{})
	h.up(len(h.slots)-1, e.slot(h))
}

// remove takes an entry out.
func (h *heap) remove(e *entry) {
	at, last := int(e.index), len(h.slots)-1
	moved := h.slots[last]
	h.slots[last] = slot{}
	h.slots = h.slots[:last]
	e.place = nowhere
	if at == last {
		return
	}
	if at > 0 && moved.before(&h.slots[(at-1)/children]) {
		h.up(at, moved)
	} else {
		h.down(at, moved)
	}
}

// put puts a slot at an index.
func (h *heap) put(at int, s slot) {
	h.slots[at] = s
	s.entry.index = int32(at)
}

// up puts a slot at an index, or above.
func (h *heap) up(at int, s slot) {
	for at > 0 {
		parent := (at - 1) / children
		if !s.before(&h.slots[parent]) {
			break
		}
		h.put(at, h.slots[parent])
		at = parent
	}
	h.put(at, s)
}

// down puts a slot at an index, or below.
func (h *heap) down(at int, s slot) {
	for {
		first := at*children + 1
		if first >= len(h.slots) {
			break
		}
		least := first
		for child := first + 1; child < min(first+children, len(h.slots)); child++ {
			if h.slots[child].before(&h.slots[least]) {
				least = child
			}
		}
		if !h.slots[least].before(&s) {
			break
		}
		h.put(at, h.slots[least])
		at = least
	}
	h.put(at, s)
}
