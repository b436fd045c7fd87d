package botctx_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// fleet creates Runtimes that share a store, like several processes. Time passes only when advance is called.
type fleet struct {
	t        *testing.T
	mu       sync.Mutex
	now      time.Time
	database store.Store
	sent     sentTexts
	// wait is Config.MaxWait and AgendaWait of the next Runtime, in real time.
	wait time.Duration
}

// sharedStore hides the method of store.Watcher, so that a Runtime treats the store as shared with other processes.
type sharedStore struct{ store.Store }

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, now: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), wait: time.Minute}
	f.use(sharedStore{memstore.New(memstore.WithNow(f.clock))})
	return f
}

// use makes the next Runtimes use a store, and adds the channel "web" to it.
func (f *fleet) use(database store.Store) {
	f.t.Helper()
	f.database = database
	saveChannel(f.t, f.made(), channel.Channel{ID: "web", Type: channel.Webchat})
}

func (f *fleet) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *fleet) advance(by time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(by)
}

// made returns a new Runtime.
func (f *fleet) made(changes ...func(*botctx.Config)) *botctx.Runtime {
	f.t.Helper()
	config := webchat(&f.sent)
	config.Store, config.Now, config.MaxWait, config.AgendaWait = f.database, f.clock, f.wait, f.wait
	for _, change := range changes {
		change(&config)
	}
	runtime, err := botctx.New(config)
	require.NoError(f.t, err)
	return runtime
}

// process returns a new Runtime whose HandleFunc is action.
func (f *fleet) process(action botctx.Action, changes ...func(*botctx.Config)) *botctx.Runtime {
	f.t.Helper()
	runtime := f.made(changes...)
	runtime.HandleFunc(action)
	return runtime
}

// fromAda returns a text message from ada. id is its MessageID.
func fromAda(text, id string) botctx.Inbound {
	return message("ada", text, id)
}

// message returns a text message in the channel "web" of the app "shop".
func message(from, text, id string) botctx.Inbound {
	return botctx.Inbound{App: "shop", Channel: "web", Event: send.MessageEvent{
		From: from, Type: send.TypeText, Data: document.O("text", text), MessageID: id,
	}}
}

func (f *fleet) runNext(by *botctx.Runtime) botctx.EventResult {
	f.t.Helper()
	result, err := by.RunNextEvent(f.t.Context())
	require.NoError(f.t, err)
	return result
}

// echo repeats the member's text.
func echo(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text(bot.MessageEvent.Text()))
}

func TestAccept_RunsOnceInOrderInAnyProcess(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	first, second := f.process(echo), f.process(echo)
	for i := range 4 {
		text := strconv.Itoa(i)
		require.NoError(t, first.Accept(t.Context(), fromAda(text, text)))
		require.NoError(t, second.Accept(t.Context(), fromAda(text, text)), "a repetition by the platform is accepted")
	}
	require.Empty(t, f.sent.all(), "nothing runs before Run")
	for range 2 {
		require.NoError(t, f.runNext(second).Err)
		require.NoError(t, f.runNext(first).Err)
	}
	require.False(t, f.runNext(first).Ran)
	require.Equal(t, []string{"0", "1", "2", "3"}, f.sent.all())
}

func TestAccept_KeepsAllThatArrived(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var seen send.MessageEvent
	var made member.Member
	p := f.process(func(_ context.Context, bot *botctx.Context) error {
		seen, made = *bot.MessageEvent, *bot.Member
		return nil
	})
	arrived := fromAda("hi", "m1")
	arrived.Event.Timestamp = 1_767_225_600_123
	arrived.Event.Unknown = document.O("channel_data", document.O("a", 1))
	arrived.GroupExternalID, arrived.Event.To = "family", "family"
	arrived.Profile = member.Member{FirstName: "Ada", Locale: "en_GB"}
	require.NoError(t, p.Accept(t.Context(), arrived))
	require.NoError(t, f.runNext(p).Err)
	require.Equal(t, arrived.Event, seen)
	require.Equal(t, "Ada", made.FirstName)
	require.Equal(t, "en_GB", made.Locale)
}

