package storetest_test

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// oneByOne inserts what it can.
type oneByOne struct{ store.Collection }

func (c oneByOne) Insert(ctx context.Context, documents ...document.Object) error {
	var failures []error
	for _, o := range documents {
		failures = append(failures, c.Collection.Insert(ctx, o))
	}
	return cmp.Or(failures...)
}

// overwriting lets an insert take the place of what is there.
type overwriting struct{ store.Collection }

func (c overwriting) Insert(ctx context.Context, documents ...document.Object) error {
	for _, o := range documents {
		id, ok := o.Field(document.IDField)
		if filter, err := query.CompileFilter(document.O(document.IDField, id)); ok && err == nil {
			if _, err := c.Delete(ctx, filter, store.DeleteOptions{}); err != nil {
				return err
			}
		}
	}
	return c.Collection.Insert(ctx, documents...)
}

// partly changes many documents one by one, until one fails.
type partly struct{ store.Collection }

func (c partly) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	if !options.Multi || options.Upsert || options.Sort != nil || change.Update == nil || change.Update.IsReplacement() {
		return c.Collection.Update(ctx, filter, change, options)
	}
	var total store.UpdateResult
	found, err := c.Find(ctx, filter, store.FindOptions{})
	for _, o := range found {
		id, _ := o.Field(document.IDField)
		only, _ := query.CompileFilter(document.O(document.IDField, id))
		result, err := c.Collection.Update(ctx, query.And(filter, only), change, store.UpdateOptions{})
		if err != nil {
			return total, err
		}
		total.Matched += result.Matched
		total.Modified += result.Modified
	}
	return total, err
}

// partlyFirst changes one document where a part of them may be changed.
type partlyFirst struct{ store.Collection }

func (c partlyFirst) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	options.Multi = options.Multi && !options.Partly
	return c.Collection.Update(ctx, filter, change, options)
}

// inHalves makes a change of which a part may be made one operator after the other.
type inHalves struct{ store.Collection }

func (c inHalves) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (result store.UpdateResult, err error) {
	if !options.Partly || options.Upsert {
		return c.Collection.Update(ctx, filter, change, options)
	}
	for operator, operand := range change.Update.Source().All() {
		if change.Update, err = query.CompileUpdate(document.O(operator, operand)); err != nil {
			return result, err
		}
		if result, err = c.Collection.Update(ctx, filter, change, options); err != nil {
			return result, err
		}
	}
	return result, nil
}

// changing alters each change before it is made.
type changing struct {
	store.Collection

	alter func(*query.Change)
}

func (c changing) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	c.alter(&change)
	return c.Collection.Update(ctx, filter, change, options)
}

func (c changing) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	c.alter(&change)
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

func withoutStamps(change *query.Change)   { change.Stamps = query.Stamps{} }
func withoutFixed(change *query.Change)    { change.Fixed = nil }
func withoutOnInsert(change *query.Change) { change.OnInsert = change.OnInsert.Without("createdAt") }

// modifiedIsMatched counts every match as modified.
type modifiedIsMatched struct{ store.Collection }

func (c modifiedIsMatched) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	result, err := c.Collection.Update(ctx, filter, change, options)
	result.Modified = result.Matched
	return result, err
}

// alwaysNew returns the document as it is after the change.
type alwaysNew struct{ store.Collection }

func (c alwaysNew) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	options.New = true
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

// unsortedModify takes the first in the order of insertion.
type unsortedModify struct{ store.Collection }

func (c unsortedModify) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	options.Sort = nil
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

// twoSteps finds first and changes what it found afterwards. The first two callers
// wait for each other between the steps, so that they always find the same.
type twoSteps struct {
	store.Collection

	meeting *sync.WaitGroup
	once    *[2]sync.Once
}

func newTwoSteps(c store.Collection) store.Collection {
	meeting := &sync.WaitGroup{}
	meeting.Add(2)
	return twoSteps{Collection: c, meeting: meeting, once: &[2]sync.Once{}}
}

func (c twoSteps) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	found, err := c.Find(ctx, filter, store.FindOptions{Sort: options.Sort, Limit: 1})
	if err != nil || len(found) == 0 {
		return store.FindAndModifyResult{}, err
	}
	for i := range c.once {
		met := false
		c.once[i].Do(func() { met = true })
		if met {
			c.meeting.Done()
			c.meeting.Wait()
			break
		}
	}
	after, _, err := change.Apply(filter, found[0])
	if err != nil {
		return store.FindAndModifyResult{}, err
	}
	id, _ := found[0].Field(document.IDField)
	only, _ := query.CompileFilter(document.O(document.IDField, id))
	replacement, _ := query.CompileUpdate(after)
	_, err = c.Update(ctx, only, query.Change{Update: replacement}, store.UpdateOptions{})
	return store.FindAndModifyResult{Document: after, Matched: true, Modified: true}, err
}

