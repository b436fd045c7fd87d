package sqlite

import (
	"context"
	"database/sql"
	"io/fs"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	counted "github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// opened returns a store in a new file, and its collection a. Its writes do not wait for the disk.
func opened(tb testing.TB) (*Store, *collection) {
	tb.Helper()
	s, err := Open(filepath.Join(tb.TempDir(), "store.db"), WithoutSync())
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })
	c := s.Collection("a")
	require.NoError(tb, c.EnsureIndex(tb.Context(), store.Ascending("n")))
	require.NoError(tb, c.Insert(tb.Context(), document.O("_id", 1, "n", 1)))
	made := s.found("a")
	return s, made
}

func TestWithCache_ZeroKeepsNoDocument(t *testing.T) {
	t.Parallel()
	for size, kept := range map[int64]int{0: 0, defaultCache: 1} {
		s, err := Open(filepath.Join(t.TempDir(), "store.db"), WithCache(size))
		require.NoError(t, err)
		one := document.O("_id", 1)
		require.NoError(t, s.Collection("a").Insert(t.Context(), one))
		found, exists, err := s.Collection("a").Get(t.Context(), 1)
		require.NoError(t, err)
		require.True(t, exists && document.Equal(one, found))
		require.Len(t, s.found("a").cache.documents, kept)
		require.NoError(t, s.Close())
	}
}

// textsIn returns all statements in a struct.
func textsIn(v reflect.Value) (texts []string) {
	switch v.Kind() {
	case reflect.String:
		return []string{v.String()}
	case reflect.Array:
		for i := range v.Len() {
			texts = append(texts, textsIn(v.Index(i))...)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			texts = append(texts, textsIn(field)...)
		}
	default:
	}
	return texts
}

// On a file system without hard links, a new file must not replace one that another process has made meanwhile.
func TestCopyNew_ReplacesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	from, to := filepath.Join(folder, "from"), filepath.Join(folder, "to")
	require.NoError(t, makeNew(from))
	require.NoError(t, copyNew(from, to))
	s, err := Open(to)
	require.NoError(t, err)
	require.NoError(t, s.Collection("a").Insert(t.Context(), document.O("_id", 1)))
	require.ErrorIs(t, copyNew(from, to), fs.ErrExist)
	require.NoError(t, s.Collection("a").Insert(t.Context(), document.O("_id", 2)))
	require.NoError(t, s.Close())
}

func TestCopyNew_FailureLeavesNothing(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "to")
	require.Error(t, copyNew(t.TempDir(), to), "a folder cannot be read")
	require.NoFileExists(t, to)
}

// Documents of a cache that the room does not know yet must not keep shrink busy forever.
func TestCache_NotKnownToTheRoomYet(t *testing.T) {
	t.Parallel()
	one := func(i int) engine.Placed { return engine.Placed{Document: document.O("_id", i)} }
	room := &cacheRoom{most: 100 * memoryOf(one(0))}
	known, unknown := &cache{room: room}, &cache{room: room}
	room.add(known)
	for i := range 100 {
		unknown.put([]byte{byte(i)}, one(i), 0)
		known.put([]byte{byte(i)}, one(i), 0)
	}
	require.LessOrEqual(t, known.used.Load(), room.most)
	require.Len(t, unknown.documents, 100)
}

// A collection that has filled the cache makes room for another one.
func TestCache_IsShared(t *testing.T) {
	t.Parallel()
	const most, large, few = 40 * entrySize, 100, 5
	s, err := Open(filepath.Join(t.TempDir(), "store.db"), WithCache(most))
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for i := range large {
		require.NoError(t, s.Collection("first").Insert(t.Context(), document.O("_id", i)))
	}
	for i := range few {
		require.NoError(t, s.Collection("second").Insert(t.Context(), document.O("_id", i)))
	}
	for i := range large {
		require.NoError(t, s.Collection("first").Insert(t.Context(), document.O("_id", large+i)))
		require.LessOrEqual(t, s.room.used.Load(), int64(most))
	}
	require.Len(t, s.found("second").cache.documents, few)
	require.Greater(t, len(s.found("first").cache.documents), few)
	require.Equal(t, s.room.used.Load(), s.found("first").cache.used.Load()+s.found("second").cache.used.Load())
}