func TestAccept_TapWithoutATimeIsKnownAgain(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var at []document.Timestamp
	p := f.process(func(_ context.Context, bot *botctx.Context) error {
		at = append(at, bot.MessageEvent.Timestamp)
		return nil
	})
	tap := fromAda("", "m1")
	tap.Event.Type, tap.Event.Data = send.TypePayload, document.O("payload", "book")
	arrived := document.TimestampOf(f.clock())
	for range 2 {
		require.NoError(t, p.Accept(t.Context(), tap))
		f.advance(time.Minute)
	}
	require.True(t, f.runNext(p).Ran)
	require.False(t, f.runNext(p).Ran, "the platform repeated it")
	require.Equal(t, []document.Timestamp{arrived}, at)
}

func TestAccept_KeyOfThePlatform(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var texts, ids []string
	p := f.process(func(ctx context.Context, bot *botctx.Context) error {
		texts, ids = append(texts, bot.MessageEvent.Text()), append(ids, bot.SendID(ctx, "pay"))
		return nil
	})
	first, mention, other := fromAda("hi", "m1"), fromAda("@bot hi", "m1"), fromAda("hi", "m1")
	first.Key, mention.Key, other.Key = "e1", "e1", "e2"
	for _, arrived := range []botctx.Inbound{first, mention, other} {
		require.NoError(t, p.Accept(t.Context(), arrived))
	}
	require.NoError(t, f.runNext(p).Err)
	require.NoError(t, f.runNext(p).Err)
	require.False(t, f.runNext(p).Ran)
	require.Equal(t, []string{"hi", "hi"}, texts, "an event with the same Key is a repetition, even with other content")
	require.NotEqual(t, ids[0], ids[1], "each run sends with different ids")
}

func TestAccept_WaitsForLogic(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	without, with := f.process(nil), f.process(echo)
	require.NoError(t, without.Accept(t.Context(), fromAda("hi", "m1")))
	require.False(t, f.runNext(without).Ran, "an event waits while the process has no logic")
	require.NoError(t, f.runNext(with).Err)
	require.Equal(t, []string{"hi"}, f.sent.all())
}

// TestAccept_FrozenRunChangesNothing freezes a run until another process has taken over its lane. Then the frozen run
// continues, and its sends, writes and write-back are refused.
func TestAccept_FrozenRunChangesNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	began, goOn := make(chan struct{}), make(chan struct{})
	var late []error
	frozen := f.process(func(ctx context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set("by", "the frozen one")
		require.NoError(t, store.Refusal(ctx), "what a store asks")
		close(began)
		<-goOn
		late = append(late, store.Refusal(ctx), bot.Reply(ctx, send.Text("late")))
		_, err := bot.PatchMembers(ctx, member.PatchParams{
			MemberID: bot.Member.ID, WithModifier: true, Patch: document.Set("meta.late", true),
		})
		late = append(late, err)
		return nil
	})
	require.NoError(t, frozen.Accept(t.Context(), fromAda("hi", "m1")))
	ended := make(chan error)
	go func() {
		_, err := frozen.RunNextEvent(t.Context())
		ended <- err
	}()
	<-began
	f.advance(lease.DefaultLease)
	other := f.process(func(ctx context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set("by", "the other one")
		return bot.Reply(ctx, send.Text("answer"))
	})
	require.Error(t, f.runNext(other).Err, "the attempt that never ended")
	f.advance(time.Second)
	require.NoError(t, f.runNext(other).Err)
	close(goOn)
	require.ErrorIs(t, <-ended, lease.ErrLost)
	for _, err := range late {
		require.ErrorIs(t, err, boterr.Conflict)
	}
	require.Equal(t, []string{"answer"}, f.sent.all())
	require.JSONEq(t, `{"by":"the other one"}`, f.ada().Meta.String())
}

