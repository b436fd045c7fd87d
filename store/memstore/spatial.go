package memstore

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// spatialIndex is one version of the places in a field: the positions of documents
// by the cells of their places.
type spatialIndex struct {
	path string
	// field is the first part of path.
	field string
	kind  query.IndexKind
	key   *query.GeoKey
	// entries are the cells with the position behind them.
	entries persistent.Tree[string, struct{}]
	// levels has a bit for each level that the cell of an entry had, but for the level of points. A
	// cell of such a level may contain one that is searched for.
	levels uint64
}

func newSpatialIndex(key store.IndexKey) spatialIndex {
	field, _, _ := strings.Cut(key.Path, ".")
	return spatialIndex{path: key.Path, field: field, kind: key.Kind, key: query.NewGeoKey(key.Path, key.Kind)}
}

// replace replaces the places of one version of a document by the places of the next. The zero Object means
// no document.
func (x *spatialIndex) replace(edit persistent.Edit, position uint64, before, after document.Object) error {
	if !before.IsZero() && !after.IsZero() {
		old, had := before.Field(x.field)
		if next, has := after.Field(x.field); had == has && old == next {
			return nil
		}
	}
	var room [4]uint64
	next, err := x.cells(room[:0], after)
	if err != nil {
		return err
	}
	var oldRoom [4]uint64
	old, err := x.cells(oldRoom[:0], before)
	if err != nil {
		return err
	}
	for _, cell := range old {
		if !slices.Contains(next, cell) {
			x.entries.Delete(edit, spatialEntry(cell, position))
		}
	}
	for _, cell := range next {
		if slices.Contains(old, cell) {
			continue
		}
		x.entries.Set(edit, spatialEntry(cell, position), struct{}{})
		if level := s2.CellID(cell).Level(); level < s2.MaxLevel {
			x.levels |= 1 << level
		}
	}
	return nil
}

// cells returns the cells of a document, none of the zero Object.
func (x *spatialIndex) cells(room []uint64, o document.Object) ([]uint64, error) {
	if o.IsZero() {
		return room, nil
	}
	return x.key.AppendCells(room, o)
}

// cellSize is the number of bytes of a cell in an entry, and of a position.
const cellSize = 8

// spatialEntry returns the entry of a document under a cell.
func spatialEntry(cell, position uint64) string {
	var entry [2 * cellSize]byte
	binary.BigEndian.PutUint64(entry[:], cell)
	binary.BigEndian.PutUint64(entry[cellSize:], position)
	return string(entry[:])
}

// within yields the positions, all below end, of the documents that have a cell equal
// to, within or around one of those given, in the order of insertion, until yield
// returns false.
func (x *spatialIndex) within(cells []uint64, end uint64, yield func(position uint64) bool) {
	found := positionSet{end: end}
	collect := func(position uint64) bool {
		found.add(position)
		return true
	}
	var around []s2.CellID
	for _, cell := range cells {
		id := s2.CellID(cell)
		x.between(id.RangeMin(), id.RangeMax(), collect)
		around = x.appendAround(around, id)
	}
	slices.Sort(around)
	for _, id := range slices.Compact(around) {
		x.between(id, id, collect)
	}
	found.all(yield)
}

// appendAround appends the cells around one that an entry may have.
func (x *spatialIndex) appendAround(around []s2.CellID, id s2.CellID) []s2.CellID {
	above := x.levels & (1<<id.Level() - 1)
	for ; above != 0; above &= above - 1 {
		around = append(around, id.Parent(bits.TrailingZeros64(above)))
	}
	return around
}

// between yields the positions under the cells in a range until yield returns false.
func (x *spatialIndex) between(low, high s2.CellID, yield func(position uint64) bool) {
	for entry := range x.entries.From(spatialEntry(uint64(low), 0)) {
		if cellOf(entry) > high || !yield(positionOf(entry)) {
			return
		}
	}
}

func cellOf(entry string) s2.CellID {
	return s2.CellID(binary.BigEndian.Uint64([]byte(entry[:cellSize])))
}

func positionOf(entry string) uint64 { return binary.BigEndian.Uint64([]byte(entry[cellSize:])) }

// distant is a document and its distance from a point.
type distant struct {
	placed

	distance float64
}

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

