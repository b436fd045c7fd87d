package pcre

import (
	"slices"
	"unicode/utf8"
)

// piece is a part of a text that every match takes: a character of each of the sets.
type piece []*setStep

const (
	// maxPieceLength is the most characters of a piece that are looked for.
	maxPieceLength = 16
	// maxPieces is the most pieces of a pattern that are looked for.
	maxPieces = 8
	// boundAfter is the work on a text, for a byte and at least, after which it is worth
	// looking for the pieces.
	boundAfter      = 8
	boundAfterLeast = 1 << 10
)

// bound finds out where the last match may begin, once that pays: at the last place after which the
// text still has every piece. Otherwise a pattern such as a.*b would read a text without b to its
// end from each a.
func (m *machine) bound() {
	if m.isBounded || m.anchored || m.done < boundAfterLeast+boundAfter*len(m.text) {
		return
	}
	m.isBounded = true
	pos := m.pos
	for _, p := range slices.Backward(m.pieces()) {
		if m.last = m.lastOf(p, m.last); m.last == none {
			break
		}
	}
	m.pos = pos
}

// lastOf returns where a piece stands last before a place, or none.
func (m *machine) lastOf(p piece, end int) int {
	for at := end - 1; at >= m.from && m.err == nil; at-- {
		m.spend(2)
		if utf8.RuneStart(m.text[at]) && m.hasPiece(p, at) && m.pos <= end {
			return at
		}
	}
	return none
}

// hasPiece reports whether a piece stands at a place, and leaves the machine behind it.
func (m *machine) hasPiece(p piece, at int) bool {
	m.pos = at
	for _, one := range p {
		m.spend(2)
		if !one.step(m) {
			return false
		}
	}
	return true
}

// pieceCollector collects the pieces of a pattern.
type pieceCollector struct {
	pieces []piece
	// last is the piece to which the next character belongs.
	last piece
}

// piecesOf returns the pieces that every match of a node holds, as far as they are known.
func piecesOf(root node) []piece {
	var c pieceCollector
	c.add(root)
	c.end()
	return c.pieces
}

// end ends the piece so far.
func (c *pieceCollector) end() {
	if len(c.last) > 0 {
		c.pieces = append(c.pieces, c.last)
	}
	c.last = nil
}

func (c *pieceCollector) add(n node) {
	switch n := n.(type) {
	case literal:
		for _, r := range string(n) {
			c.take(set{r, r})
		}
	case character:
		c.take(n.set)
	case sequence:
		for _, part := range n {
			c.add(part)
		}
	case capture:
		c.add(n.body)
	case atomic:
		c.add(n.body)
	case repeat:
		if n.least > 0 {
			c.add(n.body)
		}
		if n.least != 1 || n.most != 1 {
			c.end()
		}
	case assertion, keep, look: // They take nothing.
	default:
		c.end()
	}
}

// take adds a character to the piece.
func (c *pieceCollector) take(characters set) {
	if len(c.last) < maxPieceLength && len(c.pieces) < maxPieces {
		c.last = append(c.last, newSetStep(characters))
	}
}
