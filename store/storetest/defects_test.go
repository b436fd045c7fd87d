package storetest_test

import (
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
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// call is a call of a Collection: its arguments and, once it has returned, its results.
type call struct {
	ctx    context.Context
	method string
	inner  store.Collection
	// isDone is true if the results are set, so that the call is not passed on.
	isDone bool

	filter    *query.Filter
	change    query.Change
	find      store.FindOptions
	update    store.UpdateOptions
	modify    store.FindAndModifyOptions
	remove    store.DeleteOptions
	index     store.Index
	documents []document.Object

	found    []document.Object
	count    int64
	values   []any
	near     []query.GeoResult
	updated  store.UpdateResult
	modified store.FindAndModifyResult
	err      error
}

// defect makes a store break a rule. before alters the arguments of each call or sets its results; after
// alters its results. breaks are rules that must notice it; others may as well.
type defect struct {
	before, after func(*call)
	breaks        []string
}

// broken is a correct store with one defect.
type broken struct {
	store.Store
	defect
}

func (s broken) Collection(name string) store.Collection {
	return brokenCollection{s.Store.Collection(name), s.defect}
}

type brokenCollection struct {
	store.Collection
	defect
}

// do carries out a call with the defect.
func (c brokenCollection) do(made *call, pass func()) {
	made.inner = c.Collection
	if c.before != nil {
		c.before(made)
	}
	if !made.isDone {
		pass()
	}
	if c.after != nil {
		c.after(made)
	}
}

func (c brokenCollection) Get(ctx context.Context, id any) (found document.Object, exists bool, err error) {
	made := &call{ctx: ctx, method: "Get"}
	c.do(made, func() { found, exists, made.err = c.Collection.Get(made.ctx, id) })
	return found, exists, made.err
}

func (c brokenCollection) Find(ctx context.Context, filter *query.Filter, options store.FindOptions) ([]document.Object, error) {
	made := &call{ctx: ctx, method: "Find", filter: filter, find: options}
	c.do(made, func() { made.found, made.err = c.Collection.Find(made.ctx, made.filter, made.find) })
	return made.found, made.err
}

func (c brokenCollection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	made := &call{ctx: ctx, method: "Count", filter: filter}
	c.do(made, func() { made.count, made.err = c.Collection.Count(made.ctx, made.filter) })
	return made.count, made.err
}

func (c brokenCollection) Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error) {
	made := &call{ctx: ctx, method: "Distinct", filter: filter}
	c.do(made, func() { made.values, made.err = c.Collection.Distinct(made.ctx, path, made.filter) })
	return made.values, made.err
}

func (c brokenCollection) GeoNear(ctx context.Context, search *query.GeoNear) ([]query.GeoResult, error) {
	made := &call{ctx: ctx, method: "GeoNear"}
	c.do(made, func() { made.near, made.err = c.Collection.GeoNear(made.ctx, search) })
	return made.near, made.err
}

func (c brokenCollection) Insert(ctx context.Context, documents ...document.Object) error {
	made := &call{ctx: ctx, method: "Insert", documents: documents}
	c.do(made, func() { made.err = c.Collection.Insert(made.ctx, made.documents...) })
	return made.err
}

func (c brokenCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	made := &call{ctx: ctx, method: "Update", filter: filter, change: change, update: options}
	c.do(made, func() { made.updated, made.err = c.Collection.Update(made.ctx, made.filter, made.change, made.update) })
	return made.updated, made.err
}

func (c brokenCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	made := &call{ctx: ctx, method: "FindAndModify", filter: filter, change: change, modify: options}
	c.do(made, func() {
		made.modified, made.err = c.Collection.FindAndModify(made.ctx, made.filter, made.change, made.modify)
	})
	return made.modified, made.err
}

func (c brokenCollection) Delete(ctx context.Context, filter *query.Filter, options store.DeleteOptions) (int64, error) {
	made := &call{ctx: ctx, method: "Delete", filter: filter, remove: options}
	c.do(made, func() { made.count, made.err = c.Collection.Delete(made.ctx, made.filter, made.remove) })
	return made.count, made.err
}

