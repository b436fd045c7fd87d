package bolt

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// benchEntry is a small document of eight fields.
func benchEntry(i int) document.Object {
	return document.O(
		"_id", fmt.Sprintf("entry-%07d", i), "name", fmt.Sprintf("Place %d", i), "area", fmt.Sprintf("area-%d", i%20),
		"stars", i%5, "price", float64(i%97)+0.5, "open", i%3 != 0, "tags", document.A("a", fmt.Sprintf("t%d", i%7)),
		"address", document.O("street", fmt.Sprintf("Street %d", i%100), "number", i%50),
	)
}

// BenchmarkWriters compares, in turn, answered inserts of writers at once with bare bbolt:
// one goroutine that commits groups of the same size by hand, and the same writers with
// bbolt's own Batch, which gets a quarter of the documents, since it takes ten times as long.
func BenchmarkWriters(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("%d writers", writers), func(b *testing.B) {
			writes := 1_200 * min(writers, 40)
			r := &writersRound{B: b, writers: writers, documents: make([]document.Object, writes)}
			for i := range r.documents {
				r.documents[i] = benchEntry(i)
			}
			var rates, groups, byHand, batch []float64
			for b.Loop() {
				rate, group := r.store()
				rates, groups = append(rates, rate), append(groups, group)
				byHand = append(byHand, rate/r.byHand(group))
				quarter := &writersRound{B: b, writers: writers, documents: r.documents[:writes/4]}
				batch = append(batch, rate/quarter.batch())
			}
			b.ReportMetric(median(rates), "writes/s")
			b.ReportMetric(median(groups), "writes/commit")
			b.ReportMetric(median(byHand), "of-by-hand")
			b.ReportMetric(median(batch), "of-Batch")
		})
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

type writersRound struct {
	*testing.B

	writers   int
	documents []document.Object
}

// rate returns how many of the documents a function writes in a second.
func (r *writersRound) rate(write func()) float64 {
	begun := r.Elapsed()
	write()
	return float64(len(r.documents)) / (r.Elapsed() - begun).Seconds()
}

// each calls a function for each document, in as many goroutines as there are writers.
func (r *writersRound) each(write func(i int, o document.Object) error) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range r.writers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(r.documents); i = int(next.Add(1)) - 1 {
				if err := write(i, r.documents[i]); err != nil {
					r.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// store writes to a Store, and returns also how many writes shared a commit.
func (r *writersRound) store() (rate, group float64) {
	store, err := Open(filepath.Join(r.TempDir(), "store.db"))
	require.NoError(r, err)
	c := store.Collection("entries")
	rate = r.rate(func() {
		r.each(func(_ int, o document.Object) error { return c.Insert(r.Context(), o) })
	})
	stats := store.Stats()
	require.NoError(r, store.Close())
	return rate, float64(stats.Changes) / float64(stats.Commits)
}

// bare opens a file of bbolt with one bucket.
func (r *writersRound) bare() *bbolt.DB {
	db, err := bbolt.Open(filepath.Join(r.TempDir(), "bare.db"), fileMode,
		&bbolt.Options{FreelistType: bbolt.FreelistMapType, Timeout: time.Second})
	require.NoError(r, err)
	require.NoError(r, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("entries"))
		return err
	}))
	return db
}

// byHand writes the same bytes in groups of the same size.
func (r *writersRound) byHand(group float64) float64 {
	db := r.bare()
	rate := r.rate(func() {
		written := 0
		for commit := 1.0; written < len(r.documents); commit++ {
			end := min(int(math.Round(commit*group)), len(r.documents))
			require.NoError(r, db.Update(func(tx *bbolt.Tx) error {
				for ; written < end; written++ {
					if err := putBare(tx, written, r.documents[written]); err != nil {
						return err
					}
				}
				return nil
			}))
		}
	})
	require.NoError(r, db.Close())
	return rate
}

// batch writes the same bytes by DB.Batch.
func (r *writersRound) batch() float64 {
	db := r.bare()
	rate := r.rate(func() {
		r.each(func(i int, o document.Object) error {
			return db.Batch(func(tx *bbolt.Tx) error { return putBare(tx, i, o) })
		})
	})
	require.NoError(r, db.Close())
	return rate
}

func putBare(tx *bbolt.Tx, i int, o document.Object) error {
	bucket := tx.Bucket([]byte("entries"))
	bucket.FillPercent = fill
	return bucket.Put(appendPosition(nil, uint64(i)), appendObject(make([]byte, checksumSize, o.Size()), o))
}

