package channels_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// apps holds the services of two apps that share a store.
type apps struct {
	mine, theirs *channels.Service
	now          time.Time
}

func newApps() *apps { return newAppsOn(memstore.New()) }

func newAppsOn(database store.Store) *apps {
	a := &apps{now: time.UnixMilli(1000)}
	env := record.Env{Store: database, Now: func() time.Time { return a.now }}
	a.mine = channels.New(env, record.Scope{App: "mine"})
	a.theirs = channels.New(env, record.Scope{App: "theirs"})
	return a
}

func save(t *testing.T, s *channels.Service, c channel.Channel) *channel.Channel {
	t.Helper()
	stored, err := s.Save(t.Context(), &c)
	require.NoError(t, err)
	return stored
}

func requireInvalid(t *testing.T, err error, field string) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	e, _ := boterr.AsError(err)
	require.Equal(t, field, e.Field)
}

func TestGetChannel_AnotherApp(t *testing.T) {
	t.Parallel()
	a := newApps()
	save(t, a.theirs, channel.Channel{ID: "c1", Type: channel.Webchat})
	_, err := a.mine.GetChannel(t.Context(), channel.GetParams{ChannelID: "c1"})
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = a.mine.Load(t.Context(), "c1")
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = a.mine.Save(t.Context(), &channel.Channel{ID: "c1", Type: channel.Webchat, Name: "taken"})
	require.ErrorIs(t, err, boterr.AlreadyExists)
	require.EqualError(t, err, `already exists: _id: another app has a channel with the id "c1": choose another id`)
	_, err = a.mine.Save(t.Context(), &channel.Channel{App: "theirs", Type: channel.Webchat})
	requireInvalid(t, err, "app")
	theirs, err := a.theirs.Load(t.Context(), "c1")
	require.NoError(t, err)
	require.Empty(t, theirs.Name)
}

func TestSave_StoreFails(t *testing.T) {
	t.Parallel()
	shared := memstore.New()
	save(t, newAppsOn(shared).theirs, channel.Channel{ID: "c1", Type: channel.Webchat})
	sharedtest.EachFailure(t, func(failing func(store.Store) store.Store) error {
		_, err := newAppsOn(failing(shared)).mine.Save(t.Context(), &channel.Channel{ID: "c1", Type: channel.Webchat})
		if errors.Is(err, boterr.AlreadyExists) {
			return nil
		}
		return err
	})
}

func TestSave_InsertsAndReplaces(t *testing.T) {
	t.Parallel()
	a := newApps()
	first := save(t, a.mine, channel.Channel{
		Type: channel.Alpha, Name: "one", Info: &channel.AlphaInfo{AccessToken: channel.NewSecret("s")},
	})
	require.NotEmpty(t, first.ID)
	require.Equal(t, "mine", first.App)
	require.Equal(t, int64(1), first.Version)

	a.now = a.now.Add(time.Second)
	changed := *first
	changed.Name, changed.On = "", true
	second := save(t, a.mine, changed)
	require.Equal(t, first.ID, second.ID)
	require.Empty(t, second.Name, "the channel becomes what was saved")
	require.Equal(t, first.CreatedAt, second.CreatedAt)
	require.Equal(t, first.UpdatedAt+1000, second.UpdatedAt)
	require.Equal(t, int64(2), second.Version)
	require.NotEqual(t, first.Etag, second.Etag)

	loaded, err := a.mine.Load(t.Context(), first.ID)
	require.NoError(t, err)
	require.Equal(t, second, loaded)
	require.Equal(t, "s", loaded.Info.(channel.AlphaInfo).AccessToken.Reveal())
}

func TestSave_KeepsWhatItHasNotSeen(t *testing.T) {
	t.Parallel()
	a := newApps()
	stale := save(t, a.mine, channel.Channel{ID: "c1", Type: channel.Webchat})
	save(t, a.mine, channel.Channel{ID: "c1", Type: channel.Webchat, Name: "newer"})
	_, err := a.mine.Save(t.Context(), stale)
	require.ErrorIs(t, err, boterr.Conflict)
	_, err = a.mine.Save(t.Context(), &channel.Channel{ID: "c2", Type: channel.Webchat, Etag: "e"})
	require.ErrorIs(t, err, boterr.NotFound)
}

func TestSave_EtagGrows(t *testing.T) {
	t.Parallel()
	a := newApps()
	startMs := a.now.UnixMilli()
	for after, change := range []func(){func() {}, func() {}, func() { a.now = a.now.Add(-time.Hour) }} {
		change()
		saved := save(t, a.mine, channel.Channel{ID: "c1", Type: channel.Webchat, Name: strconv.Itoa(after)})
		require.Equal(t, strconv.FormatInt(startMs+int64(after), 10), saved.Etag)
	}
	seen, err := a.mine.Load(t.Context(), "c1")
	require.NoError(t, err)
	a.now = a.now.Add(2 * time.Hour)
	seen.Name = "seen"
	require.Equal(t, strconv.FormatInt(a.now.UnixMilli(), 10), save(t, a.mine, *seen).Etag)
}

