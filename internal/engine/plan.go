package engine

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// plan is a way to find the documents that a filter matches.
type plan struct {
	// id is the _id of the only document that can match. It is set if hasID is true.
	id    any
	hasID bool
	// ids are the keys of the _ids that can match. They are set if hasIDs is true.
	ids    []query.KeyRange
	hasIDs bool
	// index is the secondary index to use, and at its position in the schema. If there is no index, and neither id
	// nor ids is set, all documents are read.
	index *Index
	at    int
	// geo is the geo key to use, and geoAt its position in the index. cells are the cells to search in it.
	geo   *GeoIndex
	geoAt int
	cells []uint64
	// ranges are the ranges of keys to read from the index, in ascending order.
	ranges []query.KeyRange
	// used is the number of the index's first keys that the ranges restrict. equal is the number of these keys that
	// have a single value in the ranges.
	used, equal int
	// exact is true if every document in the ranges matches.
	exact bool
	// sorted is true if the index has the order of the sort, backward if it has the reverse order.
	sorted, backward bool
	// hint is the number of documents that are probably needed, or 0 for all.
	hint int64
	// examined is the number of documents that were read.
	examined int64
}

// planFor chooses the way to find the documents that a filter matches. A filter with $near needs its geo index.
// Otherwise the _id is used if the filter fixes it or lists some. Otherwise the index with the most keys fixed
// by the filter is used; ties go to a geo index, then to the index that is bounded further, then to an index in
// the order of sort, which may be nil, then to the earlier one.
func (v View) planFor(filter *query.Filter, sort *query.Sort) plan {
	if near := filter.Near(); near != nil {
		p, _ := v.planNear(near, filter)
		return p
	}
	if id, ok := filter.Equality(document.IDField); ok {
		return plan{id: id, hasID: true, exact: filter.IsEquality()}
	}
	if ids, ok := listedIDs(filter); ok {
		return plan{ids: ids, hasIDs: true}
	}
	var best plan
	for i := range v.Indexes {
		p, ok := v.Indexes[i].planFor(filter, sort)
		if ok && (best.index == nil || p.betterThan(&best)) {
			best = p
			best.at = i
		}
	}
	if best.equal == 0 {
		if p, ok := v.planPlaces(filter); ok {
			return p
		}
	}
	return best
}

func listedIDs(filter *query.Filter) ([]query.KeyRange, bool) {
	for condition := range filter.Conditions() {
		bounds, ok := condition.Bounds(document.IDField)
		if ok && !slices.ContainsFunc(bounds.Ranges, func(r query.KeyRange) bool { return !r.Point }) {
			return bounds.Ranges, true
		}
	}
	return nil, false
}

func (p *plan) betterThan(other *plan) bool {
	switch {
	case p.equal != other.equal:
		return p.equal > other.equal
	case p.used != other.used:
		return p.used > other.used
	default:
		return p.sorted && !other.sorted
	}
}

// planFor returns how the index serves a filter and a sort, and whether it serves either.
func (x *Index) planFor(filter *query.Filter, sort *query.Sort) (plan, bool) {
	if x.Geo != nil {
		return plan{}, false
	}
	if key, ok := x.keyOf(filter); ok {
		p := plan{index: x, ranges: []query.KeyRange{key}, used: len(x.paths), equal: len(x.paths), exact: true}
		p.sorted, p.backward = x.serves(sort, &p)
		return p, true
	}
	b := boundsBuilder{index: x, filter: filter}
	b.build()
	if b.used == 0 {
		b.ranges = allKeys
	}
	p := plan{index: x, ranges: b.ranges, used: b.used, equal: b.equal, exact: b.isExact() && !x.Cut}
	if x.Spec.Sparse && (p.used == 0 || b.hasNull) {
		return plan{}, false // Documents outside the index may match.
	}
	p.sorted, p.backward = x.serves(sort, &p)
	return p, p.used > 0 || p.sorted
}

// serves reports whether the entries in the ranges of a plan are in the order of a sort, or in the reverse
// order. The sort must include the last key of the index, because documents that are equal by the sort come in
// the order of insertion.
func (x *Index) serves(sort *query.Sort, p *plan) (sorted, backward bool) {
	if sort == nil || x.MultiKey || x.Cut {
		return false, false
	}
	at := 0
	for _, key := range sort.Keys() {
		if slices.ContainsFunc(x.Spec.Keys[:p.equal], func(k store.IndexKey) bool { return k.Path == key.Path }) {
			continue // All entries have the same value for this field.
		}
		i := p.equal + at
		if i == len(x.Spec.Keys) || x.Spec.Keys[i].Path != key.Path || hasNumber(x.paths[i]) {
			return false, false
		}
		opposite := (x.Spec.Keys[i].Kind == query.Descending) != key.Descending
		if at > 0 && opposite != backward {
			return false, false
		}
		backward = opposite
		at++
	}
	return p.equal+at == len(x.Spec.Keys), backward
}

