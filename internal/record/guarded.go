package record

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Guard returns a store whose panics are errors of its methods: Internal, with
// *boterr.PanicError behind them. One that can be watched still can, by a store.Watcher whose panics
// are not errors. What else the store can do beside the methods of store.Store is not there any more.
// A store that Guard has returned is returned as it is.
//
// It opens a collection once: the first few that it is asked for are handed out as they are.
func Guard(inner store.Store) store.Store {
	if asGuarded(inner) != nil {
		return inner
	}
	guarded := &guardedStore{store: inner}
	if watcher, ok := inner.(store.Watcher); ok {
		return guardedWatcher{guarded, watcher}
	}
	return guarded
}

// guardedWatcher is a guarded store that can be watched.
type guardedWatcher struct {
	*guardedStore
	store.Watcher
}

// asGuarded returns what Guard has returned as such, nil for any other store.
func asGuarded(s store.Store) *guardedStore {
	switch g := s.(type) {
	case *guardedStore:
		return g
	case guardedWatcher:
		return g.guardedStore
	default:
		return nil
	}
}

// guardedStore is a store whose panics are errors.
type guardedStore struct {
	store store.Store
	// opened are the collections that are kept open, the first ones: there are fewer kinds of records. Others are
	// opened anew, since who calls may name any data source.
	opened [16]atomic.Pointer[guardedCollection]
}

// guarded calls a store.
func guarded[T any](call func() (T, error)) (result T, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = boterr.Recovered(thrown)
		}
	}()
	return call()
}

// Now implements store.Store.
func (g *guardedStore) Now(ctx context.Context) (time.Time, error) {
	return guarded(func() (time.Time, error) { return g.store.Now(ctx) })
}

// Collection implements store.Store.
func (g *guardedStore) Collection(name string) store.Collection { return g.collection(name) }

// guardedIn returns a collection of a store, guarded if the store is not.
func guardedIn(store store.Store, name string) *guardedCollection {
	if g := asGuarded(store); g != nil {
		return g.collection(name)
	}
	return &guardedCollection{store: store, name: name}
}

func (g *guardedStore) collection(name string) *guardedCollection {
	for i := range g.opened {
		known := g.opened[i].Load()
		if known == nil {
			known = &guardedCollection{store: g.store, name: name}
			if !g.opened[i].CompareAndSwap(nil, known) {
				known = g.opened[i].Load()
			}
		}
		if known.name == name {
			return known
		}
	}
	return &guardedCollection{store: g.store, name: name}
}

// guardedCollection is a collection of a guarded store, which is asked for it by the first method that
// is called, and again by the next where it breaks.
type guardedCollection struct {
	store store.Store
	name  string

	asking  sync.Mutex
	known   store.Collection
	isKnown atomic.Bool
}

func (g *guardedCollection) of() store.Collection {
	if g.isKnown.Load() {
		return g.known
	}
	g.asking.Lock()
	defer g.asking.Unlock()
	if !g.isKnown.Load() {
		g.known = g.store.Collection(g.name)
		g.isKnown.Store(true)
	}
	return g.known
}

// Find implements store.Collection.
func (g *guardedCollection) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	return guarded(func() ([]document.Object, error) { return g.of().Find(ctx, filter, options) })
}

// Count implements store.Collection.
func (g *guardedCollection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	return guarded(func() (int64, error) { return g.of().Count(ctx, filter) })
}

// Distinct implements store.Collection.
func (g *guardedCollection) Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error) {
	return guarded(func() ([]any, error) { return g.of().Distinct(ctx, path, filter) })
}

// GeoNear implements store.Collection.
func (g *guardedCollection) GeoNear(ctx context.Context, search *query.GeoNear) ([]query.GeoResult, error) {
	return guarded(func() ([]query.GeoResult, error) { return g.of().GeoNear(ctx, search) })
}

// Insert implements store.Collection.
func (g *guardedCollection) Insert(ctx context.Context, documents ...document.Object) error {
	_, err := guarded(func() (struct{}, error) { return struct{}{}, g.of().Insert(ctx, documents...) })
	return err
}

// Update implements store.Collection.
func (g *guardedCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	return guarded(func() (store.UpdateResult, error) { return g.of().Update(ctx, filter, change, options) })
}

// FindAndModify implements store.Collection.
func (g *guardedCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	return guarded(func() (store.FindAndModifyResult, error) {
		return g.of().FindAndModify(ctx, filter, change, options)
	})
}

// Delete implements store.Collection.
func (g *guardedCollection) Delete(
	ctx context.Context, filter *query.Filter, options store.DeleteOptions,
) (int64, error) {
	return guarded(func() (int64, error) { return g.of().Delete(ctx, filter, options) })
}

// EnsureIndex implements store.Collection.
func (g *guardedCollection) EnsureIndex(ctx context.Context, index store.Index) error {
	_, err := guarded(func() (struct{}, error) { return struct{}{}, g.of().EnsureIndex(ctx, index) })
	return err
}

// Patch is a caller's change of records.
type Patch struct {
	Filter document.Object
	// Patch is an update document or a replacement with WithModifier, else fields to
	// set.
	Patch        document.Object
	WithModifier bool
	ArrayFilters []document.Object
	SortBy       document.Object
	Upsert       bool
	// Multi changes all records that match; FindAndModify ignores it.
	Multi bool
	// Projection says which fields of the record FindAndModify returns; Update ignores
	// it.
	Projection document.Object
}

