package memstore

import (
	"context"
	"math/bits"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/document/memstore/internal/persistent"
)

// checkEvery is the number of documents after which a read looks whether its
// context has ended.
const checkEvery = 512

// visit yields the documents that match, in the order of insertion or that of the
// filter's $near, until yield returns false.
func (c *content) visit(
	ctx context.Context, filter *document.Filter, yield func(position uint64, o document.Object) bool,
) error {
	p := c.planFor(filter, nil)
	return c.follow(ctx, filter, &p, yield)
}

// follow yields the documents that match, in the order of a plan for the filter or in
// that of the filter's $near, until yield returns false.
func (c *content) follow(
	ctx context.Context, filter *document.Filter, p *plan, yield func(position uint64, o document.Object) bool,
) error {
	if filter.Near() != nil {
		return c.followNear(ctx, filter, p, yield)
	}
	return c.look(ctx, filter, p, yield)
}

// look yields the documents that match, in the order of a plan for the filter, until
// yield returns false.
func (c *content) look(
	ctx context.Context, filter *document.Filter, p *plan, yield func(position uint64, o document.Object) bool,
) error {
	err := checkEnded(ctx)
	if err != nil {
		return err
	}
	if p.isScan() && !filter.IsCostly() {
		return c.scan(ctx, filter, p, yield)
	}
	every := int64(checkEvery)
	if filter.IsCostly() {
		every = 1
	}
	p.candidates(c, func(position uint64, o document.Object) bool {
		p.examined++
		if p.examined%every == 0 {
			if err = checkEnded(ctx); err != nil {
				return false
			}
		}
		matched := p.exact
		if !matched {
			if matched, err = filter.Check(o); err != nil {
				return false
			}
		}
		return !matched || yield(position, o)
	})
	return err
}

// A batch of the sequence is no more than a filter takes.
const _ = uint(document.BatchSize - persistent.Batch)

// scan looks at all documents, for a filter that is not costly and so cannot fail.
func (c *content) scan(
	ctx context.Context, filter *document.Filter, p *plan, yield func(position uint64, o document.Object) bool,
) (err error) {
	batches := 0
	c.documents.Batches(func(from uint64, documents []document.Object, used uint32) bool {
		batches++
		if batches%(checkEvery/persistent.Batch) == 0 {
			if err = checkEnded(ctx); err != nil {
				return false
			}
		}
		p.examined += int64(bits.OnesCount32(used))
		for matched := filter.Select(documents, used); matched != 0; matched &= matched - 1 {
			i := bits.TrailingZeros32(matched)
			if !yield(from+uint64(i), documents[i]) {
				return false
			}
		}
		return true
	})
	return err
}

// placed is a document and its position.
type placed struct {
	document document.Object
	position uint64
}

// first returns the first document that matches, in the order of a sort; a nil
// sort is the order of insertion.
func (c *content) first(
	ctx context.Context, filter *document.Filter, sort *document.Sort,
) (found placed, ok bool, err error) {
	if sort == nil {
		if id, isID := idOf(filter); isID {
			return c.byID(ctx, filter, id)
		}
	}
	p := c.planFor(filter, sort)
	inOrder := sort == nil || p.sorted
	var unsorted error
	err = c.follow(ctx, filter, &p, func(position uint64, o document.Object) bool {
		if unsorted = sort.Check(o); unsorted != nil {
			return false
		}
		if !ok || sort.Compare(o, found.document) < 0 {
			found, ok = placed{document: o, position: position}, true
		}
		return !inOrder
	})
	if err == nil {
		err = boterr.In("sort", unsorted)
	}
	return found, ok && err == nil, err
}

// find returns the documents that Find is asked for.
func (c *content) find(
	ctx context.Context, filter *document.Filter, options document.FindOptions,
) ([]document.Object, error) {
	if options.Sort == nil && options.Skip == 0 {
		if id, isID := idOf(filter); isID {
			one, ok, err := c.byID(ctx, filter, id)
			found := []document.Object{}
			if ok {
				found = []document.Object{one.document}
			}
			return allProjected(found, filter, options.Projection, err)
		}
	}
	p := c.planFor(filter, options.Sort)
	return c.findBy(ctx, filter, &p, options)
}

// idOf returns the _id of the one document that a filter can match, where it gives one.
func idOf(filter *document.Filter) (id any, ok bool) {
	if filter.Near() != nil {
		return nil, false
	}
	return filter.Equality(document.IDField)
}

