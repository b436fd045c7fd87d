package chatlog_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

var ada = chatlog.Conversation{App: "shop", Channel: "web", ID: "ada"}

// unwatched hides that a store is a store.Watcher, so that the store counts as shared.
type unwatched struct{ store.Store }

type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.at.Store(1_760_000_000_000)
	return c
}

func (c *clock) now() time.Time          { return time.UnixMilli(c.at.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.at.Add(d.Milliseconds()) }

func open(t *testing.T, config chatlog.Config) *chatlog.Log {
	t.Helper()
	if config.Env.Store == nil {
		config.Env.Store = memstore.New()
	}
	config.Poll = time.Millisecond
	log, err := chatlog.New(config)
	require.NoError(t, err)
	return log
}

func entry(key string) chatlog.Entry {
	return chatlog.Entry{Key: key, From: "me", Body: document.O("text", key)}
}

func add(t *testing.T, log *chatlog.Log, keys ...string) []int64 {
	t.Helper()
	var seqs []int64
	for _, key := range keys {
		stored, isNew, err := log.Append(t.Context(), ada, entry(key))
		require.NoError(t, err)
		require.True(t, isNew, key)
		seqs = append(seqs, stored.Seq)
	}
	return seqs
}

func keysOf(page chatlog.Page) string {
	var keys []string
	for _, e := range page.Entries {
		keys = append(keys, e.Key)
	}
	return strings.Join(keys, " ")
}

func TestAppend_StoresTheEntry(t *testing.T) {
	t.Parallel()
	c := newClock()
	log := open(t, chatlog.Config{Env: record.Env{Store: memstore.New(memstore.WithNow(c.now)), Now: c.now}})
	stored, isNew, err := log.Append(t.Context(), ada, chatlog.Entry{
		Key: "k", From: "agent", Name: "Grace", Body: document.O("text", "hi"),
	})
	require.NoError(t, err)
	require.True(t, isNew)
	require.Equal(t, chatlog.Entry{
		Seq: c.at.Load(), Key: "k", From: "agent", Name: "Grace", At: document.TimestampOf(c.now()), Body: document.O("text", "hi"),
	}, stored)
	found, exists, err := log.Lookup(t.Context(), ada, "k")
	require.NoError(t, err)
	require.True(t, exists)
	require.Equal(t, stored, found)
	page, err := log.After(t.Context(), ada, 0, 0)
	require.NoError(t, err)
	require.Equal(t, chatlog.Page{Entries: []chatlog.Entry{stored}}, page)
}

func TestAppend_NumbersWithoutGaps(t *testing.T) {
	t.Parallel()
	seqs := add(t, open(t, chatlog.Config{}), "a", "b", "c")
	require.Equal(t, []int64{seqs[0], seqs[0] + 1, seqs[0] + 2}, seqs)
}

func TestAppend_KnowsARepeat(t *testing.T) {
	t.Parallel()
	log := open(t, chatlog.Config{})
	seqs := add(t, log, "a", "b")
	again, isNew, err := log.Append(t.Context(), ada, chatlog.Entry{Key: "a", Body: document.O("text", "other")})
	require.NoError(t, err)
	require.False(t, isNew)
	require.Equal(t, seqs[0], again.Seq)
	require.Equal(t, document.O("text", "a"), again.Body)
}

func TestAppend_Refuses(t *testing.T) {
	t.Parallel()
	log := open(t, chatlog.Config{})
	long := strings.Repeat("x", chatlog.MaxName+1)
	for field, given := range map[string]struct {
		in chatlog.Conversation
		e  chatlog.Entry
	}{
		"app":          {chatlog.Conversation{Channel: "web", ID: "ada"}, entry("a")},
		"channel":      {chatlog.Conversation{App: "shop", ID: "ada"}, entry("a")},
		"conversation": {chatlog.Conversation{App: "shop", Channel: "web", ID: long}, entry("a")},
		"key":          {ada, entry("")},
		"from":         {ada, chatlog.Entry{Key: "k", From: long}},
		"name":         {ada, chatlog.Entry{Key: "k", Name: "\xff"}},
		"body":         {ada, chatlog.Entry{Key: "k", Body: document.O("text", strings.Repeat("x", chatlog.MaxBody))}},
		"body.text":    {ada, chatlog.Entry{Key: "k", Body: document.O("text", make(chan int))}},
	} {
		_, _, err := log.Append(t.Context(), given.in, given.e)
		coded, isCoded := boterr.AsError(err)
		require.True(t, isCoded, field)
		require.Equal(t, boterr.InvalidArgument, coded.Code, field)
		require.Equal(t, field, coded.Field)
	}
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]chatlog.Config{
		"env.store":  {},
		"poll":       {Env: record.Env{Store: memstore.New()}, Poll: -1},
		"collection": {Env: record.Env{Store: memstore.New()}, Collection: strings.Repeat("x", store.MaxName)},
	} {
		_, err := chatlog.New(config)
		coded, _ := boterr.AsError(err)
		require.NotNil(t, coded, field)
		require.Equal(t, field, coded.Field)
	}
}