func (c brokenCollection) EnsureIndex(ctx context.Context, index store.Index) error {
	made := &call{ctx: ctx, method: "EnsureIndex", index: index}
	c.do(made, func() { made.err = c.Collection.EnsureIndex(made.ctx, made.index) })
	return made.err
}

// defectsOfMethods are the ways to break any method.
var defectsOfMethods = map[string]defect{
	"does nothing":        {before: func(c *call) { c.isDone = true }},
	"fails":               {before: func(c *call) { c.isDone, c.err = true, boterr.New(boterr.Internal, "", "it is broken") }},
	"refuses nothing":     {after: func(c *call) { c.err = nil }},
	"has no codes":        {after: withoutCode},
	"ignores its context": {before: func(c *call) { c.ctx = context.WithoutCancel(c.ctx) }},
}

var methods = []string{
	"Get", "Find", "Count", "Distinct", "GeoNear", "Insert", "Update", "FindAndModify", "Delete", "EnsureIndex",
}

// of returns a defect in a single method.
func (d defect) of(method string) defect {
	only := func(do func(*call)) func(*call) {
		if do == nil {
			return nil
		}
		return func(c *call) {
			if c.method == method {
				do(c)
			}
		}
	}
	return defect{before: only(d.before), after: only(d.after)}
}

// allDefects returns the defects of each single method, and the map defects.
func allDefects() map[string]defect {
	all := maps.Clone(defects)
	for _, method := range []string{"Find", "Count", "Distinct", "Update", "FindAndModify", "Delete"} {
		all[method+" ignores its filter"] = defect{before: func(c *call) { c.filter = nil }}.of(method)
	}
	for _, method := range methods {
		for name, d := range defectsOfMethods {
			all[method+" "+name] = d.of(method)
		}
	}
	return all
}

func withoutCode(c *call) {
	if c.err != nil {
		c.err = boterr.New(boterr.Internal, "", "it failed: %w", c.err)
	}
}

