package memstore

// seenSet holds positions that were seen.
type seenSet struct {
	// end is above all positions.
	end uint64
	// few holds the positions until a bit for each of the collection is smaller; then
	// many holds them.
	few  map[uint64]struct{}
	many []uint64
}

// add adds a position, and reports whether it was not there.
func (s *seenSet) add(position uint64) bool {
	word, bit := position/wordBits, uint64(1)<<(position%wordBits)
	if s.many != nil {
		isNew := s.many[word]&bit == 0
		s.many[word] |= bit
		return isNew
	}
	if _, seen := s.few[position]; seen {
		return false
	}
	if s.few == nil {
		s.few = map[uint64]struct{}{}
	}
	s.few[position] = struct{}{}
	if uint64(len(s.few)) > s.end/wordBits {
		s.many = make([]uint64, s.end/wordBits+1)
		for position := range s.few {
			s.many[position/wordBits] |= 1 << (position % wordBits)
		}
		s.few = nil
	}
	return true
}