// BenchmarkCodec measures a small document.
func BenchmarkCodec(b *testing.B) {
	o := benchEntry(12_345)
	text := appendObject(nil, o)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			text = appendObject(text[:0], o)
		}
		b.ReportMetric(float64(len(text)), "bytes")
	})
	b.Run("decode", func(b *testing.B) {
		d := newDecoder()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.document(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkOpen opens stores of small documents, and measures what one takes on disk and in
// memory.
func BenchmarkOpen(b *testing.B) {
	for _, count := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("%d documents", count), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "store.db")
			fillStore(b, path, count)
			info, err := os.Stat(path)
			require.NoError(b, err)
			before := heap()
			var held float64
			for b.Loop() {
				store, err := Open(path)
				require.NoError(b, err)
				b.StopTimer()
				held = float64(heap()-before) / float64(count)
				require.NoError(b, store.Close())
				b.StartTimer()
			}
			b.ReportMetric(held, "heap-bytes/document")
			b.ReportMetric(float64(info.Size())/float64(count), "file-bytes/document")
		})
	}
}

// fillStore makes a store of that many small documents.
func fillStore(b *testing.B, path string, count int) {
	b.Helper()
	store, err := Open(path, WithoutSync())
	require.NoError(b, err)
	const chunk = 10_000
	documents := make([]document.Object, chunk)
	for done := 0; done < count; done += chunk {
		for i := range documents {
			documents[i] = benchEntry(done + i)
		}
		require.NoError(b, store.Collection("entries").Insert(b.Context(), documents...))
	}
	require.NoError(b, store.Compact(b.Context()))
	require.NoError(b, store.Close())
}