func TestRead_Pages(t *testing.T) {
	t.Parallel()
	log := open(t, chatlog.Config{})
	first := add(t, log, "a", "b", "c", "d", "e")[0]
	for _, row := range []struct {
		name  string
		page  func() (chatlog.Page, error)
		keys  string
		more  bool
		isCut bool
	}{
		{"after the beginning", func() (chatlog.Page, error) { return log.After(t.Context(), ada, 0, 3) }, "a b c", true, false},
		{"after an entry", func() (chatlog.Page, error) { return log.After(t.Context(), ada, first, 3) }, "b c d", true, false},
		{"up to the end", func() (chatlog.Page, error) { return log.After(t.Context(), ada, first+1, 3) }, "c d e", false, false},
		{"after the end", func() (chatlog.Page, error) { return log.After(t.Context(), ada, first+4, 3) }, "", false, false},
		{"after an unknown one", func() (chatlog.Page, error) { return log.After(t.Context(), ada, first-1, 2) }, "a b", true, true},
		{"beyond the end", func() (chatlog.Page, error) { return log.After(t.Context(), ada, first+9, 2) }, "", false, true},
		{"before the end", func() (chatlog.Page, error) { return log.Before(t.Context(), ada, 0, 2) }, "d e", true, false},
		{"before an entry", func() (chatlog.Page, error) { return log.Before(t.Context(), ada, first+2, 2) }, "a b", false, false},
		{"before the first", func() (chatlog.Page, error) { return log.Before(t.Context(), ada, first, 2) }, "", false, false},
		{"another conversation", func() (chatlog.Page, error) {
			return log.After(t.Context(), chatlog.Conversation{App: "shop", Channel: "web", ID: "bob"}, 0, 2)
		}, "", false, false},
	} {
		page, err := row.page()
		require.NoError(t, err, row.name)
		require.Equal(t, row.keys, keysOf(page), row.name)
		require.Equal(t, row.more, page.More, row.name)
		require.Equal(t, row.isCut, page.IsCut, row.name)
	}
	newest, err := log.Newest(t.Context(), ada)
	require.NoError(t, err)
	require.Equal(t, first+4, newest)
}

// reader follows a conversation with a subscription until it has read a number of entries, and returns them.
func reader(ctx context.Context, log *chatlog.Log, number int) (read []chatlog.Entry, err error) {
	sub, err := log.Subscribe(ada)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	var seq int64
	for {
		page, err := log.After(ctx, ada, seq, 7)
		if err != nil {
			return read, err
		}
		if page.IsCut {
			return read, errors.New("entries are missing")
		}
		read = append(read, page.Entries...)
		if len(read) >= number {
			return read, nil
		}
		if len(read) > 0 {
			seq = read[len(read)-1].Seq
		}
		sub.Seen(seq, 0)
		if page.More {
			continue
		}
		select {
		case <-sub.C:
		case <-ctx.Done():
			return read, fmt.Errorf("%d of %d entries: %w", len(read), number, ctx.Err())
		}
	}
}

// patience is the time after which a test gives up.
const patience = 5 * time.Minute

// eachStore runs a test over a watched store, and over a store that counts as shared.
func eachStore(t *testing.T, test func(t *testing.T, database store.Store)) {
	t.Helper()
	for name, database := range map[string]store.Store{"watched": memstore.New(), "polled": unwatched{memstore.New()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, database)
		})
	}
}

func TestProcesses_NothingLostDoubledOrOutOfOrder(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, database store.Store) {
		t.Helper()
		const processes, writers, each = 2, 3, 20
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		var all sync.WaitGroup
		failures := make(chan error, processes*(writers+2))
		for process := range processes {
			log := open(t, chatlog.Config{Env: record.Env{Store: database}})
			for writer := range writers {
				all.Go(func() {
					for i := range each {
						// Both processes write the same entries. Only the first write of each entry counts.
						for range 2 {
							if _, _, err := log.Append(ctx, ada, entry(fmt.Sprintf("%d-%d", writer, i))); err != nil {
								failures <- fmt.Errorf("process %d: %w", process, err)
								return
							}
						}
					}
				})
			}
			for range 2 {
				all.Go(func() {
					read, err := reader(ctx, log, writers*each)
					failures <- errors.Join(err, inOrder(read))
				})
			}
		}
		all.Wait()
		close(failures)
		for err := range failures {
			require.NoError(t, err)
		}
		log := open(t, chatlog.Config{Env: record.Env{Store: database}})
		page, err := log.After(t.Context(), ada, 0, 0)
		require.NoError(t, err)
		require.Len(t, page.Entries, writers*each)
	})
}