// nearest yields the documents that match, nearest first, and in the order of insertion at the same distance,
// until yield returns false. With a geo index it looks in rings around the point, each wider than the one
// before.
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

// visitNear is visitPlan for a filter with a $near: it yields the documents nearest first, and in the order
// of insertion at the same distance.
func (c *content) visitNear(
	call *query.Evaluation, filter *query.Filter, p *plan, yield func(position uint64, o document.Object) bool,
) error {
	near := filter.Near()
	if p.spatial == nil {
		return boterr.Invalid(near.Key(), "a search by distance needs an index of the kind %q on the field", near.Kinds()[0])
	}
	search := nearSearch{near: near, filter: filter, plan: p}
	return c.nearest(call, &search, func(d distant) bool { return yield(d.position, d.document) })
}

func (c *content) near(call *query.Evaluation, asked *query.GeoNear) ([]query.GeoResult, error) {
	asked, err := c.withGeoKey(asked)
	if err != nil {
		return nil, err
	}
	p, ok := c.planNear(asked, asked.Filter())
	if !ok {
		p = c.planFor(asked.Filter(), nil)
		p.spatial = nil // A plan for the filter does not serve the search.
	}
	search := nearSearch{near: asked, filter: asked.Filter(), plan: &p, limit: asked.Limit()}
	found := []query.GeoResult{}
	err = c.nearest(call, &search, func(d distant) bool {
		result, _ := asked.Measure(d.document)
		found = append(found, result)
		return int64(len(found)) != asked.Limit()
	})
	return found, inParameter("query", err)
}

// planNear returns the plan for a search for near places among the documents that a filter matches, and false
// if no index serves it.
func (c *content) planNear(near *query.GeoNear, filter *query.Filter) (plan, bool) {
	for _, kind := range near.Kinds() {
		for i := range c.indexes {
			x := &c.indexes[i]
			for j := range x.spatial {
				if s := &x.spatial[j]; s.kind == kind && s.path == near.Key() && x.isSearchable(s, filter) {
					return plan{index: x, spatial: s, used: 1}, true
				}
			}
		}
	}
	return plan{}, false
}

// isSearchable reports whether a geo key can be searched: it is the first key of its index, or the
// filter bounds the first one. MongoDB requires that, and a search that works here must work there.
func (x *index) isSearchable(s *spatialIndex, filter *query.Filter) bool {
	first := x.spec.Keys[0].Path
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

// planPlaces returns the plan for the conditions of a filter on places, and false if
// there is no index that serves one.
func (c *content) planPlaces(filter *query.Filter) (plan, bool) {
	for i := range c.indexes {
		x := &c.indexes[i]
		for j := range x.spatial {
			if cells, ok := filter.GeoCells(x.spatial[j].key); ok {
				return plan{index: x, spatial: &x.spatial[j], cells: cells, used: 1}, true
			}
		}
	}
	return plan{}, false
}

// withGeoKey adds the field of the collection's geo index to a query that names no field; as in MongoDB an
// index on the plane comes before indexes on the globe. If the collection has geo indexes, one of them must
// serve the search; without any, a query that names its field is served by reading all documents.
func (c *content) withGeoKey(search *query.GeoNear) (*query.GeoNear, error) {
	flat, round := c.geoPaths(query.Geo2D), c.geoPaths(query.Geo2DSphere)
	asked := search
	if search.Key() == "" {
		paths := flat
		if len(paths) == 0 {
			paths = round
		}
		switch len(paths) {
		case 0:
			return nil, boterr.Invalid("key", "%w", query.ErrNoGeoIndex)
		case 1:
			search = search.WithKey(paths[0])
		default:
			return nil, boterr.Invalid("key", "there are geo indexes on %q, so that the query must name one of the fields", paths)
		}
	}
	if len(flat)+len(round) == 0 {
		return search, nil
	}
	if _, ok := c.planNear(search, search.Filter()); !ok {
		return nil, asked.NotServed(search.Key())
	}
	return search, nil
}

func (c *content) geoPaths(kind query.IndexKind) []string {
	var paths []string
	for i := range c.indexes {
		for _, key := range c.indexes[i].spec.Keys {
			if key.Kind == kind && !slices.Contains(paths, key.Path) {
				paths = append(paths, key.Path)
			}
		}
	}
	return paths
}
