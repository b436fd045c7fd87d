// Package sharedtest has what tests of stores share: a store that looks like one that several processes share and that
// sends notices, a store that counts the documents it examines, files of cases, and compiled filters, sorts and
// changes. It also records the deadlines of HTTP requests.
package sharedtest

import (
	"context"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
	"github.com/botctx/go-sdk/store/storetest"
)

// Store adds a store.Notifier to a store. New returns one.
type Store struct {
	store.Store

	// hearing guards listeners. It is locked while they are called, so that none is called after its stop.
	hearing   sync.Mutex
	listeners map[string][]*func(text string)
}

var _ store.Notifier = (*Store)(nil)

// New returns a store over inner. Processes that share inner must use the same Store.
func New(inner store.Store) *Store {
	return &Store{Store: inner, listeners: map[string][]*func(string){}}
}

// Notify implements store.Notifier.
func (s *Store) Notify(topic, text string) {
	go func() {
		s.hearing.Lock()
		defer s.hearing.Unlock()
		for _, heard := range s.listeners[topic] {
			(*heard)(text)
		}
	}()
}

// Listen implements store.Notifier.
func (s *Store) Listen(topic string, heard func(text string)) (stop func()) {
	s.hearing.Lock()
	defer s.hearing.Unlock()
	s.listeners[topic] = append(s.listeners[topic], &heard)
	return func() {
		s.hearing.Lock()
		defer s.hearing.Unlock()
		s.listeners[topic] = slices.DeleteFunc(s.listeners[topic], func(known *func(string)) bool { return known == &heard })
	}
}

// EachFailure calls run until it succeeds, each time with a function that wraps the store of run: first so that the first
// call of the store fails, then so that the second call fails, and so on. It requires that run returns the error of the call
// that failed, and no error if no call failed.
func EachFailure(tb testing.TB, run func(failing func(store.Store) store.Store) error) {
	tb.Helper()
	for nth, hasFailed := int64(1), true; hasFailed; nth++ {
		var calls atomic.Int64
		err := run(func(inner store.Store) store.Store {
			return store.Wrap(inner, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
				if calls.Add(1) == nth {
					return ctx, nil, boterr.New(boterr.Unavailable, "", "call %d fails: %s of %s", nth, call.Method, call.Collection)
				}
				return ctx, nil, nil
			})
		})
		if hasFailed = calls.Load() >= nth; hasFailed {
			require.ErrorIs(tb, err, boterr.Unavailable, "call %d", nth)
		} else {
			require.NoError(tb, err)
		}
	}
}

// Cases reads a file of cases. It skips the test if the file is missing, because some lie outside the repository.
func Cases(t *testing.T, path string) []storetest.Case {
	t.Helper()
	file, err := os.Open(path) //nolint:gosec // The test chose it.
	if os.IsNotExist(err) {
		t.Skipf("the file of cases %s does not exist", path)
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	cases, err := storetest.ReadCases(file)
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	return cases
}

// Filter compiles a filter from paths and conditions.
func Filter(tb testing.TB, pairs ...any) *query.Filter {
	tb.Helper()
	return FilterOf(tb, document.O(pairs...))
}

// FilterOf compiles a filter.
func FilterOf(tb testing.TB, source document.Object) *query.Filter {
	tb.Helper()
	filter, err := query.CompileFilter(source)
	require.NoError(tb, err)
	return filter
}

// Sort compiles a sort from paths and directions.
func Sort(tb testing.TB, pairs ...any) *query.Sort {
	tb.Helper()
	sort, err := query.CompileSort(document.O(pairs...))
	require.NoError(tb, err)
	return sort
}

// Change compiles an update from operators and operands.
func Change(tb testing.TB, pairs ...any) query.Change {
	tb.Helper()
	update, err := query.CompileUpdate(document.O(pairs...))
	require.NoError(tb, err)
	return query.Change{Update: update}
}

// Examined returns a store over memory that calls note for each call with a filter: with the number of documents that
// the call may examine. It hides that only one process uses memory.
func Examined(memory *memstore.Store, note func(collection string, filter *query.Filter, documents int64)) store.Store {
	return examinedStore{memory, memory, note}
}

type examinedStore struct {
	store.Store

	memory *memstore.Store
	note   func(collection string, filter *query.Filter, documents int64)
}

func (s examinedStore) Collection(name string) store.Collection {
	return examinedCollection{s.Store.Collection(name), s, name}
}

type examinedCollection struct {
	store.Collection

	store examinedStore
	name  string
}

func (c examinedCollection) look(ctx context.Context, filter *query.Filter, options store.FindOptions) error {
	found, err := c.store.memory.Explain(ctx, c.name, filter, options)
	c.store.note(c.name, filter, found.Examined)
	return err
}

func (c examinedCollection) Find(ctx context.Context, filter *query.Filter, options store.FindOptions) ([]document.Object, error) {
	if err := c.look(ctx, filter, options); err != nil {
		return nil, err
	}
	return c.Collection.Find(ctx, filter, options)
}

func (c examinedCollection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	if err := c.look(ctx, filter, store.FindOptions{}); err != nil {
		return 0, err
	}
	return c.Collection.Count(ctx, filter)
}

func (c examinedCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	looking := store.FindOptions{Sort: options.Sort, Limit: 1}
	if options.Multi {
		looking.Limit = 0
	}
	if err := c.look(ctx, filter, looking); err != nil {
		return store.UpdateResult{}, err
	}
	return c.Collection.Update(ctx, filter, change, options)
}

func (c examinedCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	if err := c.look(ctx, filter, store.FindOptions{Sort: options.Sort, Limit: 1}); err != nil {
		return store.FindAndModifyResult{}, err
	}
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

func (c examinedCollection) Delete(ctx context.Context, filter *query.Filter, options store.DeleteOptions) (int64, error) {
	if err := c.look(ctx, filter, store.FindOptions{}); err != nil {
		return 0, err
	}
	return c.Collection.Delete(ctx, filter, options)
}

// Timed records an HTTP answer, and the deadline for the body of the request.
type Timed struct {
	*httptest.ResponseRecorder

	Deadline time.Time
}

// NewTimed returns a Timed without a deadline.
func NewTimed() *Timed { return &Timed{ResponseRecorder: httptest.NewRecorder()} }

// SetReadDeadline records a deadline. http.ResponseController calls it.
func (t *Timed) SetReadDeadline(at time.Time) error {
	t.Deadline = at
	return nil
}