// TestAccept_LateWriteBackFindsNoMember stops the clock of a run, so that the run does not notice that another process
// has taken over its lane. The store refuses the write-back.
func TestAccept_LateWriteBackFindsNoMember(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	began, goOn, start := make(chan struct{}), make(chan struct{}), f.clock()
	frozen := f.process(func(_ context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set("by", "the frozen one")
		bot.Member.Meta.Set("late", true)
		close(began)
		<-goOn
		return nil
	}, func(c *botctx.Config) { c.Now = func() time.Time { return start } })
	require.NoError(t, frozen.Accept(t.Context(), fromAda("hi", "m1")))
	ended := make(chan botctx.EventResult)
	go func() {
		result, _ := frozen.RunNextEvent(context.WithoutCancel(t.Context()))
		ended <- result
	}()
	<-began
	f.advance(lease.DefaultLease)
	other := f.process(func(ctx context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set("by", "the other one")
		_, err := bot.FindAndModifyMember(ctx, member.FindAndModifyParams{ // Replacing the member keeps its lane fence.
			Filter: document.O("_id", bot.Member.ID), Patch: document.O("externalId", "ada"),
		})
		return err
	})
	require.Error(t, f.runNext(other).Err, "the attempt that never ended")
	f.advance(time.Second)
	require.NoError(t, f.runNext(other).Err)
	close(goOn)
	require.Equal(t, boterr.NotFound, boterr.CodeOf((<-ended).Err))
	require.JSONEq(t, `{"by":"the other one"}`, f.ada().Meta.String())
}

func (f *fleet) ada() *member.Member {
	f.t.Helper()
	found, err := f.database.Collection("members").Find(f.t.Context(), nil, store.FindOptions{})
	require.NoError(f.t, err)
	require.Len(f.t, found, 1)
	var m member.Member
	require.NoError(f.t, document.Decode(found[0], &m))
	return &m
}

// TestRuns_TakeTurnsAcrossProcesses freezes a run of each kind in one process. In another process, an agenda, a redirect
// and an event of the same member wait for it.
func TestRuns_TakeTurnsAcrossProcesses(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	require.NoError(t, f.process(echo).Receive(t.Context(), fromAda("hi", "m0")))
	ada := f.ada()
	for name, start := range map[string]func(*botctx.Runtime) error{
		"received": func(p *botctx.Runtime) error { return p.Receive(context.Background(), fromAda("hi", "")) },
		"accepted": func(p *botctx.Runtime) error {
			return errors.Join(p.Accept(context.Background(), fromAda("hi", "")), second(p.RunNextEvent(context.Background())))
		},
	} {
		began, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error)
		holder := f.process(func(context.Context, *botctx.Context) error {
			close(began)
			<-goOn
			return nil
		})
		go func() { ended <- start(holder) }()
		<-began
		f.wait = 10 * time.Millisecond
		other := f.process(echo)
		f.wait = time.Minute
		require.NoError(t, other.Handle(&botctx.Node{ID: "node"}))
		scope := botctx.Scope{App: "shop", Channel: "web", Member: ada.ID}
		require.Equal(t, boterr.Unavailable, boterr.CodeOf(other.Receive(t.Context(), fromAda("hi", ""))), name)
		_, err := other.Operations(scope).RedirectMemberToNode(t.Context(),
			botctx.RedirectMemberToNodeParams{MemberID: ada.ID, NodeCompositeID: "node"})
		require.Equal(t, boterr.Unavailable, boterr.CodeOf(err), name)
		_, err = other.Operations(scope).NewAgenda(t.Context(), agenda.NewParams{
			MemberID: ada.ID, NodeCompositeID: "node", NextRunAt: document.TimestampOf(f.clock()), Replace: true, Tag: "one",
		})
		require.NoError(t, err)
		result, err := other.RunNextAgenda(t.Context())
		require.NoError(t, err)
		require.True(t, result.Postponed, name)
		close(goOn)
		require.NoError(t, <-ended, name)
		f.advance(time.Second)
		patient := f.process(echo)
		require.NoError(t, patient.Handle(&botctx.Node{ID: "node"}))
		result, err = patient.RunNextAgenda(t.Context())
		require.NoError(t, err)
		require.True(t, result.Ran && !result.Postponed && result.Err == nil, "%s: %v", name, result.Err)
	}
}