// hasNumber reports whether a part of a path may be an array index. A sort finds values through it that the index
// does not contain.
func hasNumber(path []string) bool {
	return slices.ContainsFunc(path, func(part string) bool { return part[0] >= '0' && part[0] <= '9' })
}

// candidates visits all documents that can match, and possibly others. They are in the order of the sort if the plan
// has it, otherwise in the order of insertion.
func (p *plan) candidates(v View, to Visitor) error {
	switch {
	case p.hasID:
		found, exists, err := v.ByID(p.id)
		if exists && err == nil {
			to.Visit(found.Position, found.Document)
		}
		return err
	case p.hasIDs:
		return v.ByIDs(p.ids, to)
	case p.index == nil:
		return v.All(p.hint, to)
	case p.geo != nil:
		return v.Cells(p.at, p.geoAt, p.geo.ranges(p.cells), to)
	default:
		return v.Range(p.rangeOf(), to)
	}
}

// keys returns the number of keys or ranges of keys that the plan looks up.
func (p *plan) keys() int { return len(p.ids) + len(p.ranges) + len(p.cells) }

// rangeOf returns the part of the index that the plan reads.
func (p *plan) rangeOf() Range {
	return Range{
		Index: p.at, Keys: p.ranges, OneKey: p.isOneKey(),
		Sorted: p.sorted, Backward: p.backward, Exact: p.exact, Hint: p.hint,
	}
}

// isOneKey reports whether the plan reads one complete key of the index.
func (p *plan) isOneKey() bool {
	return len(p.ranges) == 1 && p.ranges[0].Point && p.used == len(p.index.paths)
}

// countsAlone reports whether the number of matching documents can be counted in the index alone.
func (p *plan) countsAlone() bool {
	return p.index != nil && p.geo == nil && p.exact && (!p.index.MultiKey || p.isOneKey())
}

// boundsBuilder finds the ranges of an index for a filter.
type boundsBuilder struct {
	index       *Index
	filter      *query.Filter
	ranges      []query.KeyRange
	used, equal int
	// conditions is the number of conditions that became bounds. inexact is true if some bounds are not exact,
	// hasNull if some include null.
	conditions int
	inexact    bool
	hasNull    bool
}

const (
	// maxRanges limits the combined ranges when several keys have lists of values.
	maxRanges = 256
	// maxConditions limits the conditions on one key whose ranges are combined. All others are only tested on documents.
	maxConditions = 16
)

func (b *boundsBuilder) build() {
	x := b.index
	for i, key := range x.Spec.Keys {
		// In an index with arrays only the first key is used: different elements may meet the conditions on two
		// keys, and then no entry meets both.
		if x.MultiKey && i > 0 {
			return
		}
		found, ok := b.boundsAt(key.Path)
		if !ok || i > 0 && len(found.ranges)*len(b.ranges) > maxRanges {
			return
		}
		b.use(found, key.Kind)
		if slices.ContainsFunc(found.ranges, func(r query.KeyRange) bool { return !r.Point }) {
			return
		}
		if len(b.ranges) <= 1 {
			b.equal++
		}
	}
}

// keyBounds are the ranges of one key that match the filter's conditions.
type keyBounds struct {
	ranges     []query.KeyRange
	conditions int
	inexact    bool
}

func (b *boundsBuilder) boundsAt(path string) (found keyBounds, ok bool) {
	for condition := range b.filter.Conditions() {
		if found.conditions == maxConditions {
			break
		}
		bounds, says := condition.Bounds(path)
		if !says || ok && b.index.MultiKey {
			continue
		}
		if ok {
			found.ranges = query.CommonRanges(found.ranges, bounds.Ranges)
		} else {
			found.ranges = bounds.Ranges
		}
		ok = true
		found.conditions++
		found.inexact = found.inexact || !bounds.Exact
	}
	return found, ok
}

func (b *boundsBuilder) use(found keyBounds, kind query.IndexKind) {
	b.hasNull = b.hasNull || len(query.CommonRanges(found.ranges, nullRange)) > 0
	if kind == query.Descending {
		found.ranges = inverted(found.ranges)
	}
	b.ranges = behind(b.ranges, found.ranges, b.used)
	b.used++
	b.conditions += found.conditions
	b.inexact = b.inexact || found.inexact
}

