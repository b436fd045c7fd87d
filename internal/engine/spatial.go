package engine

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// GeoIndex is a geo key of an index. It finds documents by the cells of their places.
type GeoIndex struct {
	// Levels has a bit for each level of the entries' cells, except the level of points. Cells of these levels may
	// contain a cell of the search.
	Levels uint64

	path string
	kind query.IndexKind
	key  *query.GeoKey
}

// cells returns the sorted cells of a document. They may use room. The zero Object has no cells.
func (x *GeoIndex) cells(room []uint64, o document.Object) ([]uint64, error) {
	if o.IsZero() {
		return nil, nil
	}
	cells, err := x.key.AppendCells(room[:0], o)
	slices.Sort(cells)
	return slices.Compact(cells), err
}

// ranges returns the ranges of the keys of cells that equal, lie within or contain one of the given cells.
func (x *GeoIndex) ranges(cells []uint64) []query.KeyRange {
	ranges := make([]query.KeyRange, 0, len(cells))
	add := func(low, high s2.CellID) {
		ranges = append(ranges, query.KeyRange{From: CellKey(uint64(low)), To: query.KeyAfter(CellKey(uint64(high)))})
	}
	var around []s2.CellID
	for _, cell := range cells {
		id := s2.CellID(cell)
		add(id.RangeMin(), id.RangeMax())
		above := x.Levels & (1<<id.Level() - 1)
		for ; above != 0; above &= above - 1 {
			around = append(around, id.Parent(bits.TrailingZeros64(above)))
		}
	}
	slices.Sort(around)
	for _, id := range slices.Compact(around) {
		add(id, id)
	}
	return ranges
}

type distant struct {
	Placed

	distance float64
}

type nearSearch struct {
	near   *query.GeoNear
	filter *query.Filter
	// plan contains the geo index to search. If there is no geo index, it is a plan for the filter.
	plan *plan
	// limit is the maximum number of documents; 0 means all.
	limit int64
	// read are the ranges of the index that were searched. seen holds the positions of the documents found there.
	read []query.KeyRange
	seen map[uint64]struct{}
	// waiting are the candidates farther away than the rings that were searched.
	waiting []distant
}

// nearest yields the matching documents, nearest first, until yield returns false. At equal distances, it keeps the
// order of insertion. With a geo index, it searches wider and wider rings around the point.
func (v View) nearest(call *query.Evaluation, s *nearSearch, yield func(distant) bool) error {
	if err := call.Err(); err != nil {
		return err
	}
	least, most, all := s.near.Reach()
	x := s.plan.geo
	if x == nil {
		_, err := s.step(call, ring{outer: most, last: true}, func(take Visitor) error { return s.plan.candidates(v, take) }, yield)
		return err
	}
	const half = 0.5
	level, err := s.crowdedLevel(v, s.near.Center(x.key))
	if err != nil {
		return err
	}
	width := half * s.near.Span(level)
	s.seen = map[uint64]struct{}{}
	for inner := least; ; {
		r := ring{inner: inner, outer: inner + width}
		if r.outer >= min(most, all) {
			r.outer, r.last = most, true
		}
		goOn, err := s.step(call, r, func(take Visitor) error { return s.unseen(call, v, r, take) }, yield)
		if err != nil || !goOn || r.last {
			return err
		}
		inner, width = r.outer, r.outer-least
	}
}

// unseen visits the documents in a ring, and perhaps some outside it, except the ones already visited.
func (s *nearSearch) unseen(call *query.Evaluation, v View, r ring, to Visitor) error {
	p := s.plan
	var ranges []query.KeyRange
	ranges, s.read = query.NewRanges(p.geo.ranges(s.near.Cells(p.geo.key, r.inner, r.outer)), s.read)
	var err error
	again := 0
	ended := v.Cells(p.at, p.geoAt, ranges, Yield(func(position uint64, o document.Object) bool {
		before := len(s.seen)
		if s.seen[position] = struct{}{}; len(s.seen) > before {
			return to.Visit(position, o)
		}
		again++
		if again%checkEvery == 0 {
			err = call.Err()
		}
		return err == nil
	}))
	return cmp.Or(err, ended)
}

// ring is the part of a search with distances from inner up to, but not including, outer. The last ring includes
// outer.
type ring struct {
	inner, outer float64
	last         bool
}

// isBefore reports whether the ring ends before a distance.
func (r ring) isBefore(distance float64) bool {
	return distance > r.outer || distance == r.outer && !r.last
}

// step yields the matches up to the outer distance of a ring, nearest first. Other candidates keep waiting. It
// reports whether to continue.
func (s *nearSearch) step(
	call *query.Evaluation, r ring, candidates func(Visitor) error, yield func(distant) bool,
) (goOn bool, err error) {
	nearest := topItems[distant]{compare: compareDistant, size: s.limit}
	if err := s.reach(call, r, &nearest); err != nil {
		return false, err
	}
	ended := candidates(Yield(func(position uint64, o document.Object) bool {
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
		d := distant{Placed: Placed{Document: o, Position: position}, distance: distance}
		if r.isBefore(distance) {
			s.waiting = append(s.waiting, d)
			return true
		}
		err = s.take(call, d, &nearest)
		return err == nil
	}))
	if err == nil {
		err = ended
	}
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

// reach takes the waiting candidates up to the outer distance of a ring.
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

// take adds a document to nearest if it matches.
func (s *nearSearch) take(call *query.Evaluation, d distant, nearest *topItems[distant]) error {
	matched, err := call.Check(s.filter, d.Document)
	if matched && err == nil {
		nearest.add(d)
	}
	return err
}

// compareDistant orders by distance, then in the order of insertion.
func compareDistant(a, b distant) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.Position, b.Position))
}