// Every statement finds its rows by a key, except those that read all rows. None sorts more than the rows of
// one key.
func TestStatements_SearchByKeys(t *testing.T) {
	t.Parallel()
	s, c := opened(t)
	reader, release, err := s.readers.take(t.Context())
	require.NoError(t, err)
	defer release()
	readAll := []string{c.texts.all, c.texts.count, c.texts.tables[0].all, c.texts.tables[1].all}
	checked := 0
	for _, text := range textsIn(reflect.ValueOf(*c.texts)) {
		steps := planOf(t, reader, text)
		require.NotContains(t, steps, "TEMP B-TREE FOR ORDER BY", text)
		if !slices.Contains(readAll, text) {
			require.NotContains(t, steps, "SCAN", text)
		}
		checked++
	}
	require.Equal(t, 9+2*11, checked)
}

// planOf returns the steps of SQLite's plan for a statement.
func planOf(t *testing.T, reader *conn, text string) string {
	t.Helper()
	arguments := make([]any, max(strings.Count(text, "?")-2*strings.Count(text, "?1"), strings.Count(text, "?1")*2))
	rows, err := reader.sql.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, arguments...)
	require.NoError(t, err, text)
	defer func() { require.NoError(t, rows.Close()) }()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		require.NoError(t, rows.Scan(&id, &parent, &unused, &step))
		steps = append(steps, step)
	}
	require.NoError(t, rows.Err())
	return strings.Join(steps, "; ")
}

// A failed commit does not change the cache, the description and the end of the collection.
func TestCommit_FailedLeavesNothing(t *testing.T) {
	t.Parallel()
	s, c := opened(t)
	harm := func(text string) {
		require.NoError(t, s.writer.do(&job{ctx: t.Context(), between: func() error {
			_, err := s.writer.conn.sql.ExecContext(t.Context(), text)
			return err
		}}))
	}
	harm("CREATE TEMP TRIGGER refuse BEFORE INSERT ON d1 WHEN new.pos > 1 BEGIN SELECT RAISE(ROLLBACK, 'the disk is broken'); END")
	a := s.Collection("a")
	err := a.Insert(t.Context(), document.O("_id", 2, "n", document.A(1, 2)))
	require.ErrorIs(t, err, boterr.Unavailable)
	require.False(t, c.draft.Indexes[0].MultiKey)
	require.EqualValues(t, 2, c.end)
	_, exists, err := a.Get(t.Context(), 2)
	require.NoError(t, err)
	require.False(t, exists)
	require.ErrorIs(t, s.Collection("b").Insert(t.Context(), document.O("_id", 1), document.O("_id", 1)), boterr.AlreadyExists)

	harm("DROP TRIGGER refuse")
	require.NoError(t, a.Insert(t.Context(), document.O("_id", 2, "n", document.A(1, 2))))
	require.NoError(t, s.Check(t.Context()))
}

// If one write of a group fails in the file, the others still succeed.
func TestCommit_OneFailsAlone(t *testing.T) {
	t.Parallel()
	s, _ := opened(t)
	refuseLong(t, s)
	outcomes := make([]chan error, 20)
	for i := range outcomes {
		outcomes[i] = make(chan error, 1)
		go func() {
			text := strings.Repeat("x", 2_000*(i%2))
			outcomes[i] <- s.Collection("a").Insert(t.Context(), document.O("_id", 100+i, "text", text))
		}()
	}
	for i := range outcomes {
		if err := <-outcomes[i]; i%2 == 0 {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, boterr.Unavailable)
		}
	}
	count, err := s.Collection("a").Count(t.Context(), nil)
	require.NoError(t, err)
	require.EqualValues(t, 11, count)
	require.NoError(t, s.Check(t.Context()))
}

