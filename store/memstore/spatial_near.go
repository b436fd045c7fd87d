package memstore

import (
	"cmp"

	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// distant is a document and its distance from a point.
type distant struct {
	placed

	distance float64
}

// nearSearch is a search for what is near.
type nearSearch struct {
	near   *query.GeoNear
	filter *query.Filter
	// plan has the geo index to look into; without one it serves the filter.
	plan *plan
	// limit is the most documents that are asked for; 0 is all.
	limit int64
	// seen are the documents that were looked at, in the search by an index.
	seen seenSet
	// waiting are those that are farther away than the rings so far.
	waiting []distant
}

// nearest yields the documents that match, nearest first, those of the same distance in
// the order of insertion, until yield returns false. With a geo index it looks in rings
// around the point, each wider than the one before.
func (c *content) nearest(call *query.Evaluation, s *nearSearch, yield func(distant) bool) error {
	if err := call.Err(); err != nil {
		return err
	}
	least, most, all := s.near.Reach()
	x := s.plan.spatial
	if x == nil {
		_, err := s.step(call, ring{outer: most, last: true}, func(take func(uint64, document.Object) bool) { s.plan.candidates(c, take) }, yield)
		return err
	}
	const half = 0.5
	width := half * s.near.Span(x.crowdedLevel(s2.CellID(s.near.Center(x.key))))
	s.seen.end = c.end
	for inner := least; ; {
		r := ring{inner: inner, outer: inner + width}
		if r.outer >= min(most, all) {
			r.outer, r.last = most, true
		}
		goOn, err := s.step(call, r, func(take func(uint64, document.Object) bool) { s.unseen(c, r, take) }, yield)
		if err != nil || !goOn || r.last {
			return err
		}
		inner, width = r.outer, r.outer-least
	}
}

// unseen yields the documents that the index has in a ring, and perhaps others, but
// those that it yielded before.
func (s *nearSearch) unseen(c *content, r ring, yield func(uint64, document.Object) bool) {
	x := s.plan.spatial
	x.within(s.near.Cells(x.key, r.inner, r.outer), c.end, func(position uint64) bool {
		if !s.seen.add(position) {
			return true
		}
		o, _ := c.documents.Get(position)
		return yield(position, o)
	})
}

// ring is a part of the search: what is at least inner and less than outer away. Outer
// belongs to the last one.
type ring struct {
	inner, outer float64
	last         bool
}

// isBefore reports whether the ring ends before a distance.
func (r ring) isBefore(distance float64) bool {
	return distance > r.outer || distance == r.outer && !r.last
}

// step yields what matches and is not farther away than a ring, nearest first, and keeps
// the rest of the candidates waiting. It reports whether to go on.
func (s *nearSearch) step(
	call *query.Evaluation, r ring, candidates func(func(uint64, document.Object) bool), yield func(distant) bool,
) (goOn bool, err error) {
	nearest := topItems[distant]{compare: compareDistant, size: s.limit}
	if err := s.reach(call, r, &nearest); err != nil {
		return false, err
	}
	candidates(func(position uint64, o document.Object) bool {
		s.plan.examined++
		if s.plan.examined%checkEvery == 0 {
			if err = call.Err(); err != nil {
				return false
			}
		}
		var distance float64
		var ok bool
		if distance, ok, err = call.Distance(s.near, o); err != nil || !ok {
			return err == nil
		}
		d := distant{placed: placed{document: o, position: position}, distance: distance}
		if r.isBefore(distance) {
			s.waiting = append(s.waiting, d)
			return true
		}
		err = s.take(call, d, &nearest)
		return err == nil
	})
	if err != nil {
		return false, err
	}
	for _, d := range nearest.sorted() {
		if !yield(d) {
			return false, nil
		}
	}
	return true, nil
}

// reach takes what waits and is not farther away than a ring.
func (s *nearSearch) reach(call *query.Evaluation, r ring, nearest *topItems[distant]) error {
	farther := s.waiting[:0]
	for _, d := range s.waiting {
		if r.isBefore(d.distance) {
			farther = append(farther, d)
		} else if err := s.take(call, d, nearest); err != nil {
			return err
		}
	}
	s.waiting = farther
	return nil
}

// take takes a document that matches.
func (s *nearSearch) take(call *query.Evaluation, d distant, nearest *topItems[distant]) error {
	matched, err := call.Check(s.filter, d.document)
	if matched && err == nil {
		nearest.add(d)
	}
	return err
}

// compareDistant orders by distance, then in the order of insertion.
func compareDistant(a, b distant) int {
	if order := cmp.Compare(a.distance, b.distance); order != 0 {
		return order
	}
	return cmp.Compare(a.position, b.position)
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