func second(_ botctx.EventResult, err error) error { return err }

func TestAccept_HookThatStoresNothing(t *testing.T) {
	t.Parallel()
	type next = func(context.Context) (botctx.Accepted, error)
	for name, hook := range map[string]func(context.Context, *botctx.InboxEvent, next) (botctx.Accepted, error){
		"no next": func(context.Context, *botctx.InboxEvent, next) (botctx.Accepted, error) {
			return botctx.Accepted{}, nil
		},
		"no error": func(ctx context.Context, e *botctx.InboxEvent, store next) (botctx.Accepted, error) {
			e.From = ""
			_, _ = store(ctx)
			return botctx.Accepted{}, nil
		},
		"a panic": func(context.Context, *botctx.InboxEvent, next) (botctx.Accepted, error) { panic("no trace") },
	} {
		runtime, err := botctx.New(botctx.Config{Store: memstore.New(), Inbox: botctx.InboxOptions{Hooks: botctx.InboxHooks{AroundAccept: hook}}})
		require.NoError(t, err)
		require.Error(t, runtime.Accept(t.Context(), fromAda("hi", "m1")), name)
	}
}

func TestRun_WhereItRunsAlready(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	began := make(chan struct{})
	p := f.process(func(context.Context, *botctx.Context) error {
		close(began)
		return nil
	})
	stop := running(t, p)
	require.NoError(t, p.Accept(t.Context(), fromAda("hi", "m1")))
	<-began
	require.Equal(t, boterr.FailedPrecondition, boterr.CodeOf(p.Run(t.Context())), "the error must come before the context ends")
	stop()
}

// TestAccept_WaitsForARunOfItsMember freezes a run for longer than MaxWait. Waiting does not count as a failure of an
// event that was accepted meanwhile.
func TestAccept_WaitsForARunOfItsMember(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.use(memstore.New(memstore.WithNow(f.clock)))
	began, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	var first sync.Once
	p := f.process(func(ctx context.Context, bot *botctx.Context) error {
		first.Do(func() {
			close(began)
			<-goOn
		})
		return echo(ctx, bot)
	}, func(c *botctx.Config) { c.MaxWait, c.Inbox.Limit = 10*time.Millisecond, 1 })
	go func() { ended <- p.Receive(context.WithoutCancel(t.Context()), fromAda("one", "")) }()
	<-began
	require.NoError(t, p.Accept(t.Context(), fromAda("two", "m2")))
	for range 3 {
		result := f.runNext(p)
		require.True(t, result.IsPostponed, "%v", result.Err)
		f.advance(time.Second)
	}
	close(goOn)
	require.NoError(t, <-ended)
	require.NoError(t, f.runNext(p).Err)
	require.Equal(t, []string{"one", "two"}, f.sent.all())
}

// TestAccept_RunsAsSoonAsTheLaneIsLeft blocks a lane with a run of Receive. When that run ends, an accepted event runs
// without waiting for the next poll.
func TestAccept_RunsAsSoonAsTheLaneIsLeft(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	began, goOn, received := make(chan struct{}), make(chan struct{}), make(chan error)
	done, wasRefused := make(chan struct{}), make(chan struct{})
	p := f.process(func(_ context.Context, bot *botctx.Context) error {
		switch bot.MessageEvent.Text() {
		case "one":
			close(began)
			<-goOn
		case "two":
			close(done)
		default:
			close(wasRefused)
		}
		return nil
	}, func(c *botctx.Config) { c.Inbox.Poll = time.Hour })
	go func() { received <- p.Receive(context.WithoutCancel(t.Context()), fromAda("one", "")) }()
	<-began
	require.NoError(t, p.Accept(t.Context(), fromAda("two", "m2")))
	require.NoError(t, p.Accept(t.Context(), message("bob", "three", "m3")))
	stop := running(t, p)
	<-wasRefused
	close(goOn)
	require.NoError(t, <-received)
	<-done
	stop()
}