// defects are the ways to break behaviour common to several methods, or an argument of one.
var defects = map[string]defect{
	"finds by _id": {before: func(c *call) {
		if c.find.Sort == nil {
			c.find.Sort, _ = query.CompileSort(document.O("_id", 1))
		}
	}, breaks: []string{"FindReturnsInsertionOrder", "NearComesNearestFirst"}},
	"no sort":       {before: func(c *call) { c.find.Sort = nil }, breaks: []string{"SortOrdersByEachKeyInTurn"}},
	"unstable sort": {before: sortUnstably, breaks: []string{"SortTiesKeepInsertionOrder"}},
	"no empty arrays in order": {after: func(c *call) {
		if c.find.Sort != nil {
			c.found = slices.DeleteFunc(slices.Clone(c.found), func(o document.Object) bool { return document.Equal(o.Value("a"), document.A()) })
		}
	}, breaks: []string{"DescendingIndexHoldsEmptyArrays"}},
	"all beyond contradictory bounds": {before: func(c *call) {
		if c.filter != nil && strings.Contains(c.filter.Source().String(), `{"$gt":5,"$lt":1}`) {
			c.filter = nil
		}
	}, breaks: []string{"ContradictoryBoundsMatchNothing"}},
	"no skip":  {before: func(c *call) { c.find.Skip = min(c.find.Skip, 0) }, breaks: []string{"FindSkipsAndLimits"}},
	"no limit": {before: func(c *call) { c.find.Limit = min(c.find.Limit, 0) }, breaks: []string{"FindSkipsAndLimits"}},
	"no projection": {before: func(c *call) { c.find.Projection, c.modify.Projection = nil, nil }, breaks: []string{
		"FindProjects", "ProjectionCutsArrays", "ProjectionWithoutAPositionIsRefused", "FindAndModifyProjects",
	}},
	"projections before filters":   {before: projectFirst, breaks: []string{"FilterAndSortSeeWholeDocuments"}},
	"projections after the change": {before: projectLate, breaks: []string{"FindAndModifyRefusesAProjectionWhole"}},
	"nil slices":                   {after: func(c *call) { c.found = slices.Clip(append([]document.Object(nil), c.found...)) }, breaks: []string{"FindReturnsMatches"}},
	"no $expr":                     {before: func(c *call) { c.filter = without(c.filter, "$expr") }, breaks: []string{"ExprComparesFields", "ExprThatFailsFailsTheOperation", "ExprKnowsTheStoresTime"}},
	"no patterns":                  {before: findNothingBy("$regex"), breaks: []string{"FiltersFindPatterns", "ArraysFindPatterns"}},
	"no places":                    {before: findNothingBy("$geo"), breaks: []string{"PlacesAreComparedWithoutAnIndex"}},
	"distinct to the letter":       {before: distinguish, breaks: []string{"DistinctReturnsEachValueOnce"}},
	"farthest first": {after: func(c *call) {
		if slices.Reverse(c.near); c.filter.Near() != nil {
			slices.Reverse(c.found)
		}
	}, breaks: []string{"GeoNearReturnsNearestFirst", "NearComesNearestFirst"}},
	"near makes its index": {before: func(c *call) {
		if near := c.filter.Near(); near != nil {
			keys := []store.IndexKey{{Path: near.Key(), Kind: near.Kinds()[0]}}
			c.err = c.inner.EnsureIndex(c.ctx, store.Index{Keys: keys})
		}
	}, breaks: []string{"NearNeedsAnIndex"}},
	"no geo indexes": {before: func(c *call) {
		c.isDone = slices.ContainsFunc(c.index.Keys, func(key store.IndexKey) bool { return key.Kind.IsGeo() })
	}, breaks: []string{"GeoIndexesAreTaken", "GeoIndexesRefuseWhatIsNoPlace"}},
	"no unique indexes": {before: func(c *call) { c.index.Unique = false }, breaks: []string{"UniqueIndexRefusesASecondKey", "EnsureIndexWithOtherOptions"}},
	"no sparse indexes": {before: func(c *call) { c.index.Sparse = false }, breaks: []string{"SparseIndexLeavesOutWhatIsMissing"}},

	"inserts one by one":  {before: insertOneByOne, breaks: []string{"InsertIsAllOrNone", "UniqueIndexRefusesASecondKey"}},
	"inserts overwriting": {before: removeBeforeInsert, breaks: []string{"InsertRefusesAnIDThatExists", "ConcurrentInsertsOfOneID"}},
	"integers as doubles": rewriting([]string{"NumbersKeepTheirType"}, func(value any) any {
		if i, ok := value.(int64); ok {
			return float64(i)
		}
		return value
	}),
	"doubles as integers": rewriting([]string{"NumbersKeepTheirType"}, func(value any) any {
		if f, ok := value.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f)
		}
		return value
	}),
	"sorted fields": rewriting([]string{"FieldsKeepTheirOrder"}, func(value any) any {
		o, ok := value.(document.Object)
		if !ok {
			return value
		}
		next := document.O()
		for _, key := range slices.Sorted(slices.Values(o.Keys())) {
			next = next.With(key, o.Value(key))
		}
		return next
	}),
	"whole seconds": rewriting([]string{"TimesKeepMilliseconds"}, func(value any) any {
		if at, ok := value.(time.Time); ok {
			return at.Truncate(time.Second)
		}
		return value
	}),
	"strings cut at NUL": rewriting([]string{"OddStringsAreKept"}, func(value any) any {
		if s, ok := value.(string); ok {
			s, _, _ = strings.Cut(s, "\x00")
			return s
		}
		return value
	}),
	"no null": rewriting([]string{"EmptyAndNestedValuesAreKept", "DistinctLeavesOutWhatIsMissing"}, func(value any) any {
		if o, ok := value.(document.Object); ok {
			for key, field := range o.All() {
				if field == nil && key != document.IDField {
					o = o.Without(key)
				}
			}
			return o
		}
		return value
	}),

	"updates one":        {before: func(c *call) { c.update.Multi = false }, breaks: []string{"UpdateMultiIsAllOrNone"}},
	"updates one by one": {before: updateOneByOne, breaks: []string{"UpdateMultiIsAllOrNone", "UpdateOfManyIsAllOrNone", "UniqueIndexRefusesASecondKey"}},
	"updates unsorted":   {before: func(c *call) { c.update.Sort = nil }},
	"no upserts":         {before: func(c *call) { c.update.Upsert, c.modify.Upsert = false, false }, breaks: []string{"FindAndModifyUpserts", "OnInsertCompletesAnUpsert"}},
	"modified is matched": {after: func(c *call) { c.updated.Modified = c.updated.Matched }, breaks: []string{
		"UpdateCountsWhatChanged", "StampsStayWithoutAChange", "UpdatesDoNotReachStamps",
	}},
	"no stamps set":              {before: func(c *call) { c.change.Stamps.Set = document.Object{} }, breaks: []string{"StampsAreRenewedByAChange"}},
	"no stamps incremented":      {before: func(c *call) { c.change.Stamps.Increment = nil }, breaks: []string{"StampsAreRenewedByAChange", "UpdatesDoNotReachStamps"}},
	"no fixed fields":            {before: func(c *call) { c.change.Fixed = nil }, breaks: []string{"FixedFieldsStay", "ReplacementKeepsFixedFields", "OnInsertKeepsFixedFields"}},
	"no OnInsert":                {before: func(c *call) { c.change.OnInsert = c.change.OnInsert.Without("createdAt") }, breaks: []string{"OnInsertCompletesAnUpsert"}},
	"always the document after":  {before: func(c *call) { c.modify.New = true }, breaks: []string{"FindAndModifyReturnsBeforeOrAfter"}},
	"always the document before": {before: func(c *call) { c.modify.New = false }, breaks: []string{"FindAndModifyReturnsBeforeOrAfter"}},
	"findAndModify unsorted":     {before: func(c *call) { c.modify.Sort = nil }, breaks: []string{"FindAndModifyTakesTheFirst", "SortRefusesArraysSideBySide"}},
	"deletes one":                {before: func(c *call) { c.remove.Multi = false }, breaks: []string{"DeleteMultiRemovesAllMatches"}},
	"deletes all":                {before: func(c *call) { c.remove.Multi = true }, breaks: []string{"DeleteRemovesTheFirstMatch"}},
}