// A context that ends during a read must not look like damage.
func TestQuery_ContextEnds(t *testing.T) {
	t.Parallel()
	s, c := opened(t)
	reader, release, err := s.readers.take(t.Context())
	require.NoError(t, err)
	defer release()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	for range 2 { // The context ends during the first query, and before the second.
		err := reader.query(ctx, func(rows *sql.Rows) (bool, error) {
			end()
			for {
				var count int
				if err := scan(rows, &count); err != nil {
					return false, err // Another goroutine has closed the rows.
				}
			}
		}, c.texts.count)
		require.ErrorIs(t, err, boterr.Canceled)
	}
}

// grouped runs calls so that their writes share a group. It returns after all have ended.
func grouped(s *Store, calls ...func()) {
	var all sync.WaitGroup
	held, free := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		_ = s.writer.do(&job{ctx: context.Background(), between: func() error {
			close(held)
			<-free
			return nil
		}})
	})
	<-held
	for i, call := range calls {
		all.Go(call)
		for len(s.writer.queue) <= i {
			runtime.Gosched()
		}
	}
	close(free)
	all.Wait()
}

// A watcher that ends the writer's goroutine does not affect the cache or other watchers.
func TestWatch_GoexitInGroup(t *testing.T) {
	t.Parallel()
	s, _ := opened(t)
	a := s.Collection("a")
	require.NoError(t, a.Insert(t.Context(), document.O("_id", 2)))
	told := 0
	stop := s.Watch("a", func(document.Object, document.Object) {
		told++
		if told == 1 {
			runtime.Goexit()
		}
	}, nil)
	defer stop()
	followed := false
	grouped(s,
		func() { _, _ = a.Delete(t.Context(), byID(t, 1), store.DeleteOptions{}) },
		func() { _, _ = a.Delete(t.Context(), byID(t, 2), store.DeleteOptions{}) },
		func() {
			_ = s.writer.do(&job{ctx: t.Context(), between: func() error {
				followed = true
				return nil
			}})
		},
	)
	require.Equal(t, 2, told)
	require.True(t, followed)
	for id := range 2 {
		_, exists, err := a.Get(t.Context(), 1+id)
		require.NoError(t, err)
		require.False(t, exists, "it is only in the cache")
	}
}

// asked is a context that runs a function, then, in one call of Err: the call with the number last.
type asked struct {
	context.Context

	times atomic.Int64
	last  int64
	then  func()
}

func (a *asked) Err() error {
	if a.times.Add(1) == a.last {
		a.then()
	}
	return nil
}

// If writes of a failed group run alone and one ends the goroutine, the earlier ones are still answered as
// written.
func TestCommit_AloneIsAnswered(t *testing.T) {
	t.Parallel()
	s, _ := opened(t)
	refuseLong(t, s)
	a := s.Collection("a")
	var kept, ended error
	grouped(s,
		func() { kept = a.Insert(t.Context(), document.O("_id", 2)) },
		func() {
			ctx := &asked{Context: t.Context(), last: 4, then: runtime.Goexit}
			ended = a.Insert(ctx, document.O("_id", 3, "text", strings.Repeat("x", 2_000)))
		},
	)
	require.NoError(t, kept)
	require.ErrorIs(t, ended, boterr.Internal)
}

// If writes of a failed group run alone and a watcher ends the goroutine, the later ones are not answered as written.
func TestCommit_AloneIsNotAnsweredForOthers(t *testing.T) {
	t.Parallel()
	s, _ := opened(t)
	refuseLong(t, s)
	a := s.Collection("a")
	isFirst := true
	stop := s.Watch("a", func(document.Object, document.Object) {
		if isFirst {
			isFirst = false
			runtime.Goexit()
		}
	}, nil)
	defer stop()
	insert := func(id int, text string, err *error) func() {
		return func() { *err = a.Insert(t.Context(), document.O("_id", id, "text", text)) }
	}
	var kept, refused, waited error
	grouped(s, insert(2, "", &kept), insert(3, strings.Repeat("x", 2_000), &refused), insert(4, "", &waited))
	require.NoError(t, kept)
	require.Error(t, refused)
	_, exists, err := a.Get(t.Context(), 4)
	require.NoError(t, err)
	require.Equal(t, exists, waited == nil, "%v", waited) // On a slow machine, the last write is in another group.
}