func TestAccept_KeyDoesNotGrowWithTheEvent(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	rt, err := botctx.New(botctx.Config{Store: database})
	require.NoError(t, err)
	require.NoError(t, rt.Accept(t.Context(), fromAda(strings.Repeat("a", 100_000), "m1")))
	found, err := database.Collection("inbox").Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Len(t, document.Get(found[0], "key", ""), 43)
}

// redirecting returns a node that redirects each message to an undeclared node.
func redirecting(to string) *botctx.Node {
	return &botctx.Node{ID: "start", Trigger: botctx.AnyText(), Redirect: botctx.RedirectFunc(
		func(context.Context, *botctx.Context) (*botctx.Redirect, error) {
			return &botctx.Redirect{NodeCompositeID: to}, nil
		},
	)}
}

func TestAccept_NodeThatOnlyANewerProcessHasIsFoundInALaterAttempt(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	before := f.processOf(redirecting("new"))
	require.NoError(t, before.Accept(t.Context(), fromAda("hi", "m1")))
	result := f.runNext(before)
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(result.Err))
	require.ErrorIs(t, result.Err, boterr.NotFound, "the cause must be wrapped")
	require.False(t, result.IsDead)
	f.advance(time.Second)
	require.NoError(t, f.runNext(f.processOf(redirecting("new"), &botctx.Node{ID: "new"})).Err)
}

func TestAccept_RedirectsWithoutEndAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	p := f.processOf(redirecting("pong"), &botctx.Node{ID: "pong", Redirect: botctx.To("start")})
	require.NoError(t, p.Accept(t.Context(), fromAda("hi", "m1")))
	result := f.runNext(p)
	require.Equal(t, boterr.FailedPrecondition, boterr.CodeOf(result.Err))
	require.ErrorIs(t, result.Err, boterr.ResourceExhausted, "the cause must be wrapped")
	require.True(t, result.IsDead, "endless redirects must not be tried again")
}

type seen struct{ runs []*botctx.Context }

func (s *seen) look(_ context.Context, bot *botctx.Context) error {
	s.runs = append(s.runs, bot)
	return nil
}

// hello returns an event of a visitor in a channel.
func hello(channelID string) botctx.Inbound {
	return botctx.Inbound{
		App: fakes.DefaultApp, Channel: channelID,
		Event: send.MessageEvent{From: "visitor-7", Type: send.TypeText, Data: document.O("text", "hi")},
	}
}

func TestReceive_NewMember(t *testing.T) {
	t.Parallel()
	var logic seen
	p := fakes.New(fakes.For(t))
	page := p.AddChannel(channel.Channel{Type: channel.Alpha, Info: channel.AlphaInfo{PageID: "page-1"}})
	p.HandleFunc(logic.look)
	arrived := hello(page.ID)
	arrived.Profile = member.Member{
		FirstName: "Vera", LastName: "King", Gender: "f", Email: "vera@example.com", Locale: "de_CH", ProfilePic: "https://example.com/vera.png",
		Profile: document.O("timezone", 0), Tags: document.A("vip"), Admin: "a1",
	}
	for _, name := range []string{"Vera", "Another"} {
		arrived.Profile.FirstName = name
		require.NoError(t, p.Runtime().Receive(t.Context(), arrived))
	}
	given := hello(page.ID)
	given.Event.From, given.Profile = "visitor-8", member.Member{Platform: "alpha lite", BotID: "page-2"}
	require.NoError(t, p.Runtime().Receive(t.Context(), given))

	first, second, third := logic.runs[0], logic.runs[1], logic.runs[2]
	vera := first.Member
	require.Equal(t, []string{"Vera", "King", "f", "vera@example.com", "de_CH", "https://example.com/vera.png", "alpha", "page-1", "a1"},
		[]string{vera.FirstName, vera.LastName, vera.Gender, vera.Email, vera.Locale, vera.ProfilePic, vera.Platform, vera.BotID, vera.Admin})
	require.JSONEq(t, `{"profile": {"timezone": 0}, "tags": ["vip"]}`, document.O("profile", vera.Profile, "tags", vera.Tags).String())
	require.Equal(t, []string{"visitor-7", page.ID, fakes.DefaultApp, vera.ID},
		[]string{vera.ExternalID, vera.Channel, vera.App, first.Scope().Member})
	require.Equal(t, page.ID, first.Channel.ID)
	require.Equal(t, "hi", first.MessageEvent.Text())
	require.Equal(t, vera, second.Member, "a second arrival must neither create nor change a member")
	first.Values["cart"] = "tea"
	require.Empty(t, second.Values, "each run has its own Values")
	require.Equal(t, []string{"alpha lite", "page-2"}, []string{third.Member.Platform, third.Member.BotID}, "the host knows better")
}

