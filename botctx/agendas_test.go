package botctx_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// sentTexts is a connector that keeps the texts it sends.
type sentTexts struct {
	mu    sync.Mutex
	texts []string
}

func (s *sentTexts) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, message.Response.Text())
	return send.Delivery{}, nil
}

func (s *sentTexts) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.texts)
}

// newShop returns a Runtime, and a context for its member Ada in the channel "web" of the app "shop".
func newShop(t *testing.T, store store.Store, sent *sentTexts) (*botctx.Runtime, *botctx.Context) {
	t.Helper()
	config := webchat(sent)
	config.Store = store
	return shopWith(t, config)
}

func shopWith(t *testing.T, config botctx.Config) (*botctx.Runtime, *botctx.Context) {
	t.Helper()
	runtime, err := botctx.New(config)
	require.NoError(t, err)
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "reminder", Responses: []send.Response{send.Template("Still there, {{firstName}}?")}}))
	saveChannel(t, runtime, channel.Channel{ID: "web", Type: channel.Webchat})
	_, err = insertMember(t, runtime, member.Member{ID: "ada", FirstName: "Ada"})
	if err != nil {
		require.ErrorIs(t, err, boterr.AlreadyExists)
	}
	bot, err := runtime.Context(t.Context(), botctx.Scope{App: "shop", Channel: "web", Member: "ada"})
	require.NoError(t, err)
	return runtime, bot
}

// saveChannel stores a channel of the app "shop" that is on.
func saveChannel(t *testing.T, runtime *botctx.Runtime, c channel.Channel) {
	t.Helper()
	c.On = true
	_, err := runtime.SaveChannel(t.Context(), "shop", &c)
	require.NoError(t, err)
}

// insertMember stores a member in the channel "web" of the app "shop".
func insertMember(t *testing.T, runtime *botctx.Runtime, m member.Member) (*member.Member, error) {
	t.Helper()
	scope := record.Scope{App: "shop", Channel: "web"}
	return members.New(runtime.Env(), scope, channels.New(runtime.Env(), scope)).Insert(t.Context(), m)
}

// plan creates an agenda that falls due after a time.
func plan(t *testing.T, bot *botctx.Context, memberID, node string, after time.Duration) {
	t.Helper()
	_, err := bot.NewAgenda(t.Context(), agenda.NewParams{
		MemberID: memberID, NodeCompositeID: node, NextRunAt: document.TimestampOf(bot.Now().Add(after)),
	})
	require.NoError(t, err)
}

// running calls Run until stop is called.
func running(t *testing.T, runtime *botctx.Runtime) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- runtime.Run(ctx) }()
	return func() {
		t.Helper()
		cancel()
		require.NoError(t, <-ended)
	}
}

// pass lets virtual time pass, and waits until all goroutines are blocked.
func pass(by time.Duration) {
	time.Sleep(by) //nolint:forbidigo // The virtual clock of synctest.
	synctest.Wait()
}

func TestRun_SharesAgendas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const planned = 100
		var sent sentTexts
		store := memstore.New()
		var bot *botctx.Context
		var stops []func()
		for range 3 {
			var runtime *botctx.Runtime
			runtime, bot = newShop(t, store, &sent)
			stops = append(stops, running(t, runtime))
		}
		for range planned {
			plan(t, bot, "ada", "reminder", time.Minute)
		}
		pass(2 * time.Minute)
		require.Len(t, sent.all(), planned)
		for _, stop := range stops {
			stop()
		}
	})
}

// slowShop returns a shop like newShop, with two nodes: one runs for the duration took, and one cancels
// reminders.
func slowShop(t *testing.T, sent *sentTexts, took time.Duration) (*botctx.Runtime, *botctx.Context) {
	t.Helper()
	config := webchat(sent)
	config.MaxRun = -1
	runtime, bot := shopWith(t, config)
	slow := func(context.Context, *botctx.Context) error {
		time.Sleep(took) //nolint:forbidigo // The virtual clock of synctest.
		return nil
	}
	require.NoError(t, runtime.Handle(
		&botctx.Node{ID: "slow", Trigger: botctx.TextIs("slow"), Pre: []botctx.Action{slow}},
		&botctx.Node{ID: "cancel", Trigger: botctx.TextIs("cancel"), Pre: []botctx.Action{slow, cancelReminder}},
		&botctx.Node{ID: "again", Trigger: botctx.TextIs("again"), Pre: []botctx.Action{slow, remindIn(time.Hour)}},
	))
	return runtime, bot
}

func receives(t *testing.T, runtime *botctx.Runtime, text string) {
	t.Helper()
	require.NoError(t, runtime.Receive(t.Context(), fromAda(text, "")))
}