// keyOf returns the single key for a filter that compares all fields of the index with scalars, and nothing else. The
// result is the same as with a boundsBuilder, but faster.
func (x *Index) keyOf(filter *query.Filter) (query.KeyRange, bool) {
	var room [KeyRoom]byte
	key, ok := x.AppendKeyOf(room[:0], filter)
	if !ok {
		return query.KeyRange{}, false
	}
	return query.KeyRange{From: slices.Clone(key), To: query.KeyAfter(key), Point: true}, true
}

// AppendKeyOf appends the key of the index for a filter that only compares the fields of the index with
// scalars. It reports false for any other filter, or if equal values may have several keys.
func (x *Index) AppendKeyOf(key []byte, filter *query.Filter) (_ []byte, ok bool) {
	if x.MultiKey || x.Cut || x.Geo != nil || filter.FieldCount() != len(x.paths) {
		return key, false
	}
	for i, path := range x.paths {
		value, ok := filter.Equality(x.Spec.Keys[i].Path)
		if !ok || hasNumber(path) {
			return key, false
		}
		key = x.appendPart(key, i, value)
	}
	return key, true
}

// allKeys is the range of all keys. A key begins with at most one 0xff byte: the zero byte of an empty array,
// inverted for descending order. A document has at most one empty array in an index.
var allKeys = []query.KeyRange{{From: []byte{}, To: []byte{0xff, 0xff}}}

var nullRange = []query.KeyRange{{From: document.AppendKey(nil, nil), To: []byte{document.AppendKey(nil, nil)[0] + 1}}}

// isExact reports whether the ranges contain exactly the documents that match the filter.
func (b *boundsBuilder) isExact() bool {
	conditions := 0
	for range b.filter.Conditions() {
		conditions++
	}
	return !b.inexact && conditions == b.conditions
}

// behind returns the ranges of combined keys: each of the points in before, which hold the earlier keys, is
// followed by each of the ranges in after, which hold the last key.
func behind(before, after []query.KeyRange, earlier int) []query.KeyRange {
	if earlier == 0 {
		return after
	}
	ranges := make([]query.KeyRange, 0, len(before)*len(after))
	for _, first := range before {
		for _, second := range after {
			both := make([]byte, 0, 2*len(first.From)+len(second.From)+len(second.To))
			both = append(append(both, first.From...), second.From...)
			end := len(both)
			both = append(append(both, first.From...), second.To...)
			ranges = append(ranges, query.KeyRange{From: both[:end:end], To: both[end:], Point: second.Point})
		}
	}
	return ranges
}

func inverted(ranges []query.KeyRange) []query.KeyRange {
	opposite := make([]query.KeyRange, 0, len(ranges))
	for _, r := range slices.Backward(ranges) {
		if r.Point {
			from := invertedKey(r.From)
			opposite = append(opposite, query.KeyRange{From: from, To: query.KeyAfter(from), Point: true})
			continue
		}
		opposite = append(opposite, query.KeyRange{
			From: query.KeyAfter(invertedKey(r.To)), To: query.KeyAfter(invertedKey(r.From)),
		})
	}
	return opposite
}

func (v View) explain(ctx context.Context, filter *query.Filter, options store.FindOptions) (store.Explanation, error) {
	found, p, err := v.findPlanned(query.NewEvaluation(ctx), filter, options)
	if err != nil {
		return store.Explanation{}, err
	}
	explanation := p.explain()
	explanation.Examined, explanation.Returned = p.examined, int64(len(found))
	return explanation, nil
}

func (p *plan) explain() store.Explanation {
	switch {
	case p.hasID, p.hasIDs:
		return store.Explanation{Index: "_id_", Bound: 1, Exact: p.exact}
	case p.index == nil:
		return store.Explanation{}
	default:
		return store.Explanation{Index: p.index.Name(), Bound: p.used, Exact: p.exact, Sorted: p.sorted}
	}
}

// lookUp returns up to limit documents (0 means all) without a plan or an evaluation. isKey is false if that is
// impossible: the collection must be empty, or the filter may only compare the fields of an index with scalars.
func (v View) lookUp(filter *query.Filter, limit int64) (found []document.Object, isKey bool) {
	source, hasKeys := v.Source.(KeySource)
	if !hasKeys || filter.FieldCount() == 0 {
		return nil, false
	}
	if source.IsEmpty() && filter.Near() == nil { // A $near needs its index even in an empty collection.
		return []document.Object{}, true
	}
	for i := range v.Indexes {
		if found, isKey := source.ByKey(i, filter, limit); isKey {
			return found, true
		}
	}
	return nil, false
}