func TestSave_EtagsAtOnce(t *testing.T) {
	t.Parallel()
	a := newApps()
	const saves = 20
	etags := make(chan string, saves)
	var all sync.WaitGroup
	for i := range saves {
		all.Go(func() {
			saved, err := a.mine.Save(t.Context(), &channel.Channel{ID: "c1", Type: channel.Webchat, Name: strconv.Itoa(i)})
			if err == nil {
				etags <- saved.Etag
			}
		})
	}
	all.Wait()
	close(etags)
	seen := map[string]bool{}
	for etag := range etags {
		seen[etag] = true
	}
	require.Len(t, seen, saves)
}

func TestSave_Refuses(t *testing.T) {
	t.Parallel()
	a := newApps()
	for field, c := range map[string]*channel.Channel{
		"channel":          nil,
		"type":             {Name: "n"},
		"info":             {Type: channel.Bravo, Info: channel.AlphaInfo{}},
		"info.accessToken": new(parse(t, `{"_id": "c1", "type": "alpha", "info": {"accessToken": "[redacted]"}}`)),
	} {
		_, err := a.mine.Save(t.Context(), c)
		requireInvalid(t, err, field)
	}
	for _, c := range []channel.Channel{
		{Type: channel.Webchat, Info: channel.AlphaInfo{}},
		{Type: channel.Alpha, Info: channel.OtherInfo{}},
		{Type: channel.Alpha, Info: (*channel.AlphaInfo)(nil)},
	} {
		_, err := a.mine.Save(t.Context(), &c)
		requireInvalid(t, err, "info")
	}
	_, err := a.mine.Load(t.Context(), "c1")
	require.ErrorIs(t, err, boterr.NotFound)
}

func TestPair_KeepsOrder(t *testing.T) {
	t.Parallel()
	a := newApps()
	for _, id := range []string{"in", "out1", "out2"} {
		save(t, a.mine, channel.Channel{ID: id, Type: channel.Webchat})
	}
	requirePairing := func(s *channels.Service, app string, outlets ...string) {
		t.Helper()
		pairing, err := s.Pairing(t.Context(), "in")
		require.NoError(t, err)
		require.Equal(t, &channel.Pairing{App: app, Inlet: "in", Outlets: append([]string{}, outlets...)}, pairing)
	}
	requirePairing(a.mine, "mine")
	require.NoError(t, a.mine.Pair(t.Context(), a.mine, "in", "out2", "out1"))
	requirePairing(a.mine, "mine", "out2", "out1")
	requirePairing(a.theirs, "theirs")
	require.NoError(t, a.mine.Pair(t.Context(), a.mine, "in", "out1"))
	requirePairing(a.mine, "mine", "out1")
	require.NoError(t, a.mine.Pair(t.Context(), a.mine, "in"))
	requirePairing(a.mine, "mine")
}

func TestPair_Refuses(t *testing.T) {
	t.Parallel()
	a := newApps()
	save(t, a.mine, channel.Channel{ID: "in", Type: channel.Webchat})
	save(t, a.mine, channel.Channel{ID: "out", Type: channel.Webchat})
	save(t, a.theirs, channel.Channel{ID: "theirs", Type: channel.Webchat})
	require.NoError(t, a.mine.Pair(t.Context(), a.mine, "in", "out"))
	requireInvalid(t, a.mine.Pair(t.Context(), a.mine, "in", "in"), "outlets[0]")
	requireInvalid(t, a.mine.Pair(t.Context(), a.mine, "in", "out", "out"), "outlets[1]")
	require.ErrorIs(t, a.mine.Pair(t.Context(), a.mine, "in", "out", "theirs"), boterr.NotFound)
	require.ErrorIs(t, a.mine.Pair(t.Context(), a.mine, "theirs", "out"), boterr.NotFound)
	pairing, err := a.mine.Pairing(t.Context(), "in")
	require.NoError(t, err)
	require.Equal(t, []string{"out"}, pairing.Outlets)
}

func TestGetChannel_Unreadable(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	require.NoError(t, store.Collection("channels").Insert(t.Context(), document.O("_id", "c1", "app", "mine", "name", 5)))
	_, err := channels.New(record.Env{Store: store}, record.Scope{App: "mine"}).Load(t.Context(), "c1")
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "c1")
}

func parse(t *testing.T, text string) channel.Channel {
	t.Helper()
	var c channel.Channel
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	return c
}

func TestLoad_Remembered(t *testing.T) {
	t.Parallel()
	service := channels.New(record.Env{Store: memstore.New()}, record.Scope{App: "shop"})
	service.Decoded = channels.NewDecoded()
	saved, err := service.Save(t.Context(), &channel.Channel{Type: channel.Webchat, Name: "Shop", PriorityGroups: []channel.PriorityGroup{{Group: "day"}}})
	require.NoError(t, err)
	first, err := service.Load(t.Context(), saved.ID)
	require.NoError(t, err)
	first.Name, first.PriorityGroups[0].Group = "of the caller", "of the caller"

	again, err := service.Load(t.Context(), saved.ID)
	require.NoError(t, err)
	require.Equal(t, saved, again)

	saved.Name = "Shop and more"
	_, err = service.Save(t.Context(), saved)
	require.NoError(t, err)
	changed, err := service.Load(t.Context(), saved.ID)
	require.NoError(t, err)
	require.Equal(t, "Shop and more", changed.Name)
}
