package sqlite_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

const pageSize = 4096

// filled creates a file with three collections of many pages. It has long documents, free pages and indexes.
// filled returns the file's bytes and its documents.
func filled(t *testing.T, path string) (file []byte, held []string) {
	t.Helper()
	database := open(t, path)
	for _, name := range []string{"a", "b", "small"} {
		var documents []document.Object
		for i := range map[string]int{"a": 700, "b": 300, "small": 3}[name] {
			documents = append(documents, document.O("_id", i, "text", strings.Repeat("x", i%200), "at", document.A(i%90, i%45)))
		}
		require.NoError(t, database.Collection(name).Insert(t.Context(), documents...))
		for _, index := range []store.Index{
			{Keys: ascending("text")}, {Keys: ascending("_id.x")}, {Keys: []store.IndexKey{{Path: "at", Kind: query.Geo2D}}},
		} {
			require.NoError(t, database.Collection(name).EnsureIndex(t.Context(), index))
		}
	}
	require.NoError(t, database.Collection("a").Insert(t.Context(), document.O("_id", "long", "text", strings.Repeat("y", 20_000))))
	_, err := database.Collection("b").Delete(t.Context(), sharedtest.Filter(t, "_id", document.O("$lt", 200)), store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	held, err = all(t, database)
	require.NoError(t, err)
	require.NoError(t, database.Close())
	file, err = os.ReadFile(path)
	require.NoError(t, err)
	return file, held
}

// all returns the documents of the collections of filled, read by scans and by indexes.
func all(t *testing.T, database store.Store) (texts []string, err error) {
	t.Helper()
	for _, name := range []string{"a", "b", "small"} {
		for _, by := range []*query.Filter{nil, sharedtest.Filter(t, "text", document.O("$gte", ""))} {
			found, err := database.Collection(name).Find(t.Context(), by, store.FindOptions{})
			if err != nil {
				return nil, err
			}
			for _, o := range found {
				texts = append(texts, o.String())
			}
		}
	}
	return texts, nil
}

// harm returns a damaged copy of a file.
func harm(random *rand.Rand, whole []byte) []byte {
	file := bytes.Clone(whole)
	at := random.IntN(len(file))
	switch random.IntN(5) {
	case 0:
		file[at] ^= 1 << random.IntN(8)
	case 1: // Damage to page headers has the largest effect.
		at -= at % pageSize
		file[at+random.IntN(64)] = byte(random.Uint32())
	case 2:
		clear(file[at-at%pageSize:][:pageSize])
	case 3: // The page becomes an older version of itself, or a copy of another page.
		from := random.IntN(len(file)/pageSize) * pageSize
		copy(file[at-at%pageSize:][:pageSize], whole[from:])
	case 4:
		file = file[:at]
	}
	return file
}

// After any damage, the store reports it, or the content is still correct. Free pages and the bytes between
// parts of a page do not matter.
func TestDamage_ToldOrHarmless(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	whole, held := filled(t, path)
	random := rand.New(rand.NewPCG(1, 2))
	count := rounds.Of(t, 60, 6_000)
	outcomes := map[string]int{}
	for range count {
		require.NoError(t, os.WriteFile(path, harm(random, whole), 0o600))
		outcomes[outcomeOf(t, path, held)]++
	}
	t.Log(outcomes)
	require.Greater(t, outcomes["refused"]+outcomes["told by a read"]+outcomes["told by the check"], count/3)
}

// outcomeOf opens a damaged file and returns where the damage was reported. It fails the test if the content is
// wrong without a report.
func outcomeOf(t *testing.T, path string, held []string) string {
	t.Helper()
	database, err := sqlite.Open(path, sqlite.WithLogger(nil))
	if err != nil {
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.ErrorContains(t, err, path)
		return "refused"
	}
	defer func() { _ = database.Close() }() // The damage may cause an error.
	found, err := all(t, database)
	if err != nil {
		require.Contains(t, []boterr.Code{boterr.FailedPrecondition, boterr.Unavailable}, boterr.CodeOf(err), err)
		return "told by a read"
	}
	if err := database.Check(t.Context()); err != nil {
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		return "told by the check"
	}
	require.Equal(t, held, found, "the damage is not reported")
	return "harmless"
}

// The damage leaves a structure that is valid for SQLite.
func TestCheck_FindsEntriesThatAreLost(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]string{
		"an entry is gone":            "DELETE FROM k1 WHERE rowid_of_first",
		"an entry of another key":     "UPDATE k1 SET key=x'4142' WHERE (x,key,pos)=(SELECT x,key,pos FROM k1 LIMIT 1)",
		"a document is gone":          "DELETE FROM d1 WHERE pos=5",
		"a document is another":       "UPDATE d1 SET doc=(SELECT doc FROM d1 WHERE pos=7) WHERE pos=6",
		"an _id is another":           "UPDATE d1 SET id=x'00' WHERE pos=6",
		"an index has fewer features": "UPDATE botctx_collections SET indexes=x'00000000' WHERE n=1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			filled(t, path)
			db, err := sql.Open("sqlite", path)
			require.NoError(t, err)
			text := strings.Replace(harm, "WHERE rowid_of_first", "WHERE (x,key,pos)=(SELECT x,key,pos FROM k1 LIMIT 1)", 1)
			_, err = db.ExecContext(t.Context(), text)
			require.NoError(t, err)
			require.NoError(t, db.Close())
			database, err := sqlite.Open(path)
			if err == nil {
				err = database.Check(t.Context())
				require.NoError(t, database.Close())
			}
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, "damaged")
		})
	}
}

func TestCheck_WholeFile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	filled(t, path)
	require.NoError(t, open(t, path).Check(t.Context()))
}

// After damage in the middle of a log, SQLite would silently drop answered commits.
func TestOpen_TellsDamagedLog(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	database := open(t, path)
	for i := range 20 {
		put(t, database, "a", i)
	}
	log, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, at := range []int{10, len(log) / 4, len(log) / 2} {
		copied := newPath(t)
		harmed := bytes.Clone(log)
		harmed[at]++
		require.NoError(t, os.WriteFile(copied, file, 0o600))
		require.NoError(t, os.WriteFile(copied+"-wal", harmed, 0o600))
		_, err := sqlite.Open(copied)
		require.ErrorIs(t, err, boterr.FailedPrecondition, fmt.Sprint(at, " of ", len(log)))
		require.ErrorContains(t, err, "log")
		last := open(t, copied, sqlite.WithoutSync(), sqlite.WithLogger(nil))
		require.Less(t, len(contents(t, last, "a")), 20, "without waiting for the disk the last ones may be lost")
	}
	copied := newPath(t)
	require.NoError(t, os.WriteFile(copied, file, 0o600))
	require.NoError(t, os.WriteFile(copied+"-wal", log[:len(log)-100], 0o600))
	require.Len(t, contents(t, open(t, copied), "a"), 19, "the last commit was interrupted")
}
