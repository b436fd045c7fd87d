package memstore

import (
	"math/bits"
	"slices"
)

// positionSet collects positions, and yields each once, in ascending order.
type positionSet struct {
	// end is above all positions.
	end uint64
	// few holds the positions until there are so many that a bit for each position
	// of the collection is the smaller and faster way; then many holds them.
	few  []uint64
	many []uint64
}

const wordBits = 64

// add adds a position.
func (s *positionSet) add(position uint64) {
	if s.many != nil {
		s.many[position/wordBits] |= 1 << (position % wordBits)
		return
	}
	s.few = append(s.few, position)
	if uint64(len(s.few)) <= s.end/wordBits {
		return
	}
	s.many = make([]uint64, s.end/wordBits+1)
	for _, position := range s.few {
		s.many[position/wordBits] |= 1 << (position % wordBits)
	}
}

// count returns the number of positions, at most.
func (s *positionSet) count() int64 {
	if s.many == nil {
		return int64(len(s.few)) // One may be there twice.
	}
	count := 0
	for _, word := range s.many {
		count += bits.OnesCount64(word)
	}
	return int64(count)
}

// all yields the positions until yield returns false.
func (s *positionSet) all(yield func(uint64) bool) {
	if s.many == nil {
		slices.Sort(s.few)
		for _, position := range slices.Compact(s.few) {
			if !yield(position) {
				return
			}
		}
		return
	}
	for i, word := range s.many {
		for ; word != 0; word &= word - 1 {
			if !yield(uint64(i)*wordBits + uint64(bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}
