package bolt_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/recording"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
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

// Whatever happens to a page, opening reports it, or the content is as written: bytes between the parts of a
// page, and free pages, mean nothing.
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
		case 1: // Damage to the heads of pages matters most.
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

// callSome calls operations that write, read, find nothing and fail.
func callSome(t *testing.T, bot botctx.Operations, now time.Time, memberID string) {
	t.Helper()
	ctx := t.Context()
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{DataSourceID: "orders", Data: []document.Object{
		document.O("of", memberID, "cents", 2500), document.O("of", memberID, "cents", 900),
	}})
	require.NoError(t, err)
	for range 3 {
		_, err = bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
			DataSourceID: "orders", Filter: document.O("paid", document.O("$exists", false)), SortBy: document.O("cents", 1),
			Patch: document.Set("paid", true),
		})
		require.NoError(t, err)
	}
	_, err = bot.FetchDataFromDataSource(ctx, datasource.FetchParams{DataSourceID: "orders", SortBy: document.O("cents", -1)})
	require.NoError(t, err)
	_, err = bot.NewAgenda(ctx, agenda.NewParams{
		MemberID: memberID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(now.Add(time.Hour)), Tag: "order",
	})
	require.NoError(t, err)
	_, err = bot.PatchMembers(ctx, member.PatchParams{Filter: document.O("_id", memberID), Patch: document.O("meta", document.O("seen", true))})
	require.NoError(t, err)
	_, err = bot.GetMember(ctx, member.GetParams{MemberID: memberID})
	require.NoError(t, err)
	_, err = bot.GetMember(ctx, member.GetParams{MemberID: "nobody"})
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = bot.SendResponse(ctx, send.SendResponseParams{Response: send.Text("Thank you.")})
	require.NoError(t, err)
}

// What a host over a file answered, the platform in memory answers, and a replay.
func TestRecording_OfAHost(t *testing.T) {
	t.Parallel()
	host := fakes.New(fakes.For(t), fakes.StartAt(fakes.Start().Add(1000*time.Hour)), fakes.Config(func(c *botctx.Config) {
		c.Store, c.NewID, c.DeriveID = open(t, newPath(t), bolt.WithNow(c.Now)), nil, nil // It makes its ids as in production.
	}))
	eve := host.AddMember(member.Member{FirstName: "Ada", ExternalID: "x-1"})
	var file bytes.Buffer
	recorder := recording.New(&file, host.Now)
	callSome(t, recorder.Operations(eve.Context(), eve.Scope()), host.Now(), eve.ID())
	require.NoError(t, recorder.Err())
	recorded, err := recording.Read("host.jsonl", &file)
	require.NoError(t, err)
	require.Len(t, recorded.Calls, 10)

	memory := fakes.New(fakes.For(t))
	memory.Handle(&botctx.Node{ID: "reminder", Entry: true, Responses: botctx.Say("Still yours.")})
	ada := memory.AddMember(member.Member{FirstName: "Ada", ExternalID: "x-1"})
	differences, err := recorded.Check(t.Context(), recording.Check{
		Door: func(scope record.Scope) botctx.Caller { return memory.Operations(scope) },
		IDs:  map[string]string{eve.ID(): ada.ID(), eve.Scope().Channel: ada.Scope().Channel},
		Now:  memory.Now, Advance: memory.Advance,
	})
	require.NoError(t, err)
	require.Empty(t, differences.String())
	require.Equal(t, "Thank you.", ada.Last())

	replay := recorded.Replay()
	callSome(t, replay.Operations(eve.Scope()), host.Now(), eve.ID())
	require.Empty(t, replay.Left())
}
