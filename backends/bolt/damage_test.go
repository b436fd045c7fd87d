package bolt_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
)

// filled makes a file with three collections of many pages, long documents, free pages and
// indexes, and returns its bytes and what it holds.
func filled(t *testing.T, path string) (file []byte, held []string) {
	t.Helper()
	database := open(t, path)
	for _, name := range []string{"a", "b", "small"} {
		var documents []document.Object
		for i := range map[string]int{"a": 700, "b": 300, "small": 3}[name] {
			documents = append(documents, document.O("_id", i, "text", strings.Repeat("x", i%200)))
		}
		require.NoError(t, database.Collection(name).Insert(t.Context(), documents...))
		require.NoError(t, database.Collection(name).EnsureIndex(t.Context(), store.Index{Keys: ascending("text")}))
	}
	require.NoError(t, database.Collection("a").Insert(t.Context(), document.O("_id", "long", "text", strings.Repeat("y", 20_000))))
	_, err := database.Collection("b").Delete(t.Context(), filter(t, "_id", document.O("$lt", 200)), store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	held = all(t, database)
	require.NoError(t, database.Close())
	file, err = os.ReadFile(path)
	require.NoError(t, err)
	return file, held
}

// all returns what the collections of such a file hold.
func all(t *testing.T, store store.Store) (texts []string) {
	t.Helper()
	for _, name := range []string{"a", "b", "small"} {
		texts = append(texts, contents(t, store, name)...)
	}
	return texts
}

// Whatever happens to a page, opening tells, or what is there is what was written: bytes
// between the parts of a page, and pages that are free, mean nothing.
func TestDamage_FoundOrHarmless(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	whole, held := filled(t, path)
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	count := rounds.Of(t, 60, 600)
	for range count {
		file := bytes.Clone(whole)
		at := random.IntN(len(file))
		switch random.IntN(5) {
		case 0:
			file[at] ^= 1 << random.IntN(8)
		case 1: // The heads of pages are where it hurts.
			at -= at % pageSize
			file[at+random.IntN(64)] = byte(random.Uint32())
		case 2:
			clear(file[at-at%pageSize:][:pageSize])
		case 3: // An old page, or one of another place.
			from := random.IntN(len(file)/pageSize) * pageSize
			copy(file[at-at%pageSize:][:pageSize], whole[from:])
		case 4:
			file = file[:at]
		}
		require.NoError(t, os.WriteFile(path, file, 0o600))
		store, err := bolt.Open(path)
		if err != nil {
			found++
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, "is damaged")
			require.ErrorContains(t, err, path)
			continue
		}
		require.Equal(t, held, all(t, store))
		require.NoError(t, store.Close())
	}
	require.Greater(t, found, count/3)
}

func TestDamage_ErrorSaysWhere(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		harm func(*bbolt.Tx) error
		text string
	}{
		"a document that changed": {
			harm: func(tx *bbolt.Tx) error {
				b := tx.Bucket([]byte("documents:a"))
				value := bytes.Clone(b.Get(key(7)))
				value[len(value)-1]++
				return b.Put(key(7), value)
			},
			text: `at position 7 of the bucket "documents:a": the checksum of the value is`,
		},
		"a document of another place": {
			harm: func(tx *bbolt.Tx) error {
				b := tx.Bucket([]byte("documents:a"))
				return b.Put(key(7), bytes.Clone(b.Get(key(8))))
			},
			text: `at position 7 of the bucket "documents:a": the checksum`,
		},
		"a document of another collection": {
			harm: func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte("documents:a")).Put(key(250), bytes.Clone(tx.Bucket([]byte("documents:b")).Get(key(250))))
			},
			text: `at position 250 of the bucket "documents:a": the checksum`,
		},
		"a document that is cut off": {
			harm: func(tx *bbolt.Tx) error { return tx.Bucket([]byte("documents:a")).Put(key(7), []byte{1}) },
			text: `at position 7 of the bucket "documents:a": the value is cut off`,
		},
		"a document that is lost": {
			harm: func(tx *bbolt.Tx) error { return tx.Bucket([]byte("documents:a")).Delete(key(7)) },
			text: `the bucket "documents:a" has lost values`,
		},
		"a collection that is lost": {
			harm: func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("documents:small")) },
			text: "a bucket is lost",
		},
		"an index that is lost": {
			harm: func(tx *bbolt.Tx) error { return tx.Bucket([]byte("indexes")).Delete(key(1)) },
			text: `the bucket "indexes" has lost values`,
		},
		"the bucket that says what the file is": {
			harm: func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("botctx")) },
			text: `the bucket "botctx" is lost`,
		},
		"a bucket of another program": {
			harm: func(tx *bbolt.Tx) error {
				_, err := tx.CreateBucket([]byte("theirs"))
				return err
			},
			text: `there is a bucket "theirs"`,
		},
		"a key of another kind": {
			harm: func(tx *bbolt.Tx) error { return tx.Bucket([]byte("documents:a")).Put([]byte("key"), []byte("value")) },
			text: `the bucket "documents:a" has a key of 3 bytes`,
		},
		"another format": {
			harm: func(tx *bbolt.Tx) error { return tx.Bucket([]byte("botctx")).Put([]byte("format"), []byte("one")) },
			text: `its format is "one"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			filled(t, path)
			update(t, path, test.harm)
			_, err := bolt.Open(path)
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, "the file is damaged, put a backup in its place")
			require.ErrorContains(t, err, test.text)
			require.ErrorContains(t, err, path)
			_, err = bolt.Open(path, bolt.WithLockWait(0))
			require.ErrorContains(t, err, test.text, "it is not left locked")
		})
	}
}

// key is the key of a position.
func key(position byte) []byte { return []byte{0, 0, 0, 0, 0, 0, 0, position} }

// update changes a file behind the store's back.
func update(t *testing.T, path string, run func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(run))
	require.NoError(t, db.Close())
}

func TestOpen_FileOfLaterVersion(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	filled(t, path)
	update(t, path, func(tx *bbolt.Tx) error { return tx.Bucket([]byte("botctx")).Put([]byte("format"), []byte("2")) })
	_, err := bolt.Open(path)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "the file has format 2 and this version reads up to 1")
	require.ErrorContains(t, err, path)
}

func TestOpen_FileOfAnotherProgram(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	update(t, path, func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("theirs"))
		return err
	})
	_, err := bolt.Open(path)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "is a database of another program")

	for _, text := range []string{"x", "a text", strings.Repeat("long text ", 10_000)} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := bolt.Open(path)
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.ErrorContains(t, err, "is damaged")
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(file), "it is left as it was")
	}
}