// inOrder returns an error if numbers are missing, or if a writer's entries are duplicated or out of order.
func inOrder(read []chatlog.Entry) error {
	last := map[string]int{}
	for i, e := range read {
		if e.Seq != read[0].Seq+int64(i) {
			return fmt.Errorf("the number %d is missing", read[0].Seq+int64(i))
		}
		var writer, number int
		if _, err := fmt.Sscanf(e.Key, "%d-%d", &writer, &number); err != nil {
			return err
		}
		name := strconv.Itoa(writer)
		if before, isLater := last[name]; isLater && number != before+1 || !isLater && number != 0 {
			return fmt.Errorf("%s comes after %d", e.Key, before)
		}
		last[name] = number
	}
	return nil
}

var errDown = errors.New("the store is down")

func TestAppend_ARepeatAfterAFailureStoresOnce(t *testing.T) {
	t.Parallel()
	for failing := 1; ; failing++ {
		for _, isDone := range []bool{false, true} { // Whether the failing call still has its effect.
			inner := memstore.New()
			calls := 0
			broken := store.Wrap(inner, func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
				calls++
				if calls != failing {
					return ctx, nil, nil
				}
				if !isDone {
					return ctx, nil, errDown
				}
				return ctx, func(int, error) error { return errDown }, nil
			})
			log := open(t, chatlog.Config{Env: record.Env{Store: broken}})
			_, _, err := log.Append(t.Context(), ada, entry("a"))
			if calls < failing {
				require.Greater(t, failing, 4)
				return
			}
			if err != nil { // Append returns no error if only the removal of old entries fails.
				require.ErrorIs(t, err, errDown)
			}
			_, _, err = log.Append(t.Context(), ada, entry("a"))
			require.NoError(t, err)
			add(t, log, "b")
			page, err := log.After(t.Context(), ada, 0, 0)
			require.NoError(t, err)
			require.Equal(t, "a b", keysOf(page))
			require.Equal(t, page.Entries[0].Seq+1, page.Entries[1].Seq)
		}
	}
}

// mortal returns the store of a process that dies at a random call. This call and all later ones fail. Whether the call
// has an effect is random, too.
func mortal(inner store.Store, random *rand.Rand) store.Store {
	const calls = 12
	left, isDone := random.IntN(calls), random.IntN(2) == 0
	return store.Wrap(inner, func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
		left--
		switch {
		case left > 0:
			return ctx, nil, nil
		case left == 0 && isDone:
			return ctx, func(int, error) error { return errDown }, nil
		default:
			return ctx, nil, errDown
		}
	})
}

func TestProcesses_DieAtAnyCall(t *testing.T) {
	t.Parallel()
	const writers, each = 3, 40
	database := unwatched{memstore.New()}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var all sync.WaitGroup
	failures := make(chan error, writers+1)
	for writer := range writers {
		random := rand.New(rand.NewPCG(1, uint64(writer)))
		log := open(t, chatlog.Config{Env: record.Env{Store: mortal(database, random)}})
		all.Go(func() {
			for i := 0; i < each && ctx.Err() == nil; {
				_, _, err := log.Append(ctx, ada, entry(fmt.Sprintf("%d-%d", writer, i)))
				switch {
				case err == nil:
					i++
				case errors.Is(err, errDown): // Another process takes over, and tries again.
					log = open(t, chatlog.Config{Env: record.Env{Store: mortal(database, random)}})
				default:
					failures <- err
					return
				}
			}
		})
	}
	all.Go(func() {
		read, err := reader(ctx, open(t, chatlog.Config{Env: record.Env{Store: database}}), writers*each)
		failures <- errors.Join(err, inOrder(read))
	})
	all.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
}