func TestInbound_Refused(t *testing.T) {
	t.Parallel()
	var logic seen
	p := fakes.New(fakes.For(t))
	web := p.AddChannel(channel.Channel{})
	foreign := p.AddChannel(channel.Channel{App: "app-2"})
	p.HandleFunc(logic.look)
	type call = func(context.Context, botctx.Inbound) error
	accept, receive := []call{p.Runtime().Accept}, []call{p.Runtime().Receive}
	both := slices.Concat(accept, receive)
	for name, test := range map[string]struct {
		by    []call
		alter func(*botctx.Inbound)
		code  boterr.Code
		field string
	}{
		"no app":                   {both, func(i *botctx.Inbound) { i.App = "" }, boterr.InvalidArgument, "App"},
		"no channel":               {both, func(i *botctx.Inbound) { i.Channel = "" }, boterr.InvalidArgument, "Channel"},
		"no sender":                {both, func(i *botctx.Inbound) { i.Event.From = "" }, boterr.InvalidArgument, "Event.From"},
		"a type in small letters":  {both, func(i *botctx.Inbound) { i.Event.Type = "text" }, boterr.InvalidArgument, "Event.Type"},
		"data that is no JSON":     {both, func(i *botctx.Inbound) { i.Event.Data = document.O("n", make(chan int)) }, boterr.InvalidArgument, "Event.Data.n"},
		"to another group":         {both, func(i *botctx.Inbound) { i.GroupExternalID, i.Event.To = "family", "elsewhere" }, boterr.InvalidArgument, "Event.To"},
		"a large event":            {accept, func(i *botctx.Inbound) { i.Event.Data = document.O("text", strings.Repeat("x", document.MaxSize)) }, boterr.InvalidArgument, "Event"},
		"a channel of nobody":      {receive, func(i *botctx.Inbound) { i.Channel = "nowhere" }, boterr.NotFound, "Channel"},
		"a channel of another app": {receive, func(i *botctx.Inbound) { i.Channel = foreign.ID }, boterr.NotFound, "Channel"},
		"another app":              {receive, func(i *botctx.Inbound) { i.App = "app-2" }, boterr.NotFound, "Channel"},
	} {
		for _, call := range test.by {
			inbound := hello(web.ID)
			test.alter(&inbound)
			e, ok := boterr.AsError(call(t.Context(), inbound))
			require.True(t, ok, name)
			require.Equal(t, test.code, e.Code, name)
			require.Equal(t, test.field, e.Field, name)
		}
	}
	require.Empty(t, logic.runs)
}

func TestReceive_NoLogic(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	web := p.AddChannel(channel.Channel{})
	require.ErrorIs(t, p.Runtime().Receive(t.Context(), hello(web.ID)), boterr.FailedPrecondition)
	var first, last seen
	p.HandleFunc(first.look)
	p.HandleFunc(last.look)
	require.NoError(t, p.Runtime().Receive(t.Context(), hello(web.ID)))
	require.Empty(t, first.runs)
	require.Len(t, last.runs, 1, "a later HandleFunc replaces the function")
}