// crowd is the number of entries that the first ring should contain.
const crowd = 8

// crowdedLevel returns the level of the smallest cell around center with at least crowd entries.
func (s *nearSearch) crowdedLevel(v View, center uint64) (int, error) {
	near, err := v.Around(s.plan.at, s.plan.geoAt, center, crowd)
	if err != nil {
		return 0, err
	}
	for level := s2.MaxLevel; level > 0; level-- {
		around := s2.CellID(center).Parent(level)
		count := 0
		for _, cell := range near {
			if id := s2.CellID(cell); id >= around.RangeMin() && id <= around.RangeMax() {
				count++
			}
		}
		if count >= crowd {
			return level, nil
		}
	}
	return 0, nil
}

// visitNear is like run, for a filter with a $near. It visits the documents nearest first, and in the order of
// insertion at the same distance.
func (v View) visitNear(s *search) error {
	near := s.filter.Near()
	if s.plan.geo == nil {
		return boterr.Invalid(near.Key(), "a search by distance needs an index of the kind %q on the field", near.Kinds()[0])
	}
	nearest := nearSearch{near: near, filter: s.filter, plan: &s.plan}
	return v.nearest(s.call, &nearest, func(d distant) bool { return s.to.Visit(d.Position, d.Document) })
}

func (v View) near(call *query.Evaluation, asked *query.GeoNear) ([]query.GeoResult, error) {
	asked, _, err := v.NearServed(asked)
	if err != nil {
		return nil, err
	}
	p, ok := v.planNear(asked, asked.Filter())
	if !ok {
		p = v.planFor(asked.Filter(), nil)
		p.geo = nil // A plan for the filter alone does not help the search.
	}
	search := nearSearch{near: asked, filter: asked.Filter(), plan: &p, limit: asked.Limit()}
	found := []query.GeoResult{}
	var failed error
	err = v.nearest(call, &search, func(d distant) bool {
		var result query.GeoResult
		if result, _, failed = call.Measure(asked, d.Document); failed != nil {
			return false
		}
		found = append(found, result)
		return int64(len(found)) != asked.Limit()
	})
	if err = cmp.Or(err, failed); err != nil {
		return nil, inParameter("query", err)
	}
	return found, nil
}

// planNear returns the plan for finding nearby places among the documents that match a filter. ok is false if no
// index can be used.
func (s *Schema) planNear(near *query.GeoNear, filter *query.Filter) (plan, bool) {
	for _, kind := range near.Kinds() {
		for i := range s.Indexes {
			x := &s.Indexes[i]
			for j := range x.Geo {
				if g := &x.Geo[j]; g.kind == kind && g.path == near.Key() && x.isSearchable(g, filter) {
					return plan{index: x, at: i, geo: g, geoAt: j, used: 1}, true
				}
			}
		}
	}
	return plan{}, false
}

// isSearchable reports whether a geo key can be searched: it is the first key of its index, or the filter restricts
// the first key. MongoDB requires this, too.
func (x *Index) isSearchable(s *GeoIndex, filter *query.Filter) bool {
	first := x.Spec.Keys[0].Path
	if s.path == first {
		return true
	}
	for condition := range filter.Conditions() {
		if _, ok := condition.Bounds(first); ok {
			return true
		}
	}
	return false
}

// planPlaces returns the plan for the conditions of a filter on places. ok is false if no index can be used.
func (v View) planPlaces(filter *query.Filter) (plan, bool) {
	for i := range v.Indexes {
		x := &v.Indexes[i]
		for j := range x.Geo {
			if cells, ok := filter.GeoCells(x.Geo[j].key); ok {
				return plan{index: x, at: i, geo: &x.Geo[j], geoAt: j, cells: cells, used: 1}, true
			}
		}
	}
	return plan{}, false
}

// NearServed adds the field of the collection's geo index to a search that names no field. As in MongoDB, an index on
// the plane comes before indexes on the globe. If the collection has geo indexes, one of them must serve the search,
// and isServed is true. Without any, a search that names its field is served by reading all documents.
func (s *Schema) NearServed(search *query.GeoNear) (_ *query.GeoNear, isServed bool, err error) {
	flat, round := s.geoPaths(query.Geo2D), s.geoPaths(query.Geo2DSphere)
	asked := search
	if search.Key() == "" {
		paths := flat
		if len(paths) == 0 {
			paths = round
		}
		switch len(paths) {
		case 0:
			return nil, false, boterr.Invalid("key", "%w", query.ErrNoGeoIndex)
		case 1:
			search = search.WithKey(paths[0])
		default:
			return nil, false, boterr.Invalid("key", "there are geo indexes on %q, so the query must name one of the fields", paths)
		}
	}
	if len(flat)+len(round) == 0 {
		return search, false, nil
	}
	if _, ok := s.planNear(search, search.Filter()); !ok {
		return nil, false, asked.NotServed(search.Key())
	}
	return search, true, nil
}

func (s *Schema) geoPaths(kind query.IndexKind) []string {
	var paths []string
	for i := range s.Indexes {
		for _, key := range s.Indexes[i].Spec.Keys {
			if key.Kind == kind && !slices.Contains(paths, key.Path) {
				paths = append(paths, key.Path)
			}
		}
	}
	return paths
}
