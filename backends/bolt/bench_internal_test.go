package bolt

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

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

// writersRound is one comparison.
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