func TestRun_CanceledReminder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"cancel": 0, "again": 0, "slow": 1} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var sent sentTexts
				runtime, bot := slowShop(t, &sent, 2*time.Second)
				require.NoError(t, remindIn(time.Second)(t.Context(), bot))
				stop := running(t, runtime)
				receives(t, runtime, text)
				pass(time.Minute)
				require.Len(t, sent.all(), want)
				stop()
			})
		})
	}
}

func TestRun_SlowMember(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent sentTexts
		const waiting = 20 // More than a channel has workers.
		runtime, ada := slowShop(t, &sent, 5*time.Minute)
		for range waiting {
			plan(t, ada, "ada", "reminder", time.Second)
		}
		bob, err := insertMember(t, runtime, member.Member{FirstName: "Bob"})
		require.NoError(t, err)
		plan(t, ada, bob.ID, "reminder", time.Minute)
		stop := running(t, runtime)
		received := make(chan error, 1)
		go func() { received <- runtime.Receive(t.Context(), fromAda("slow", "")) }()
		pass(2 * time.Minute)
		require.Equal(t, []string{"Still there, Bob?"}, sent.all())
		pass(5 * time.Minute)
		require.Len(t, sent.all(), 1+waiting, "the agendas of the blocked member must run afterwards")
		require.NoError(t, <-received)
		stop()
	})
}

// inTrees are nodes of the unnamed tree and two others. Each notes that it ran.
func inTrees() []*botctx.Node {
	noting := func(id, tree string) *botctx.Node {
		return &botctx.Node{ID: id, Tree: tree, Entry: true, Pre: botctx.Do(func(_ context.Context, bot *botctx.Context) error {
			bot.Member.Meta.Set("ran", bot.Node.String())
			return nil
		})}
	}
	planning := func(id, tree, planned string) *botctx.Node {
		return &botctx.Node{ID: id, Tree: tree, Trigger: botctx.TextIs(id), Global: botctx.GlobalInChannel, Pre: botctx.Do(
			func(ctx context.Context, bot *botctx.Context) error {
				_, err := bot.NewAgenda(ctx, soon(bot.Member.ID, planned))
				return err
			},
		)}
	}
	return []*botctx.Node{
		noting("reminder", ""), noting("reminder", "survey"), noting("menu", ""), noting("result", "survey"),
		noting("answer", "shop"), noting("answer", "survey"),
		planning("plan", "survey", "reminder"), planning("command", "commands", "answer"),
	}
}

// soon returns an agenda for a node in a minute.
func soon(memberID, node string) agenda.NewParams {
	return agenda.NewParams{
		MemberID: memberID, NodeCompositeID: node, Tag: "soon", NextRunAt: document.TimestampOf(fakes.Start().Add(time.Minute)),
	}
}

func newInTrees(t *testing.T) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.Handle(inTrees()...)
	ada := p.AddMember(member.Member{})
	return p, ada
}

func TestNewAgenda_Tree(t *testing.T) {
	t.Parallel()
	for ran, plans := range map[string]func(ada *fakes.Actor){
		"reminder": func(ada *fakes.Actor) {
			_, err := ada.Context().NewAgenda(t.Context(), soon(ada.ID(), "reminder"))
			require.NoError(t, err)
			ada.SetPosition("result") // The agenda stays in the unnamed tree.
		},
		"reminder (tree survey)": func(ada *fakes.Actor) { ada.Says("plan") }, // The tree of the current node.
		"answer (tree survey)": func(ada *fakes.Actor) { // The tree of the member.
			ada.SetPosition("result")
			ada.Says("command")
		},
	} {
		p, ada := newInTrees(t)
		plans(ada)
		p.Advance(time.Minute)
		require.Equal(t, ran, document.Get(ada.Member().Meta, "ran", ""))
	}
}

func TestNewAgenda_NodeOfSeveralTrees(t *testing.T) {
	t.Parallel()
	_, ada := newInTrees(t)
	_, err := ada.Context().NewAgenda(t.Context(), soon(ada.ID(), "answer"))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, `treeId: is missing: several trees have a node answer: "shop", "survey"`)
	require.Empty(t, ada.Agendas())
}

func TestUpdateAgenda_NodeThatTheTreeLacks(t *testing.T) {
	t.Parallel()
	for field, params := range map[string]agenda.UpdateParams{
		"nodeCompositeId": {NodeCompositeID: "menu"},
		"treeId":          {TreeID: "shop"},
	} {
		_, ada := newInTrees(t)
		ada.AddAgenda(soon("", "result"))
		before := ada.Agendas()
		params.MemberID = ada.ID()
		_, err := ada.Context().UpdateAgenda(t.Context(), params)
		require.ErrorIs(t, err, boterr.NotFound, field)
		e, _ := boterr.AsError(err)
		require.Equal(t, field, e.Field)
		require.Equal(t, before, ada.Agendas(), field)
	}
}