func TestSubscribe_WakesForEachChange(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, database store.Store) {
		t.Helper()
		here := open(t, chatlog.Config{Env: record.Env{Store: database}})
		there := open(t, chatlog.Config{Env: record.Env{Store: database}})
		sub, err := here.Subscribe(ada)
		require.NoError(t, err)
		t.Cleanup(sub.Close)
		woken := func() {
			t.Helper()
			select {
			case <-sub.C:
			case <-time.After(patience):
				require.FailNow(t, "the subscription did not wake")
			}
			newest, err := here.Newest(t.Context(), ada)
			require.NoError(t, err)
			state, err := here.State(t.Context(), ada)
			require.NoError(t, err)
			sub.Seen(newest, state.Version)
			select { // A poll that was in progress may have woken the subscription.
			case <-sub.C:
			default:
			}
		}
		add(t, there, "a")
		woken()
		add(t, there, "b")
		woken()
		require.NoError(t, there.SetTyping(t.Context(), ada, chatlog.Typist{Key: "bot", From: "bot"}))
		woken()
		require.NoError(t, there.SetMark(t.Context(), ada, "read", 1))
		woken()
		_, err = there.Erase(t.Context(), ada)
		require.NoError(t, err)
		woken()
		add(t, there, "c")
		woken()
	})
}

func TestSubscribe_ManyConversations(t *testing.T) {
	t.Parallel()
	database := unwatched{memstore.New()}
	here := open(t, chatlog.Config{Env: record.Env{Store: database}})
	there := open(t, chatlog.Config{Env: record.Env{Store: database}})
	var last *chatlog.Subscription
	for i := range 2500 {
		sub, err := here.Subscribe(chatlog.Conversation{App: "shop", Channel: "web", ID: strconv.Itoa(i)})
		require.NoError(t, err)
		t.Cleanup(sub.Close)
		last = sub
	}
	_, _, err := there.Append(t.Context(), chatlog.Conversation{App: "shop", Channel: "web", ID: "2499"}, entry("a"))
	require.NoError(t, err)
	select {
	case <-last.C:
	case <-time.After(patience):
		require.Fail(t, "the subscription did not wake")
	}
}

func TestState_MarksRise(t *testing.T) {
	t.Parallel()
	log := open(t, chatlog.Config{})
	for _, seq := range []int64{5, 3, 7, 7} {
		require.NoError(t, log.SetMark(t.Context(), ada, "read", seq))
	}
	require.NoError(t, log.SetMark(t.Context(), ada, "delivered", 2))
	state, err := log.State(t.Context(), ada)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"read": 7, "delivered": 2}, state.Marks)
	require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(log.SetMark(t.Context(), ada, "a.b", 1)))
}

func TestState_TypingEnds(t *testing.T) {
	t.Parallel()
	c := newClock()
	log := open(t, chatlog.Config{Env: record.Env{Store: memstore.New(), Now: c.now}})
	typing := func() (names []string) {
		state, err := log.State(t.Context(), ada)
		require.NoError(t, err)
		for _, typist := range state.Typing {
			names = append(names, typist.Name)
		}
		return names
	}
	require.Empty(t, typing())
	require.NoError(t, log.SetTyping(t.Context(), ada, chatlog.Typist{Key: "$a.b", From: "agent", Name: "Grace"}))
	c.advance(chatlog.TypingTime / 2)
	require.NoError(t, log.SetTyping(t.Context(), ada, chatlog.Typist{Key: "b", From: "agent", Name: "Alan"}))
	require.Equal(t, []string{"Grace", "Alan"}, typing())
	c.advance(chatlog.TypingTime / 2)
	require.Equal(t, []string{"Alan"}, typing())
	require.NoError(t, log.StopTyping(t.Context(), ada, "b"))
	require.Empty(t, typing())
}

func TestErase_RemovesOneConversation(t *testing.T) {
	t.Parallel()
	c := newClock()
	log := open(t, chatlog.Config{Env: record.Env{Store: memstore.New(memstore.WithNow(c.now)), Now: c.now}})
	bob := chatlog.Conversation{App: "shop", Channel: "web", ID: "bob"}
	seqs := add(t, log, "a", "b")
	require.NoError(t, log.SetMark(t.Context(), ada, "read", 1))
	_, _, err := log.Append(t.Context(), bob, entry("a"))
	require.NoError(t, err)

	removed, err := log.Erase(t.Context(), ada)
	require.NoError(t, err)
	require.Equal(t, int64(2), removed)
	page, err := log.After(t.Context(), ada, seqs[1], 0)
	require.NoError(t, err)
	require.True(t, page.IsCut)
	state, err := log.State(t.Context(), ada)
	require.NoError(t, err)
	require.Zero(t, state)
	page, err = log.After(t.Context(), bob, 0, 0)
	require.NoError(t, err)
	require.Len(t, page.Entries, 1)

	c.advance(time.Second)
	require.Greater(t, add(t, log, "a")[0], seqs[1], "a number is never used again")
}

