package memstore

import (
	"context"
	"iter"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// A plan is the way in which the documents that a filter matches are found.
type plan struct {
	// id, with hasID, is the _id of the only document that can match.
	id    any
	hasID bool
	// ids, with hasIDs, are the keys of the _ids that can match.
	ids    []query.KeyRange
	hasIDs bool
	// index is the secondary index to look into; without it and without an id all
	// documents are looked at.
	index *index
	// spatial is the geo key of the index to look into, and cells where in it.
	spatial *spatialIndex
	cells   []uint64
	// ranges are the keys of the index to look at, in ascending order; if used is 0, all of
	// them.
	ranges []query.KeyRange
	// used is the number of the index's first keys that the ranges bound, and equal
	// the number of these that are bound to one value.
	used, equal int
	// exact is true if each document that the index has there matches.
	exact bool
	// sorted is true if the index has the order of the sort, and backward if it has the reverse.
	sorted, backward bool
	// examined counts the documents that were read, and candidateCount the documents to read, 0 if that is
	// not known.
	examined, candidateCount int64
}

// roomFor returns a list with room for the remaining documents, at most limit if that is above 0.
func (p *plan) roomFor(limit int64) []document.Object {
	if !p.exact {
		return nil
	}
	room := p.candidateCount - p.examined + 1
	if limit > 0 {
		room = min(room, limit)
	}
	return make([]document.Object, 0, max(room, 1))
}

// planFor chooses the way to find the documents that a filter matches, for the order of a sort, which may be
// nil: the geo index that the filter's $near needs; the _id if the filter fixes it, or lists some; else the
// index with the most keys fixed by the filter. Ties go to a geo index, then to the index that is bounded
// further, then to one in the order of the sort, then to the earlier one.
func (c *content) planFor(filter *query.Filter, sort *query.Sort) plan {
	if near := filter.Near(); near != nil {
		p, _ := c.planNear(near, filter)
		return p
	}
	if id, ok := filter.Equality(document.IDField); ok {
		return plan{id: id, hasID: true, exact: filter.IsEquality()}
	}
	if ids, ok := listedIDs(filter); ok {
		return plan{ids: ids, hasIDs: true}
	}
	var best plan
	for i := range c.indexes {
		p, ok := c.indexes[i].planFor(filter, sort)
		if ok && (best.index == nil || p.betterThan(&best)) {
			best = p
		}
	}
	if best.equal == 0 {
		if p, ok := c.planPlaces(filter); ok {
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

// betterThan reports whether a plan is better than an earlier one.
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

// planFor returns how the index serves a filter and a sort, and whether it serves
// one of them.
func (x *index) planFor(filter *query.Filter, sort *query.Sort) (plan, bool) {
	if x.paths == nil {
		return plan{}, false
	}
	if key, ok := x.keyOf(filter); ok {
		p := plan{index: x, ranges: []query.KeyRange{key}, used: len(x.paths), equal: len(x.paths), exact: true}
		p.sorted, p.backward = x.serves(sort, &p)
		return p, true
	}
	b := boundsBuilder{index: x, filter: filter}
	b.build()
	p := plan{index: x, ranges: b.ranges, used: b.used, equal: b.equal, exact: b.isExact()}
	if x.spec.Sparse && (p.used == 0 || b.hasNull) {
		return plan{}, false // Documents that are not in the index may match.
	}
	p.sorted, p.backward = x.serves(sort, &p)
	return p, p.used > 0 || p.sorted
}

// serves reports whether the entries in the ranges of a plan are in the order of a
// sort, or in the opposite one. The sort must go on to the last key of the index, since
// documents that it holds equal come in the order of insertion.
func (x *index) serves(sort *query.Sort, p *plan) (sorted, backward bool) {
	if sort == nil || x.multikey {
		return false, false
	}
	at := 0
	for _, key := range sort.Keys() {
		if slices.ContainsFunc(x.spec.Keys[:p.equal], func(k store.IndexKey) bool { return k.Path == key.Path }) {
			continue // It is the same in all of them.
		}
		i := p.equal + at
		if i == len(x.spec.Keys) || x.spec.Keys[i].Path != key.Path || hasNumber(x.paths[i]) {
			return false, false
		}
		opposite := (x.spec.Keys[i].Kind == query.Descending) != key.Descending
		if at > 0 && opposite != backward {
			return false, false
		}
		backward = opposite
		at++
	}
	return p.equal+at == len(x.spec.Keys), backward
}

// hasNumber reports whether a part of a path may be the index of an element, through
// which a sort finds more than an index holds.
func hasNumber(path []string) bool {
	return slices.ContainsFunc(path, func(part string) bool { return part[0] >= '0' && part[0] <= '9' })
}

// candidates yields all documents that can match, and perhaps others, until yield returns false: in
// the order of the sort if the plan says so, else in the order of insertion.
func (p *plan) candidates(c *content, yield func(position uint64, o document.Object) bool) {
	get := func(position uint64) bool {
		o, _ := c.documents.Get(position)
		return yield(position, o)
	}
	switch {
	case p.hasID:
		if position, o, ok := c.ids.find(&c.documents, p.id); ok {
			yield(position, o)
		}
	case p.hasIDs:
		found := positionSet{end: c.end}
		for _, id := range p.ids {
			if position, ok := c.ids.findKey(&c.documents, id.From); ok {
				found.add(position)
			}
		}
		found.all(get)
	case p.index == nil:
		c.documents.All()(yield)
	case p.spatial != nil:
		p.spatial.within(p.cells, c.end, get)
	case p.sorted:
		p.postings(func(there postings) bool { return there.all(get) })
	case p.isOneKey():
		if there, ok := p.index.entries.Get(string(p.ranges[0].From)); ok {
			p.candidateCount = int64(there.count())
			there.all(get)
		}
	default:
		found := positionSet{end: c.end}
		p.postings(func(there postings) bool {
			return there.all(func(position uint64) bool {
				found.add(position)
				return true
			})
		})
		p.candidateCount = found.count()
		found.all(get)
	}
}

// isScan reports whether the plan looks at all documents, for which scan is faster.
func (p *plan) isScan() bool { return !p.hasID && !p.hasIDs && p.index == nil }

// isOneKey reports whether the plan looks at one whole key of the index.
func (p *plan) isOneKey() bool {
	return len(p.ranges) == 1 && p.ranges[0].Point && p.used == len(p.index.paths)
}

// postings yields the postings of the plan's ranges in its order, until yield returns
// false.
func (p *plan) postings(yield func(postings) bool) {
	entries := &p.index.entries
	switch {
	case p.used == 0 && p.backward:
		eachPostings(entries.Backward(), yield)
	case p.used == 0:
		eachPostings(entries.All(), yield)
	case p.backward:
		for _, r := range slices.Backward(p.ranges) {
			if !entriesDown(entries, r, yield) {
				return
			}
		}
	default:
		for _, r := range p.ranges {
			if !entriesUp(entries, r, yield) {
				return
			}
		}
	}
}

func eachPostings(entries iter.Seq2[string, postings], yield func(postings) bool) {
	for _, there := range entries {
		if !yield(there) {
			return
		}
	}
}

func entriesUp(entries *persistent.Tree[string, postings], r query.KeyRange, yield func(postings) bool) bool {
	to := string(r.To)
	for key, there := range entries.From(string(r.From)) {
		if key >= to {
			break
		}
		if !yield(there) {
			return false
		}
	}
	return true
}

// entriesDown is entriesUp in descending order.
func entriesDown(entries *persistent.Tree[string, postings], r query.KeyRange, yield func(postings) bool) bool {
	from := string(r.From)
	for key, there := range entries.Before(string(r.To)) {
		if key < from {
			break
		}
		if !yield(there) {
			return false
		}
	}
	return true
}

// count returns the number of documents that the filter matches, if the index alone shows it.
func (p *plan) count() (int, bool) {
	if p.index == nil || !p.exact || p.index.multikey && !p.isOneKey() {
		return 0, false
	}
	count := 0
	p.postings(func(there postings) bool {
		count += there.count()
		return true
	})
	return count, true
}

// boundsBuilder finds the ranges of an index that a filter needs.
type boundsBuilder struct {
	index       *index
	filter      *query.Filter
	ranges      []query.KeyRange
	used, equal int
	// conditions is the number of conditions whose bounds are in use, inexact is true if bounds of one are
	// not exact, hasNull if bounds of one include null.
	conditions int
	inexact    bool
	hasNull    bool
}

// maxRanges is the most ranges that lists of values at several keys may make.
const maxRanges = 256

func (b *boundsBuilder) build() {
	x := b.index
	for i, key := range x.spec.Keys {
		// In an index with arrays only the first key is used: two conditions may be met by two elements, and
		// no entry holds both.
		if x.multikey && i > 0 {
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

// keyBounds are the ranges that conditions of the filter leave of one key.
type keyBounds struct {
	ranges     []query.KeyRange
	conditions int
	inexact    bool
}

func (b *boundsBuilder) boundsAt(path string) (found keyBounds, ok bool) {
	for condition := range b.filter.Conditions() {
		bounds, says := condition.Bounds(path)
		if !says || ok && b.index.multikey {
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

// keyOf returns the key of the index for a filter that only compares the fields of the index with scalars:
// the result of boundsBuilder, in one step.
func (x *index) keyOf(filter *query.Filter) (query.KeyRange, bool) {
	var room [keyRoom]byte
	key, ok := x.appendKeyOf(room[:0], filter)
	if !ok {
		return query.KeyRange{}, false
	}
	return query.KeyRange{From: slices.Clone(key), To: query.KeyAfter(key), Point: true}, true
}

func (x *index) appendKeyOf(key []byte, filter *query.Filter) (_ []byte, ok bool) {
	if x.multikey || x.paths == nil || filter.FieldCount() != len(x.paths) {
		return key, false
	}
	for i, path := range x.paths {
		value, ok := filter.Equality(x.spec.Keys[i].Path)
		if !ok || hasNumber(path) {
			return key, false
		}
		key = x.appendPart(key, i, value)
	}
	return key, true
}

var nullRange = []query.KeyRange{{From: document.AppendKey(nil, nil), To: []byte{document.AppendKey(nil, nil)[0] + 1}}}

// isExact reports whether the ranges hold exactly the documents that the filter matches.
func (b *boundsBuilder) isExact() bool {
	conditions := 0
	for range b.filter.Conditions() {
		conditions++
	}
	return !b.inexact && conditions == b.conditions
}

// behind returns the ranges of lists of keys: the earlier keys are in the ranges before, all of
// which are points, and the last key is in the ranges after.
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

// Explanation describes how a store finds documents.
type Explanation struct {
	// Index is the name of the index that the store uses, as MongoDB names it: "area_1_price_-1", "_id_" for
	// the _id. It is empty if all documents are read.
	Index string
	// Bound is the number of the index's first keys that the filter bounds.
	Bound int
	// Exact is true if all documents from the index match, so that none is compared with the filter.
	Exact bool
	// Sorted is true if the index gives the order of the sort, so that nothing is sorted, and a limit ends
	// the search.
	Sorted bool
	// Examined is the number of documents that the store looks at, Returned the
	// number that it returns.
	Examined, Returned int64
}

// Explain finds documents as Find of the collection does, and describes how. Count, Distinct, Update,
// FindAndModify and Delete use the same index.
func (s *Store) Explain(
	ctx context.Context, collectionName string, filter *query.Filter, options store.FindOptions,
) (Explanation, error) {
	if err := options.Check(); err != nil {
		return Explanation{}, err
	}
	c := &collection{store: s, name: collectionName, err: store.CheckName(collectionName)}
	now, err := c.newest()
	if err != nil {
		return Explanation{}, err
	}
	filter = c.at(filter)
	p := now.planFor(filter, options.Sort)
	found, err := now.findBy(query.NewEvaluation(ctx), filter, &p, options)
	if err != nil {
		return Explanation{}, err
	}
	explanation := p.explain()
	explanation.Examined, explanation.Returned = p.examined, int64(len(found))
	return explanation, nil
}

func (p *plan) explain() Explanation {
	switch {
	case p.hasID, p.hasIDs:
		return Explanation{Index: "_id_", Bound: 1, Exact: p.exact}
	case p.index == nil:
		return Explanation{}
	default:
		return Explanation{Index: p.index.name(), Bound: p.used, Exact: p.exact, Sorted: p.sorted}
	}
}

// lookUp returns up to limit documents, 0 for all, for a filter that only compares the fields of an index
// with scalars. It needs neither a plan nor an evaluation, and reports whether the filter is of that kind.
func (c *content) lookUp(
	ctx context.Context, filter *query.Filter, limit int64,
) (found []document.Object, isTold bool, err error) {
	if filter.FieldCount() == 0 {
		return nil, false, nil
	}
	for i := range c.indexes {
		if there, ok, isKey := c.indexes[i].lookUp(filter); isKey && ok {
			found, err = c.at(ctx, &there, limit)
			return found, true, err
		} else if isKey {
			return []document.Object{}, true, checkEnded(ctx)
		}
	}
	return nil, false, nil
}

// lookUp returns the positions of the documents that a filter finds, whether there are any, and whether it
// names the fields of the index and nothing else.
func (x *index) lookUp(filter *query.Filter) (there postings, ok, isKey bool) {
	var room [keyRoom]byte
	key, isKey := x.appendKeyOf(room[:0], filter)
	if !isKey {
		return postings{}, false, false
	}
	there, ok = x.entries.Get(string(key))
	return there, ok, true
}

// at returns up to limit of the documents at some positions.
func (c *content) at(ctx context.Context, there *postings, limit int64) ([]document.Object, error) {
	if err := checkEnded(ctx); err != nil {
		return []document.Object{}, err
	}
	if limit == 1 {
		o, _ := c.documents.Get(there.first)
		return []document.Object{o}, nil
	}
	room := int64(there.count())
	if limit > 0 {
		room = min(room, limit)
	}
	found := make([]document.Object, 0, room)
	var err error
	there.all(func(position uint64) bool {
		if len(found)%checkEvery == checkEvery-1 {
			err = checkEnded(ctx)
		}
		o, _ := c.documents.Get(position)
		found = append(found, o)
		return err == nil && int64(len(found)) < room
	})
	return found, err
}