// oneRemoved deletes one document where all were meant.
type oneRemoved struct{ store.Collection }

func (c oneRemoved) Delete(
	ctx context.Context, filter *query.Filter, _ store.DeleteOptions,
) (int64, error) {
	return c.Collection.Delete(ctx, filter, store.DeleteOptions{})
}

// uncanceled ignores that a context has ended.
type uncanceled struct{ store.Collection }

func (c uncanceled) Insert(ctx context.Context, documents ...document.Object) error {
	return c.Collection.Insert(context.WithoutCancel(ctx), documents...)
}

// indexing alters each index before it is made.
type indexing struct {
	store.Collection

	alter func(*store.Index)
}

func (c indexing) EnsureIndex(ctx context.Context, index store.Index) error {
	c.alter(&index)
	return c.Collection.EnsureIndex(ctx, index)
}

func withoutUnique(index *store.Index) { index.Unique = false }
func withoutSparse(index *store.Index) { index.Sparse = false }

// internalErrors gives every failed insert the code Internal.
type internalErrors struct{ store.Collection }

func (c internalErrors) Insert(ctx context.Context, documents ...document.Object) error {
	if err := c.Collection.Insert(ctx, documents...); err != nil {
		return boterr.New(boterr.Internal, "", "it failed: %w", err)
	}
	return nil
}

// unsupporting answers Unsupported to all that a store may lack.
type unsupporting struct{ store.Collection }

func unsupported() error { return boterr.New(boterr.Unsupported, "", "this store lacks it") }

func (c unsupporting) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	if filter != nil {
		return nil, unsupported()
	}
	return c.Collection.Find(ctx, filter, options)
}

func (c unsupporting) Insert(ctx context.Context, documents ...document.Object) error {
	for _, o := range documents {
		if list, ok := o.Lookup("a"); !ok || !document.Equal(list, document.A(0)) {
			return unsupported()
		}
	}
	return c.Collection.Insert(ctx, documents...)
}

func (unsupporting) GeoNear(context.Context, *query.GeoNear) ([]query.GeoResult, error) {
	return nil, unsupported()
}

func (unsupporting) Update(
	context.Context, *query.Filter, query.Change, store.UpdateOptions,
) (store.UpdateResult, error) {
	return store.UpdateResult{}, unsupported()
}

func (unsupporting) EnsureIndex(context.Context, store.Index) error { return unsupported() }

// rewriting stores documents otherwise than they were given.
type rewriting struct {
	store.Collection

	rewrite func(any) any
}

func (c rewriting) Insert(ctx context.Context, documents ...document.Object) error {
	rewritten := slices.Clone(documents)
	for i, o := range documents {
		if o.Err() == nil && !o.IsZero() {
			rewritten[i], _ = rewriteInside(o, c.rewrite).(document.Object)
		}
	}
	return c.Collection.Insert(ctx, rewritten...)
}

func rewriteInside(value any, rewrite func(any) any) any {
	switch v := value.(type) {
	case document.Object:
		next := document.O()
		for key, field := range v.All() {
			next = next.With(key, rewriteInside(field, rewrite))
		}
		return rewrite(next)
	case document.Array:
		next := document.A()
		for _, item := range v.All() {
			next = next.Append(rewriteInside(item, rewrite))
		}
		return rewrite(next)
	default:
		return rewrite(value)
	}
}

// The ways of losing something of a value.

func intsAsDoubles(value any) any {
	if i, ok := value.(int64); ok {
		return float64(i)
	}
	return value
}

func wholeDoublesAsInts(value any) any {
	if f, ok := value.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return value
}

func sortedFields(value any) any {
	o, ok := value.(document.Object)
	if !ok {
		return value
	}
	fields := maps.Collect(o.All())
	next := document.O()
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		next = next.With(key, fields[key])
	}
	return next
}

func wholeSeconds(value any) any {
	if t, ok := value.(time.Time); ok {
		return t.Truncate(time.Second)
	}
	return value
}

func cutAtNUL(value any) any {
	if s, ok := value.(string); ok {
		s, _, _ = strings.Cut(s, "\x00")
		return s
	}
	return value
}

func withoutNull(value any) any {
	o, ok := value.(document.Object)
	if !ok {
		return value
	}
	for key, field := range o.All() {
		if field == nil && key != document.IDField {
			o = o.Without(key)
		}
	}
	return o
}
