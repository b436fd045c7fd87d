package geometry

import (
	"strconv"

	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
)

// corner is a vertex of a ring.
type corner struct{ ring, index int }

// checkHoles refuses rings after the first that are no holes in it, and rings that
// share a side or touch each other more than a polygon allows. Sides do not cross.
func checkHoles(rings []*s2.Loop) error {
	if len(rings) == 1 {
		return nil
	}
	corners := map[s2.Point][]corner{}
	for number, ring := range rings {
		touched := 0
		for i, at := range ring.Vertices() {
			for _, other := range corners[at] {
				if other.ring == 0 {
					touched++
				}
				if err := checkTouch(rings, other, corner{ring: number, index: i}); err != nil {
					return err
				}
			}
			corners[at] = append(corners[at], corner{ring: number, index: i})
		}
		field := "[" + strconv.Itoa(number) + "]"
		if number > 0 && !rings[0].Contains(ring) {
			return boterr.Invalid(field, "is not within the first ring: the others are holes in it")
		}
		if touched > 1 {
			return boterr.Invalid(field, "touches the first ring in more than one point")
		}
	}
	return nil
}

// checkTouch refuses two rings that share a side, or cross, at a common corner.
func checkTouch(rings []*s2.Loop, first, second corner) error {
	a, b := rings[first.ring], rings[second.ring]
	a0, at, a2 := around(a, first.index)
	b0, _, b2 := around(b, second.index)
	if a0 == b0 || a0 == b2 || a2 == b0 || a2 == b2 {
		return boterr.Invalid("["+strconv.Itoa(second.ring)+"]", "shares a side at %s with the ring %d", shown(at), first.ring)
	}
	if first.ring > 0 && s2.WedgeIntersects(a0, at, a2, b0, b2) {
		return boterr.Invalid("["+strconv.Itoa(second.ring)+"]", "overlaps the ring %d at %s", first.ring, shown(at))
	}
	return nil
}

// around returns a corner of a ring between its neighbours.
func around(ring *s2.Loop, index int) (before, at, after s2.Point) {
	return ring.Vertex(index + ring.NumVertices() - 1), ring.Vertex(index), ring.Vertex(index + 1)
}