// heap returns how many bytes of memory are in use.
func heap() uint64 {
	runtime.GC() //nolint:revive // What it leaves is the question.
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func nested(levels int) document.Object {
	o := document.O()
	for range levels - 1 {
		o = document.O("o", o)
	}
	return o
}

func wide(fields int) document.Object {
	pairs := make([]any, 0, 2*fields)
	for i := range fields {
		pairs = append(pairs, fmt.Sprint("field ", i), i)
	}
	return document.O(pairs...)
}

// samples are documents with every kind of value.
func samples() []document.Object {
	return []document.Object{
		document.O(),
		document.O("_id", nil),
		document.O("_id", 1, "b", true, "a", false, "", "empty name", "a.b", "dot", "$c", "dollar"),
		document.O("_id", math.MinInt64, "n", math.MaxInt64, "z", 0, "m", -1),
		document.O("_id", 1.0, "nan", math.NaN(), "zero", math.Copysign(0, -1), "inf", math.Inf(1), "low", math.Inf(-1),
			"small", math.SmallestNonzeroFloat64, "large", math.MaxFloat64),
		document.O("_id", math.Float64frombits(0x7ff8000000000123)),
		document.O("_id", "ünï \x00 \u2028", "long", strings.Repeat("x", 100_000), "none", ""),
		document.O("_id", time.UnixMilli(0), "before", time.Date(-5000, 1, 2, 3, 4, 5, 999000000, time.UTC),
			"after", time.Date(200000, 1, 1, 0, 0, 0, 1000000, time.FixedZone("", 3600)), "zero", time.Time{}),
		document.O("_id", document.O("a", document.A(), "o", document.O()), "l", document.A(1, "2", nil, document.A(document.O("x", 1.5)))),
		nested(document.MaxDepth),
		wide(1_000),
	}
}

func TestCodec_RoundTrip(t *testing.T) {
	t.Parallel()
	d := newDecoder()
	for _, o := range samples() {
		require.NoError(t, o.Err())
		text := appendObject(nil, o)
		again, err := d.document(text)
		require.NoError(t, err)
		requireSame(t, o, again)
		require.Equal(t, text, appendObject(nil, again), "NaNs keep their bits")
		require.Equal(t, o.Keys(), again.Keys())
	}
}

func TestDecode_CutOff(t *testing.T) {
	t.Parallel()
	d := newDecoder()
	for _, o := range samples() {
		text := appendObject(nil, o)
		for length := max(0, len(text)-2_000); length < len(text); length++ {
			_, err := d.document(text[:length])
			require.Error(t, err, "%d of %d bytes", length, len(text))
		}
		_, err := d.document(append(text, 0))
		require.ErrorContains(t, err, "1 bytes follow the document")
	}
}

func TestDecode_SaysWhereItFails(t *testing.T) {
	t.Parallel()
	deep := []byte{1, 0, kindObject}
	for range document.MaxDepth {
		deep = append(deep, 1, 0, kindObject)
	}
	for name, text := range map[string][]byte{
		"at byte 3 of 4: there is no value of the kind 99": {1, 1, 'a', 99},
		"has a field twice":                   {2, 1, 'a', kindNull, 1, 'a', kindTrue},
		"there cannot be 1000 fields":         {0xe8, 0x07, 0, 0},
		"there cannot be 3 elements":          {1, 0, kindArray, 3, 0, 0},
		"a text of 9 bytes cannot stand here": {1, 9, 'a', kindNull},
		"a name with a NUL":                   {1, 1, 0, kindNull},
		"a length is cut off or too large":    {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		"a number is cut off":                 {1, 0, kindFloat, 1, 2, 3},
		"a number is cut off or too large":    {1, 0, kindInt, 0x80},
		"the date is too far away":            append([]byte{1, 0, kindTime}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
		"values are nested deeper than 180":   append(deep, 0),
	} {
		_, err := newDecoder().document(text)
		require.Error(t, err, name)
		if name != "a name with a NUL" {
			require.ErrorContains(t, err, name)
		}
	}
}

// requireSame checks that two documents are the same to the letter: int64 and float64
// differ, and so do 0 and -0.
func requireSame(tb testing.TB, expected, actual document.Object) {
	tb.Helper()
	require.Equal(tb, appendObject(nil, expected), appendObject(nil, actual))
	require.Zero(tb, document.Compare(expected, actual))
	require.Equal(tb, expected.Size(), actual.Size())
}

func FuzzDecode(f *testing.F) {
	for _, o := range samples() {
		if text := appendObject(nil, o); len(text) < 10_000 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := newDecoder().document(text)
		if err != nil {
			require.True(t, o.IsZero())
			return
		}
		require.NoError(t, o.Err())
		again, err := newDecoder().document(appendObject(nil, o))
		require.NoError(t, err)
		requireSame(t, o, again)
	})
}

func FuzzRoundTrip(f *testing.F) {
	for _, o := range samples() {
		if text, err := o.MarshalJSON(); err == nil && len(text) < 10_000 {
			f.Add(text, 1.5, int64(3))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, number float64, milliseconds int64) {
		value, err := document.ParseJSON(text)
		if err != nil {
			return
		}
		o := document.O("_id", value, "n", number, "i", milliseconds, "t", time.UnixMilli(milliseconds))
		if document.CheckInsert(o) != nil {
			return // Such as one that is too deep, as no store keeps it.
		}
		again, err := newDecoder().document(appendObject(nil, o))
		require.NoError(t, err)
		requireSame(t, o, again)
	})
}

func TestCommit_FailedEndsWrites(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := Open(path)
	require.NoError(t, err)
	a := store.Collection("a")
	require.NoError(t, a.Insert(t.Context(), document.O("_id", 1)))
	require.NoError(t, store.file.handle.Close(), "the disk goes away")

	err = a.Insert(t.Context(), document.O("_id", 2))
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "whether the disk has it shows when the store is opened anew")
	for range 2 {
		err = a.Insert(t.Context(), document.O("_id", 3))
		require.ErrorIs(t, err, boterr.Unavailable)
		require.ErrorContains(t, err, "takes no writes after one that failed")
	}
	require.ErrorIs(t, store.Compact(t.Context()), boterr.Unavailable)
	require.ErrorIs(t, store.Backup(t.Context(), io.Discard), boterr.Unavailable)
	count, err := a.Count(t.Context(), nil)
	require.NoError(t, err, "reads go on")
	require.Equal(t, int64(1), count)
	require.ErrorIs(t, store.Close(), boterr.Unavailable)

	store, err = Open(path)
	require.NoError(t, err)
	a = store.Collection("a")
	count, err = a.Count(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, int64(1), count)
	require.NoError(t, a.Insert(t.Context(), document.O("_id", 2)))
	require.NoError(t, store.Close())
}

func TestCommit_Panics(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := Open(path)
	require.NoError(t, err)
	a := store.Collection("a")
	require.NoError(t, a.Insert(t.Context(), document.O("_id", 1)))
	db := store.file.db
	store.file.db = nil
	err = a.Insert(t.Context(), document.O("_id", 2))
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "the file is damaged")
	require.NoError(t, db.Close())
	require.ErrorIs(t, a.Insert(t.Context(), document.O("_id", 3)), boterr.Unavailable)
	require.Error(t, store.Close())
}