// refuseLong makes SQLite refuse long documents.
func refuseLong(tb testing.TB, s *Store) {
	tb.Helper()
	require.NoError(tb, s.writer.do(&job{ctx: tb.Context(), between: func() error {
		_, err := s.writer.conn.sql.ExecContext(tb.Context(),
			"CREATE TEMP TRIGGER refuse BEFORE INSERT ON d1 WHEN length(new.doc) > 1000 BEGIN SELECT RAISE(ROLLBACK, 'too large'); END")
		return err
	}}))
}

// A long write uses the indexes of its snapshot.
func TestFollow_IndexesOfItsMoment(t *testing.T) {
	t.Parallel()
	s, c := opened(t)
	var followed *noted
	var failed error
	grouped(s,
		func() { _ = s.Collection("a").Insert(t.Context(), document.O("_id", 2, "n", document.A(1, 2))) },
		func() { followed, failed = s.follow(t.Context(), c) },
	)
	require.NoError(t, failed)
	defer followed.view.Close()
	require.True(t, followed.view.Indexes[0].MultiKey)
}

// openedInParts opens a store in which every write is long and every part is one document. A write to all documents of
// "a" needs several parts.
func openedInParts(t *testing.T) (*Store, store.Collection) {
	t.Helper()
	s, _ := opened(t)
	s.firstTurn = -1
	a := s.Collection("a")
	documents := make([]document.Object, partSize)
	for i := range documents {
		documents[i] = document.O("_id", 2+i)
	}
	require.NoError(t, a.Insert(t.Context(), documents...))
	return s, a
}

// A long write releases its snapshot after the search, before it waits for the writer.
func TestLongWrite_LeavesItsReader(t *testing.T) {
	t.Parallel()
	s, a := openedInParts(t)
	readers := 0
	stop := s.Watch("a", func(document.Object, document.Object) { readers = max(readers, len(s.readers.slots)) }, nil)
	defer stop()
	for _, multi := range []bool{false, true} {
		u := sharedtest.Change(t, "$set", document.O("seen", multi))
		_, err := a.Update(t.Context(), nil, u, store.UpdateOptions{Multi: multi})
		require.NoError(t, err)
	}
	require.Zero(t, readers)
}

// After a long write that changed nothing, or whose context panicked, nothing follows the collection.
func TestLongWrite_LeavesNothing(t *testing.T) {
	t.Parallel()
	s, c := opened(t)
	s.firstTurn = -1
	u := sharedtest.Change(t, "$set", document.O("n", 1))
	none := sharedtest.Filter(t, "n", -1)
	for range 10 {
		_, err := s.Collection("a").Update(t.Context(), none, u, store.UpdateOptions{Multi: true})
		require.NoError(t, err)
	}
	require.Panics(t, func() {
		if w, err := s.follow(panickyContext{t.Context()}, c); err == nil {
			w.view.Close()
		}
	})
	require.LessOrEqual(t, len(c.followers), 1)
	require.Empty(t, s.readers.slots)
}

// panickyContext panics in Done.
type panickyContext struct{ context.Context }

func (panickyContext) Done() <-chan struct{} { panic("a context") }