// Update changes the first record that matches, or all of them with Multi.
func (c *Collection) Update(ctx context.Context, p Patch) (store.UpdateResult, error) {
	compiled, err := c.compile(p)
	if err != nil {
		return store.UpdateResult{}, err
	}
	if p.Multi && compiled.change.Update.IsReplacement() {
		return store.UpdateResult{}, boterr.Invalid("patch", "a replacement changes one record; use operators such as $set with multi")
	}
	result, err := c.stored.Update(ctx, compiled.filter, compiled.change, store.UpdateOptions{
		Multi: p.Multi, Sort: compiled.sort, Upsert: p.Upsert,
	})
	return result, patchError(err)
}

// FindAndModify changes the first record that matches, and returns it as it was
// before, or as it is now with returnNew, in one atomic step.
func (c *Collection) FindAndModify(ctx context.Context, p Patch, returnNew bool) (store.FindAndModifyResult, error) {
	compiled, err := c.compile(p)
	if err != nil {
		return store.FindAndModifyResult{}, err
	}
	projection, err := c.projection(p.Projection)
	if err != nil {
		return store.FindAndModifyResult{}, err
	}
	result, err := c.stored.FindAndModify(ctx, compiled.filter, compiled.change, store.FindAndModifyOptions{
		Sort: compiled.sort, Upsert: p.Upsert, New: returnNew, Projection: projection,
	})
	return result, patchError(err)
}

// Delete removes the records that match and returns how many they were.
func (c *Collection) Delete(ctx context.Context, filter document.Object) (int64, error) {
	compiled, err := c.filter(filter)
	if err != nil {
		return 0, err
	}
	deleted, err := c.stored.Delete(ctx, compiled, store.DeleteOptions{Multi: true})
	return deleted, err
}

// compiledPatch is a Patch, compiled and narrowed to the scope.
type compiledPatch struct {
	filter *query.Filter
	sort   *query.Sort
	change query.Change
}

func (c *Collection) compile(p Patch) (compiledPatch, error) {
	filter, err := c.filter(p.Filter)
	if err != nil {
		return compiledPatch{}, err
	}
	sort, err := c.sort(p.SortBy)
	if err != nil {
		return compiledPatch{}, err
	}
	update, err := c.update(p)
	if err != nil {
		return compiledPatch{}, err
	}
	change := c.change(update)
	if p.Upsert {
		id, _ := filter.Equality(FieldID)
		change.OnInsert = c.onInsert(id)
	}
	return compiledPatch{filter: filter, sort: sort, change: change}, nil
}

// update compiles the update of a patch.
func (c *Collection) update(p Patch) (*query.Update, error) {
	if p.Patch.IsZero() {
		return nil, boterr.Missing("patch", adviceOf(p))
	}
	source, prefix := p.Patch, ""
	if !p.WithModifier {
		if err := requireFields(p.Patch); err != nil {
			return nil, err
		}
		source, prefix = document.O("$set", p.Patch), "$set"
	}
	update, err := c.compiler.Update(source, p.ArrayFilters...)
	if err == nil {
		return update, nil
	}
	if e, ok := boterr.AsError(err); ok && strings.HasPrefix(e.Field, "arrayFilters") {
		return nil, err
	}
	return nil, boterr.PrefixField("patch", withoutPrefix(err, prefix))
}

// adviceOf says what a patch is to hold.
func adviceOf(p Patch) string {
	if p.WithModifier {
		return `an update, such as {"$set": {"name": "Ada"}}; fields without an operator replace the whole record`
	}
	return "the fields to set"
}

// requireFields refuses operators where a patch is the fields to set: stores would take
// them for names of fields where nothing matches, or where an upsert inserts.
func requireFields(patch document.Object) error {
	for name := range patch.All() {
		if strings.HasPrefix(name, "$") {
			err := boterr.Invalid(name, "looks like an operator, and without withModifier a patch is the fields to set; set withModifier")
			return boterr.PrefixField("patch", err)
		}
	}
	return nil
}

// change returns the change that an update makes, with what this layer adds.
func (c *Collection) change(update *query.Update) query.Change {
	now := c.now()
	change := query.Change{
		Update: update,
		Now:    now,
		Fixed:  c.fixed(),
		Kept:   c.kind.Kept,
	}
	if i := slices.Index(c.kind.Stamps, FieldVersion); i >= 0 {
		change.Stamps.Increment = c.kind.Stamps[i : i+1 : i+1]
	}
	renewed := c.kind.renewed()
	change.Stamps.Set = renewed.Object(func(i int) any {
		if renewed.Names()[i] == FieldEtag {
			return c.newEtag()
		}
		return int64(document.TimestampOf(now))
	})
	return change
}

// fixed returns the fields that no update can change, beside _id.
func (c *Collection) fixed() []string {
	if c.kind.fixes(c.scope) {
		return c.kind.Fixed
	}
	fixed := make([]string, 0, 1+len(c.kind.Fixed)+len(c.scope))
	fixed = append(append(fixed, FieldCreatedAt), c.kind.Fixed...)
	for _, scoped := range c.scope {
		fixed = append(fixed, scoped.Name)
	}
	return fixed
}

// patchError calls the parameters that a store's error names as a Patch does.
func patchError(err error) error {
	return RenameField(RenameField(err, "update", "patch"), "sort", "sortBy")
}

// withoutPrefix returns err with the first part of its field cut off.
func withoutPrefix(err error, prefix string) error {
	e, ok := boterr.AsError(err)
	if !ok || prefix == "" || !strings.HasPrefix(e.Field, prefix) {
		return err
	}
	cut := *e
	cut.Field = strings.TrimPrefix(strings.TrimPrefix(e.Field, prefix), ".")
	return &cut
}