// without returns a filter without an operator.
func without(filter *query.Filter, operator string) *query.Filter {
	if filter == nil || !filter.Source().Has(operator) {
		return filter
	}
	rest, err := query.CompileFilter(filter.Source().Without(operator))
	if err != nil {
		return filter
	}
	return rest
}

// findNothingBy makes Find return nothing for filters with an operator.
func findNothingBy(operator string) func(*call) {
	return func(c *call) {
		if c.method == "Find" && strings.Contains(c.filter.Source().String(), operator) {
			c.isDone, c.found = true, []document.Object{}
		}
	}
}

// sortUnstably sorts equal documents in the reverse order of insertion.
func sortUnstably(c *call) {
	if c.find.Sort == nil {
		return
	}
	c.isDone = true
	if c.found, c.err = c.inner.Find(c.ctx, c.filter, store.FindOptions{}); c.err == nil {
		slices.Reverse(c.found)
		query.NewEvaluation(c.ctx).Sort(c.find.Sort, c.found)
		c.found = page(c.found, c.find)
	}
}

// projectFirst filters and sorts only the projected fields.
func projectFirst(c *call) {
	if c.find.Projection == nil {
		return
	}
	c.isDone = true
	c.found, c.err = c.inner.Find(c.ctx, nil, store.FindOptions{})
	for i, o := range c.found {
		c.found[i], _ = query.NewEvaluation(c.ctx).Project(c.find.Projection, c.filter, o)
	}
	c.found = slices.DeleteFunc(c.found, func(o document.Object) bool { return !c.filter.Match(o) })
	query.NewEvaluation(c.ctx).Sort(c.find.Sort, c.found)
	c.found = page(c.found, c.find)
}

func page(found []document.Object, options store.FindOptions) []document.Object {
	found = found[min(options.Skip, int64(len(found))):]
	if options.Limit > 0 {
		found = found[:min(options.Limit, int64(len(found)))]
	}
	return found
}

// projectLate applies the projection after the write.
func projectLate(c *call) {
	if c.modify.Projection == nil {
		return
	}
	options := c.modify
	options.Projection, c.isDone = nil, true
	if c.modified, c.err = c.inner.FindAndModify(c.ctx, c.filter, c.change, options); c.err == nil && !c.modified.Document.IsZero() {
		c.modified.Document, c.err = query.NewEvaluation(c.ctx).Project(c.modify.Projection, c.filter, c.modified.Document)
	}
}