// byID returns the one document that a filter which gives an _id can match. It is what a
// plan would find, without a plan.
func (c *content) byID(ctx context.Context, filter *document.Filter, id any) (found placed, ok bool, err error) {
	if err := checkEnded(ctx); err != nil {
		return found, false, err
	}
	found.position, found.document, ok = c.ids.find(&c.documents, id)
	if ok && !filter.IsEquality() {
		ok, err = filter.Check(found.document)
	}
	return found, ok && err == nil, err
}

// findBy is find by a plan.
func (c *content) findBy(
	ctx context.Context, filter *document.Filter, p *plan, options document.FindOptions,
) ([]document.Object, error) {
	found, err := c.findWhole(ctx, filter, p, options)
	return allProjected(found, filter, options.Projection, err)
}

// allProjected applies a projection to what was found, unless finding it failed.
func allProjected(
	found []document.Object, filter *document.Filter, projection *document.Projection, err error,
) ([]document.Object, error) {
	if err != nil || projection == nil {
		return found, err
	}
	for i, o := range found {
		if found[i], err = projected(o, filter, projection); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// findWhole is findBy without the projection.
func (c *content) findWhole(
	ctx context.Context, filter *document.Filter, p *plan, options document.FindOptions,
) ([]document.Object, error) {
	if options.Sort != nil && !p.sorted {
		return c.findSorted(ctx, filter, p, options)
	}
	found := []document.Object{}
	skip := options.Skip
	err := c.follow(ctx, filter, p, func(_ uint64, o document.Object) bool {
		if skip > 0 {
			skip--
			return true
		}
		found = append(found, o)
		return int64(len(found)) != options.Limit
	})
	return found, err
}

func (c *content) findSorted(
	ctx context.Context, filter *document.Filter, p *plan, options document.FindOptions,
) ([]document.Object, error) {
	leaders := leaderboard[document.Object]{compare: options.Sort.Compare, size: options.Skip + options.Limit}
	if options.Limit == 0 || leaders.size < options.Limit { // The sum may overflow.
		leaders.size = 0
	}
	var unsorted error
	err := c.follow(ctx, filter, p, func(_ uint64, o document.Object) bool {
		if unsorted = options.Sort.Check(o); unsorted != nil {
			return false
		}
		leaders.add(o)
		return true
	})
	if err == nil {
		err = boterr.In("sort", unsorted)
	}
	found := leaders.ranking()
	return found[min(options.Skip, int64(len(found))):], err
}

// count returns the number of documents that match.
func (c *content) count(ctx context.Context, filter *document.Filter) (int, error) {
	if filter == nil {
		return c.documents.Len(), checkEnded(ctx)
	}
	p := c.planFor(filter, nil)
	if count, ok := p.count(); ok {
		return count, checkEnded(ctx)
	}
	count := 0
	err := c.follow(ctx, filter, &p, func(uint64, document.Object) bool {
		count++
		return true
	})
	return count, err
}

// distinct returns the different values at a path.
func (c *content) distinct(ctx context.Context, path string, filter *document.Filter) ([]any, error) {
	set := valueSet{values: []any{}, texts: map[string]struct{}{}, keys: map[string]struct{}{}}
	nested := strings.Contains(path, ".")
	err := c.visit(ctx, filter, func(_ uint64, o document.Object) bool {
		if nested {
			for _, value := range document.Values(o, path) {
				set.add(value)
			}
		} else if value, ok := o.Field(path); ok {
			set.addElements(value)
		}
		return true
	})
	return set.values, err
}

// valueSet holds values that are different, in the order in which they came.
type valueSet struct {
	values []any
	// texts are those that are strings, keys the keys of all others.
	texts map[string]struct{}
	keys  map[string]struct{}
	// buffer is where keys are made.
	buffer []byte
}

func (s *valueSet) add(value any) {
	if text, ok := value.(string); ok {
		if _, ok := s.texts[text]; !ok {
			s.texts[text] = struct{}{}
			s.values = append(s.values, value)
		}
		return
	}
	s.buffer = document.AppendKey(s.buffer[:0], value)
	if _, ok := s.keys[string(s.buffer)]; !ok {
		s.keys[string(s.buffer)] = struct{}{}
		s.values = append(s.values, value)
	}
}

// addElements adds a value, or the elements of an array.
func (s *valueSet) addElements(value any) {
	array, ok := value.(document.Array)
	if !ok {
		s.add(value)
		return
	}
	for _, element := range array.All() {
		s.add(element)
	}
}
