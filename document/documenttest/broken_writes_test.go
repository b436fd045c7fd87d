package documenttest_test

import (
	"cmp"
	"context"
	"sync"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// oneByOne inserts what it can.
type oneByOne struct{ document.Collection }

func (c oneByOne) Insert(ctx context.Context, documents ...document.Object) error {
	var failures []error
	for _, o := range documents {
		failures = append(failures, c.Collection.Insert(ctx, o))
	}
	return cmp.Or(failures...)
}

// overwriting lets an insert take the place of what is there.
type overwriting struct{ document.Collection }

func (c overwriting) Insert(ctx context.Context, documents ...document.Object) error {
	for _, o := range documents {
		id, ok := o.Field(document.IDField)
		if filter, err := document.CompileFilter(document.O(document.IDField, id)); ok && err == nil {
			if _, err := c.Delete(ctx, filter, document.DeleteOptions{}); err != nil {
				return err
			}
		}
	}
	return c.Collection.Insert(ctx, documents...)
}

// partly changes many documents one by one, until one fails.
type partly struct{ document.Collection }

func (c partly) Update(
	ctx context.Context, filter *document.Filter, change document.Change, options document.UpdateOptions,
) (document.UpdateResult, error) {
	if !options.Multi || options.Upsert || options.Sort != nil || change.Update == nil || change.Update.IsReplacement() {
		return c.Collection.Update(ctx, filter, change, options)
	}
	var total document.UpdateResult
	found, err := c.Find(ctx, filter, document.FindOptions{})
	for _, o := range found {
		id, _ := o.Field(document.IDField)
		only, _ := document.CompileFilter(document.O(document.IDField, id))
		result, err := c.Collection.Update(ctx, document.And(filter, only), change, document.UpdateOptions{})
		if err != nil {
			return total, err
		}
		total.Matched += result.Matched
		total.Modified += result.Modified
	}
	return total, err
}

// changing alters each change before it is made.
type changing struct {
	document.Collection

	alter func(*document.Change)
}

func (c changing) Update(
	ctx context.Context, filter *document.Filter, change document.Change, options document.UpdateOptions,
) (document.UpdateResult, error) {
	c.alter(&change)
	return c.Collection.Update(ctx, filter, change, options)
}

func (c changing) FindAndModify(
	ctx context.Context, filter *document.Filter, change document.Change, options document.FindAndModifyOptions,
) (document.FindAndModifyResult, error) {
	c.alter(&change)
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

func withoutStamps(change *document.Change)   { change.Stamps = document.Stamps{} }
func withoutFixed(change *document.Change)    { change.Fixed = nil }
func withoutOnInsert(change *document.Change) { change.OnInsert = change.OnInsert.Without("createdAt") }

// modifiedIsMatched counts every match as modified.
type modifiedIsMatched struct{ document.Collection }

func (c modifiedIsMatched) Update(
	ctx context.Context, filter *document.Filter, change document.Change, options document.UpdateOptions,
) (document.UpdateResult, error) {
	result, err := c.Collection.Update(ctx, filter, change, options)
	result.Modified = result.Matched
	return result, err
}

// alwaysNew returns the document as it is after the change.
type alwaysNew struct{ document.Collection }

func (c alwaysNew) FindAndModify(
	ctx context.Context, filter *document.Filter, change document.Change, options document.FindAndModifyOptions,
) (document.FindAndModifyResult, error) {
	options.New = true
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

// unsortedModify takes the first in the order of insertion.
type unsortedModify struct{ document.Collection }

func (c unsortedModify) FindAndModify(
	ctx context.Context, filter *document.Filter, change document.Change, options document.FindAndModifyOptions,
) (document.FindAndModifyResult, error) {
	options.Sort = nil
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

// twoSteps finds first and changes what it found afterwards. The first two callers
// wait for each other between the steps, so that they always find the same.
type twoSteps struct {
	document.Collection

	meeting *sync.WaitGroup
	once    *[2]sync.Once
}

func newTwoSteps(c document.Collection) document.Collection {
	meeting := &sync.WaitGroup{}
	meeting.Add(2)
	return twoSteps{Collection: c, meeting: meeting, once: &[2]sync.Once{}}
}

func (c twoSteps) FindAndModify(
	ctx context.Context, filter *document.Filter, change document.Change, options document.FindAndModifyOptions,
) (document.FindAndModifyResult, error) {
	found, err := c.Find(ctx, filter, document.FindOptions{Sort: options.Sort, Limit: 1})
	if err != nil || len(found) == 0 {
		return document.FindAndModifyResult{}, err
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
		return document.FindAndModifyResult{}, err
	}
	id, _ := found[0].Field(document.IDField)
	only, _ := document.CompileFilter(document.O(document.IDField, id))
	replacement, _ := document.CompileUpdate(after)
	_, err = c.Update(ctx, only, document.Change{Update: replacement}, document.UpdateOptions{})
	return document.FindAndModifyResult{Document: after, Matched: true, Modified: true}, err
}

// oneRemoved deletes one document where all were meant.
type oneRemoved struct{ document.Collection }

func (c oneRemoved) Delete(
	ctx context.Context, filter *document.Filter, _ document.DeleteOptions,
) (int64, error) {
	return c.Collection.Delete(ctx, filter, document.DeleteOptions{})
}

// uncanceled ignores that a context has ended.
type uncanceled struct{ document.Collection }

func (c uncanceled) Insert(ctx context.Context, documents ...document.Object) error {
	return c.Collection.Insert(context.WithoutCancel(ctx), documents...)
}

// indexing alters each index before it is made.
type indexing struct {
	document.Collection

	alter func(*document.Index)
}

func (c indexing) EnsureIndex(ctx context.Context, index document.Index) error {
	c.alter(&index)
	return c.Collection.EnsureIndex(ctx, index)
}

func withoutUnique(index *document.Index) { index.Unique = false }
func withoutSparse(index *document.Index) { index.Sparse = false }

// internalErrors gives every failed insert the code Internal.
type internalErrors struct{ document.Collection }

func (c internalErrors) Insert(ctx context.Context, documents ...document.Object) error {
	if err := c.Collection.Insert(ctx, documents...); err != nil {
		return boterr.New(boterr.Internal, "", "it failed: %w", err)
	}
	return nil
}

// unsupporting answers Unsupported to all that a store may lack.
type unsupporting struct{ document.Collection }

func unsupported() error { return boterr.New(boterr.Unsupported, "", "this store lacks it") }

func (c unsupporting) Find(
	ctx context.Context, filter *document.Filter, options document.FindOptions,
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

func (unsupporting) GeoNear(context.Context, *document.GeoNear) ([]document.GeoResult, error) {
	return nil, unsupported()
}

func (unsupporting) Update(
	context.Context, *document.Filter, document.Change, document.UpdateOptions,
) (document.UpdateResult, error) {
	return document.UpdateResult{}, unsupported()
}

func (unsupporting) EnsureIndex(context.Context, document.Index) error { return unsupported() }