// sharingSlices gives every caller the same slice.
func sharingSlices() defect {
	var mu sync.Mutex
	var shared []document.Object
	return defect{after: func(c *call) {
		if c.method != "Find" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if len(c.found) != len(shared) {
			shared = c.found
		}
		c.found = shared
	}}
}

// distinguish treats 1 and 1.0 as two values.
func distinguish(c *call) {
	if c.method == "Distinct" {
		c.isDone, c.values = true, []any{1, 1.0}
	}
}

// rewriting returns the defect of a store that alters documents when it stores them.
func rewriting(breaks []string, rewrite func(any) any) defect {
	return defect{breaks: breaks, before: func(c *call) {
		c.documents = slices.Clone(c.documents)
		for i, o := range c.documents {
			if o.Err() == nil && !o.IsZero() {
				c.documents[i], _ = rewriteInside(o, rewrite).(document.Object)
			}
		}
	}}
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

// insertOneByOne inserts as many documents as possible.
func insertOneByOne(c *call) {
	if c.method != "Insert" {
		return
	}
	c.isDone = true
	for _, o := range c.documents {
		if err := c.inner.Insert(c.ctx, o); c.err == nil {
			c.err = err
		}
	}
}

// byID returns the filter of a document's _id.
func byID(o document.Object) *query.Filter {
	filter, _ := query.CompileFilter(document.O(document.IDField, o.Value(document.IDField)))
	return filter
}

// removeBeforeInsert lets an insert replace existing documents.
func removeBeforeInsert(c *call) {
	for _, o := range c.documents {
		if filter := byID(o); filter != nil && c.err == nil {
			_, c.err = c.inner.Delete(c.ctx, filter, store.DeleteOptions{})
		}
	}
}

// updateOneByOne changes several documents one by one, until one fails.
func updateOneByOne(c *call) {
	if !c.update.Multi || c.update.Upsert || c.update.Sort != nil || c.change.Update == nil || c.change.Update.IsReplacement() {
		return
	}
	c.isDone = true
	c.found, c.err = c.inner.Find(c.ctx, c.filter, store.FindOptions{})
	for _, o := range c.found {
		var result store.UpdateResult
		if result, c.err = c.inner.Update(c.ctx, query.And(c.filter, byID(o)), c.change, store.UpdateOptions{}); c.err != nil {
			return
		}
		c.updated.Matched += result.Matched
		c.updated.Modified += result.Modified
	}
}

// modifyInTwoSteps first finds a document and then changes it. The first two callers wait for each other
// between the steps, so that they always find the same document.
func modifyInTwoSteps() defect {
	var meeting sync.WaitGroup
	meeting.Add(2)
	var once [2]sync.Once
	meet := func() {
		for i := range once {
			met := false
			once[i].Do(func() { met = true })
			if met {
				meeting.Done()
				meeting.Wait()
				return
			}
		}
	}
	return defect{before: func(c *call) {
		if c.method != "FindAndModify" {
			return
		}
		c.isDone = true
		if c.found, c.err = c.inner.Find(c.ctx, c.filter, store.FindOptions{Sort: c.modify.Sort, Limit: 1}); len(c.found) == 0 {
			return
		}
		meet()
		c.modified.Document, _, c.err = query.NewEvaluation(c.ctx).Change(c.change, c.filter, c.found[0])
		replacement, _ := query.CompileUpdate(c.modified.Document)
		_, c.err = c.inner.Update(c.ctx, byID(c.found[0]), query.Change{Update: replacement}, store.UpdateOptions{})
		c.modified.Matched, c.modified.Modified = true, true
	}}
}

// looseNames accepts any name, and ignores case.
type looseNames struct{ store.Store }

func (s looseNames) Collection(name string) store.Collection {
	return s.Store.Collection("storetest" + strings.ToLower(strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", ""), "")))
}

type noClock struct{ store.Store }

func (noClock) Now(context.Context) (time.Time, error) {
	return time.Time{}, boterr.New(boterr.Unavailable, "", "the clock stands still")
}

func newBroken(d defect) store.Store { return broken{memstore.New(), d} }