// A watcher can read even if many long writes wait for the writer, which waits for the watcher.
func TestWatch_ReadsAmongLongWrites(t *testing.T) {
	t.Parallel()
	s, _ := opened(t)
	s.firstTurn = -1
	a := s.Collection("a")
	u := sharedtest.Change(t, "$inc", document.O("n", 1))
	const writes = 3 * maxReaders
	stop := s.Watch("a", func(document.Object, document.Object) {
		_, err := a.Count(t.Context(), nil)
		if err != nil {
			t.Error(err)
		}
	}, nil)
	defer stop()
	var all sync.WaitGroup
	for range writes {
		all.Go(func() {
			if _, err := a.Update(t.Context(), nil, u, store.UpdateOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	last, _, err := a.Get(t.Context(), 1)
	require.NoError(t, err)
	require.EqualValues(t, 1+writes, last.Value("n"))
}

// An incomplete index that could not be removed, for example because the disk was full, does not block the next
// index.
func TestEnsureIndex_AfterFailedDrop(t *testing.T) {
	t.Parallel()
	s, a := openedInParts(t)
	require.NoError(t, a.Insert(t.Context(), document.O("_id", "a", "u", 5), document.O("_id", "b", "u", 5)))
	harm := func(texts ...string) {
		require.NoError(t, s.writer.do(&job{ctx: t.Context(), between: func() error {
			for _, text := range texts {
				if _, err := s.writer.conn.sql.ExecContext(t.Context(), text); err != nil {
					return err
				}
			}
			return nil
		}}))
	}
	harm("CREATE TEMP TRIGGER build BEFORE INSERT ON u1 BEGIN SELECT RAISE(ROLLBACK, 'full'); END",
		"CREATE TEMP TRIGGER remove BEFORE UPDATE ON botctx_collections WHEN length(new.indexes) < length(old.indexes) "+
			"BEGIN SELECT RAISE(ROLLBACK, 'full'); END")
	unique := store.Ascending("u")
	unique.Unique, unique.Sparse = true, true
	require.ErrorIs(t, a.EnsureIndex(t.Context(), unique), boterr.Unavailable)
	require.Positive(t, s.found("a").draft.Building())

	harm("DROP TRIGGER build")
	require.ErrorIs(t, a.EnsureIndex(t.Context(), unique), boterr.AlreadyExists, "the same index is continued")
	require.Positive(t, s.found("a").draft.Building())
	harm("DROP TRIGGER remove")
	require.NoError(t, a.EnsureIndex(t.Context(), store.Ascending("z")))
	require.Len(t, s.found("a").schema.Load().Indexes, 2)
	require.NoError(t, a.Insert(t.Context(), document.O("_id", "c", "u", 5)))
	require.NoError(t, s.Check(t.Context()))
}

// An index that is continued and cannot be created refuses no documents afterwards.
func TestEnsureIndex_FailsWhileContinued(t *testing.T) {
	t.Parallel()
	s, a := openedInParts(t)
	require.NoError(t, a.Insert(t.Context(), document.O("_id", "a", "u", 5), document.O("_id", "b", "u", 5)))
	unique := store.Ascending("u")
	unique.Unique, unique.Sparse = true, true
	steps := 0
	require.ErrorIs(t, engine.BuildIndex(t.Context(), unique, func(ctx context.Context, isAlone bool, do func(engine.IndexDraft) error) error {
		steps++
		if steps == 1 {
			return (&port{store: s, name: "a"}).changeIndexes(ctx, isAlone, do)
		}
		return errClosed
	}), errClosed)
	require.Positive(t, s.found("a").draft.Building())
	s.firstTurn = time.Hour
	require.ErrorIs(t, a.EnsureIndex(t.Context(), unique), boterr.AlreadyExists)
	require.Negative(t, s.found("a").draft.Building())
	require.NoError(t, a.Insert(t.Context(), document.O("_id", "c", "u", 5)))
}

// Readers keep their indexes while another index is built and others write. Otherwise they would start again
// after each commit.
func TestEnsureIndex_LeavesReadersAlone(t *testing.T) {
	t.Parallel()
	s, a := openedInParts(t)
	steps := 0
	change := func(ctx context.Context, isAlone bool, do func(engine.IndexDraft) error) error {
		steps++
		if steps == 1 {
			return (&port{store: s, name: "a"}).changeIndexes(ctx, isAlone, do)
		}
		return errClosed
	}
	require.ErrorIs(t, engine.BuildIndex(t.Context(), store.Ascending("z"), change), errClosed)
	shown := s.found("a").schema.Load()
	require.Len(t, shown.Indexes, 1)
	require.NoError(t, a.Insert(t.Context(), document.O("_id", "a")))
	require.Same(t, shown, s.found("a").schema.Load())
}

// An index is shown to readers after its entries are committed, even if another write of its group changes the description.
func TestEnsureIndex_ShownAfterCommit(t *testing.T) {
	t.Parallel()
	s, _ := opened(t)
	a := s.Collection("a")
	require.NoError(t, a.Insert(t.Context(), document.O("_id", 2, "z", 1)))
	some := sharedtest.Filter(t, "z", 1)
	begun, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	queue := func(write func() error) {
		queued := len(s.writer.queue) + 1
		all.Go(func() {
			if err := write(); err != nil {
				t.Error(err)
			}
		})
		for len(s.writer.queue) < queued {
			runtime.Gosched()
		}
	}
	all.Go(func() {
		_ = s.writer.do(&job{ctx: t.Context(), between: func() error {
			close(begun)
			<-release
			return nil
		}})
	})
	<-begun
	queue(func() error { return a.EnsureIndex(t.Context(), store.Ascending("z")) })
	queue(func() error { return a.Insert(t.Context(), document.O("_id", 3, "n", document.A(1, 2))) })
	var count int64
	queue(func() error {
		return s.writer.do(&job{ctx: t.Context(), name: "a", run: func(*transaction) (err error) {
			count, err = a.Count(t.Context(), some)
			return err
		}})
	})
	close(release)
	all.Wait()
	require.EqualValues(t, 1, count)
}

// A read that was planned before the first array was indexed must also find the document with the array.
func TestRead_PlannedBeforeAnArray(t *testing.T) {
	t.Parallel()
	some := sharedtest.Filter(t, "n", document.O("$gte", 0))
	s, _ := opened(t)
	a := s.Collection("a")
	ctx := &asked{Context: t.Context(), last: 2, then: func() {
		require.NoError(t, a.Insert(t.Context(), document.O("_id", 2, "n", document.A(1, 2))))
	}}
	count, err := a.Count(ctx, some)
	require.NoError(t, err)
	require.EqualValues(t, 2, count)
}

// Canceled means that nothing was written, unless the error says otherwise.
func TestLongWrite_SaysWhatStays(t *testing.T) {
	t.Parallel()
	s, a := openedInParts(t)
	ctx, end := context.WithCancel(t.Context())
	stop := s.Watch("a", func(document.Object, document.Object) { end() }, nil)
	defer stop()
	_, err := a.Delete(ctx, nil, store.DeleteOptions{Multi: true})
	require.ErrorIs(t, err, boterr.Canceled)
	require.ErrorContains(t, err, "1 of 501 documents were already written")
}

// refuser refuses all writes once it is set.
type refuser struct{ atomic.Bool }

func (r *refuser) Refusal() error {
	if !r.Load() {
		return nil
	}
	return boterr.New(boterr.Conflict, "", "the lease is lost")
}

// A run that may no longer write must not write the next part.
func TestLongWrite_RefusedBetweenParts(t *testing.T) {
	t.Parallel()
	s, a := openedInParts(t)
	var refuses refuser
	stop := s.Watch("a", func(document.Object, document.Object) { refuses.Store(true) }, nil)
	defer stop()
	_, err := a.Delete(store.WithRefuser(t.Context(), &refuses), nil, store.DeleteOptions{Multi: true})
	require.ErrorIs(t, err, boterr.Conflict)
	require.ErrorContains(t, err, "1 of 501 documents were already written")
	count, err := a.Count(t.Context(), nil)
	require.NoError(t, err)
	require.EqualValues(t, partSize, count)
}

// A code other than Unavailable and Canceled means that nothing was written.
func TestLongWrite_RefusedAfterAPartIsUnavailable(t *testing.T) {
	t.Parallel()
	_, a := openedInParts(t)
	once := store.Ascending("u")
	once.Unique, once.Sparse = true, true
	require.NoError(t, a.EnsureIndex(t.Context(), once))
	update := sharedtest.Change(t, "$set", document.O("u", 1))
	_, err := a.Update(t.Context(), nil, update, store.UpdateOptions{Multi: true})
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, "1 of 501 documents were already written")
}

// A search for a long list checks its context, even if it finds nothing. In a write it then gives up its turn.
func TestSource_LongListsCheckTheContext(t *testing.T) {
	t.Parallel()
	s, _ := opened(t)
	values := make([]any, 1000)
	for i := range values {
		values[i] = 10 + 2*i
	}
	for _, path := range []string{"_id", "n"} {
		missing := sharedtest.Filter(t, path, document.O("$in", document.A(values...)))
		sort := sharedtest.Sort(t, path, 1)
		for name, search := range map[string]func(ctx context.Context, c store.Collection) error{
			"find": func(ctx context.Context, c store.Collection) error {
				_, err := c.Find(ctx, missing, store.FindOptions{})
				return err
			},
			"find in order": func(ctx context.Context, c store.Collection) error {
				_, err := c.Find(ctx, missing, store.FindOptions{Sort: sort})
				return err
			},
			"count": func(ctx context.Context, c store.Collection) error {
				_, err := c.Count(ctx, missing)
				return err
			},
			"delete": func(ctx context.Context, c store.Collection) error {
				_, err := c.Delete(ctx, missing, store.DeleteOptions{Multi: true})
				return err
			},
		} {
			ctx := &asked{Context: t.Context(), last: -1}
			require.NoError(t, search(ctx, s.Collection("a")), "%s by %s", name, path)
			require.Greater(t, ctx.times.Load(), int64(len(values)/statementsAtOnce), "%s by %s", name, path)
		}
	}
}

func TestByIDs_ManyComeOnceInTheOrderOfInsertion(t *testing.T) {
	t.Parallel()
	s, _ := opened(t)
	a := s.Collection("a")
	const many = 2 * fewIDs
	var ids []any
	var expected []document.Object
	for i := range many {
		o := document.O("_id", many-i+1, "x", i)
		require.NoError(t, a.Insert(t.Context(), o))
		ids, expected = append(ids, float64(i+2), many-i+1), append(expected, o)
	}
	f := sharedtest.Filter(t, "_id", document.O("$in", document.A(ids...)))
	found, err := a.Find(t.Context(), f, store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, document.A(anyOf(expected)...).String(), document.A(anyOf(found)...).String())
	removed, err := a.Delete(t.Context(), f, store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	require.EqualValues(t, many, removed)
}

func anyOf(documents []document.Object) []any {
	values := make([]any, len(documents))
	for i := range documents {
		values[i] = documents[i]
	}
	return values
}

func byID(tb testing.TB, id any) *query.Filter {
	tb.Helper()
	f := sharedtest.Filter(tb, "_id", id)
	return f
}

// FuzzNames searches for names and values that become part of a statement instead of arguments.
func FuzzNames(f *testing.F) {
	for _, text := range []string{"a", "d1", "'; DROP TABLE d1; --", `"x"`, "?1", "a\x01b", "ünï", "sqlite_master", "a.b", "%s"} {
		f.Add(text, text, text)
	}
	s, _ := opened(f)
	f.Fuzz(func(t *testing.T, name, field, value string) {
		c := s.Collection(name)
		o := document.O("_id", value, "f", document.O(field, value))
		if store.CheckName(name) != nil || document.CheckInsert(o) != nil {
			t.Skip("the store does not accept this name or document")
		}
		if err := c.Insert(t.Context(), o); err != nil {
			require.ErrorIs(t, err, boterr.AlreadyExists)
		}
		found, exists, err := c.Get(t.Context(), value)
		require.NoError(t, err)
		require.True(t, exists)
		require.Equal(t, value, found.Value("_id"))
		index := store.Ascending("f." + field)
		if index.Check() == nil {
			require.NoError(t, c.EnsureIndex(t.Context(), index))
		}
		for _, table := range []string{"botctx_collections", "d1"} {
			var count int
			err := s.db.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_master WHERE name=?", table).Scan(&count)
			require.NoError(t, err)
			require.Equal(t, 1, count)
		}
	})
}

func TestCollection_CountsItsWork(t *testing.T) {
	t.Parallel()
	s, _ := opened(t)
	var total atomic.Int64
	ctx := counted.CountWork(t.Context(), &total)
	found, err := s.Collection("a").Find(ctx, nil, store.FindOptions{})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.GreaterOrEqual(t, total.Load(), int64(statementWork+openWork))
	before := total.Load()
	require.NoError(t, s.Collection("a").Insert(ctx, document.O("_id", 2)))
	require.GreaterOrEqual(t, total.Load()-before, int64(writeWork))
}
