package memstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/document"
)

// distant is a document and its distance from a point.
type distant struct {
	placed

	distance float64
}

// nearSearch is a search for what is near.
type nearSearch struct {
	near   *document.GeoNear
	filter *document.Filter
	// plan has the geo index to look into; without one it serves the filter.
	plan *plan
}

// nearest yields the documents that match, nearest first, those of the same distance in
// the order of insertion, until yield returns false. With a geo index it looks in rings
// around the point, each wider than the one before.
func (c *content) nearest(ctx context.Context, s *nearSearch, yield func(distant) bool) error {
	if err := checkEnded(ctx); err != nil {
		return err
	}
	least, most := s.near.Reach()
	x := s.plan.spatial
	if x == nil {
		_, err := c.yieldNearest(ctx, s, ring{inner: least, outer: most, last: true}, yield)
		return err
	}
	const half = 0.5
	width := half * s.near.Span(x.crowdedLevel(s2.CellID(s.near.Center(x.key))))
	for inner := least; inner <= most; {
		outer := inner + width
		r := ring{inner: inner, outer: min(outer, most), last: outer >= most}
		s.plan.cells = s.near.Cells(x.key, r.inner, r.outer)
		if goOn, err := c.yieldNearest(ctx, s, r, yield); err != nil || !goOn || r.last {
			return err
		}
		inner, width = outer, 2*width
	}
	return nil
}

// ring is a part of the search for what is near: what is at least inner and less than
// outer away. Outer belongs to the last one.
type ring struct {
	inner, outer float64
	last         bool
}

// holds reports whether something is so far away that it is in the ring.
func (r ring) holds(distance float64) bool {
	return distance >= r.inner && (distance < r.outer || distance == r.outer && r.last)
}

// yieldNearest yields those of the plan's candidates that are in a ring and match,
// nearest first. It reports whether to go on.
func (c *content) yieldNearest(ctx context.Context, s *nearSearch, r ring, yield func(distant) bool) (goOn bool, err error) {
	var found []distant
	s.plan.candidates(c, func(position uint64, o document.Object) bool {
		s.plan.examined++
		if s.plan.examined%checkEvery == 0 {
			if err = checkEnded(ctx); err != nil {
				return false
			}
		}
		distance, ok := s.near.Distance(o)
		if !ok || !r.holds(distance) {
			return true
		}
		var matched bool
		if matched, err = s.filter.Check(o); matched {
			found = append(found, distant{placed: placed{document: o, position: position}, distance: distance})
		}
		return err == nil
	})
	if err != nil {
		return false, err
	}
	slices.SortStableFunc(found, func(a, b distant) int { return cmp.Compare(a.distance, b.distance) })
	for _, d := range found {
		if !yield(d) {
			return false, nil
		}
	}
	return true, nil
}

// crowd is the number of entries that a first ring should have.
const crowd = 8

// crowdedLevel returns the level of the smallest cell around a cell that has a crowd
// of entries.
func (x *spatialIndex) crowdedLevel(center s2.CellID) int {
	for level := s2.MaxLevel; level > 0; level-- {
		around := center.Parent(level)
		count := 0
		x.between(around.RangeMin(), around.RangeMax(), func(uint64) bool {
			count++
			return count < crowd
		})
		if count == crowd {
			return level
		}
	}
	return 0
}