func TestRetention_ByAge(t *testing.T) {
	t.Parallel()
	c := newClock()
	log := open(t, chatlog.Config{Env: record.Env{Store: memstore.New(), Now: c.now}, KeepFor: 24 * time.Hour})
	add(t, log, "a")
	require.NoError(t, log.SetMark(t.Context(), ada, "read", 1))
	c.advance(23 * time.Hour)
	first := add(t, log, "b")[0]
	c.advance(2 * time.Hour)
	add(t, log, "c")
	_, err := log.RemoveOld(t.Context())
	require.NoError(t, err)
	page, err := log.After(t.Context(), ada, 0, 0)
	require.NoError(t, err)
	require.Equal(t, "b c", keysOf(page))
	require.Equal(t, first, page.Entries[0].Seq)
	page, err = log.After(t.Context(), ada, first-1, 0)
	require.NoError(t, err)
	require.True(t, page.IsCut)
	state, err := log.State(t.Context(), ada)
	require.NoError(t, err)
	require.Zero(t, state)
}

func TestRetention_InBatches(t *testing.T) {
	t.Parallel()
	c := newClock()
	log := open(t, chatlog.Config{Env: record.Env{Store: memstore.New(), Now: c.now}, KeepFor: time.Hour, KeepEntries: -1})
	for i := range 1200 {
		add(t, log, strconv.Itoa(i))
	}
	c.advance(2 * time.Hour)
	removed, err := log.RemoveOld(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(1200), removed)
}

func TestRetention_ByNumber(t *testing.T) {
	t.Parallel()
	c := newClock()
	log := open(t, chatlog.Config{Env: record.Env{Store: memstore.New(), Now: c.now}, KeepEntries: 10, KeepFor: -1})
	for i := range 200 {
		add(t, log, strconv.Itoa(i))
	}
	page, err := log.Before(t.Context(), ada, 0, 0)
	require.NoError(t, err)
	require.Len(t, page.Entries, 200, "entries of the last hour are kept")
	c.advance(2 * time.Hour)
	for i := range 64 {
		add(t, log, fmt.Sprint("late ", i))
	}
	page, err = log.Before(t.Context(), ada, 0, 0)
	require.NoError(t, err)
	require.False(t, page.More)
	require.Less(t, len(page.Entries), 10+2*64)
	require.Equal(t, "late 63", page.Entries[len(page.Entries)-1].Key)
}

// The log's queries must use indexes, so that other conversations do not slow them down.
func TestQueries_UseIndexes(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	log := open(t, chatlog.Config{Env: record.Env{Store: database}})
	for i := range 100 {
		for j := range 5 {
			_, _, err := log.Append(t.Context(), chatlog.Conversation{App: "shop", Channel: "web", ID: strconv.Itoa(i)}, entry(strconv.Itoa(j)))
			require.NoError(t, err)
		}
	}
	key, id := `"shop" "web" "7"`, `"shop" "web" "7" 0`
	for name, row := range map[string]struct {
		filter   document.Object
		options  store.FindOptions
		examined int64
	}{
		"newest": {document.O("log", key), store.FindOptions{Sort: sortOf(t, "seq", -1), Limit: 1}, 1},
		"after":  {document.O("log", key, "seq", document.O("$gte", 1)), store.FindOptions{Sort: sortOf(t, "seq", 1), Limit: 3}, 3},
		"before": {document.O("log", key, "seq", document.O("$lt", int64(1)<<60)), store.FindOptions{Sort: sortOf(t, "seq", -1), Limit: 3}, 3},
		"key":    {document.O("log", key, "key", "3"), store.FindOptions{Limit: 1}, 1},
		"poll":   {document.O("_id", document.O("$in", document.A(id, "x", "y"))), store.FindOptions{}, 1},
		"old":    {document.O("at", document.O("$lt", 1)), store.FindOptions{Sort: sortOf(t, "at", 1), Limit: 500}, 0},
	} {
		filter, err := query.CompileFilter(row.filter)
		require.NoError(t, err)
		plan, err := database.Explain(t.Context(), "chatlog", filter, row.options)
		require.NoError(t, err)
		require.Equal(t, row.examined, plan.Examined, "%s: %+v", name, plan)
	}
}

func sortOf(t *testing.T, pairs ...any) *query.Sort {
	t.Helper()
	sort, err := query.CompileSort(document.O(pairs...))
	require.NoError(t, err)
	return sort
}
