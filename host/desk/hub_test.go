package desk_test

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// listed is a desk with the open chats 1 and 2.
type listed struct {
	t        *testing.T
	database store.Store
	desk     *desk.Desk
	log      *chatlog.Log
}

func newListed(t *testing.T) *listed {
	t.Helper()
	readingState := store.Call{Method: "find", Collection: "desk_chats_states"}
	database := store.Wrap(memstore.New(), func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		of, _ := ctx.Value(pausing{}).(*paused)
		if of == nil || call != readingState {
			return ctx, nil, nil
		}
		return ctx, of.hasRead, nil
	})
	d, err := desk.New(desk.Config{Store: database})
	require.NoError(t, err)
	log, err := chatlog.New(chatlog.Config{Env: record.Env{Store: database}, Collection: "desk_chats"})
	require.NoError(t, err)
	for _, id := range []string{"1", "2"} {
		require.NoError(t, database.Collection("assignments").Insert(t.Context(), document.O(
			"_id", id, "app", "shop", "slot", id, "member", id, "inlet", "web", "sentAt", 1, "assignedAt", 2, "assignee", "grace", "outlet", "desk",
			"groupInfo", document.O("externalId", id), "createdAt", 1,
			"tickets", document.A(document.O("id", "1", "channel", "desk", "type", "desk", "group", document.O("id", "support"), "sentAt", 1)),
		)))
	}
	d.Listening("shop")
	return &listed{t: t, database: database, desk: d, log: log}
}

func (l *listed) says(chat, text string) {
	l.t.Helper()
	_, _, err := l.log.Append(l.t.Context(), chatlog.Conversation{App: "shop", Channel: "desk", ID: chat},
		chatlog.Entry{Key: text, From: "member", Body: document.O("text", text)})
	require.NoError(l.t, err)
}

// pausing is the context key of a paused reading.
type pausing struct{}

// paused is a reading that stops after it has read a number of chats, until goesOn.
type paused struct {
	chats         int
	reached, goOn chan struct{}
	ended         chan error
	cancel        func()
}

func (p *paused) hasRead(_ int, err error) error {
	p.chats--
	if p.chats == 0 {
		close(p.reached)
		<-p.goOn
	}
	return err
}

// reads begins a reading that stops after a number of chats, and returns when it has stopped.
func (l *listed) reads(chats int) *paused {
	p := &paused{chats: chats, reached: make(chan struct{}), goOn: make(chan struct{}), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.WithValue(l.t.Context(), pausing{}, p))
	l.t.Cleanup(cancel)
	p.cancel = cancel
	go func() { p.ended <- l.desk.Read(ctx) }()
	<-p.reached
	return p
}

// goesOn lets the reading continue, and returns its error.
func (p *paused) goesOn() error {
	close(p.goOn)
	return <-p.ended
}

func TestHub_EndOfAnEarlierReaderDoesNotUnsubscribeTheNextOne(t *testing.T) {
	t.Parallel()
	l := newListed(t)
	earlier := l.reads(2)
	earlier.cancel()
	require.NoError(t, l.desk.Read(t.Context()))
	l.says("2", "hi")
	next := l.reads(1)
	require.NoError(t, earlier.goesOn())
	require.NoError(t, next.goesOn())
	l.says("1", "hello")
	require.NoError(t, l.desk.Read(t.Context()))
	require.Equal(t, "hello", l.desk.Last("1"))
}

func TestHub_EarlierReaderTakesNoNewsFromTheNextOne(t *testing.T) {
	t.Parallel()
	l := newListed(t)
	earlier := l.reads(1)
	earlier.cancel()
	require.NoError(t, l.desk.Read(t.Context()))
	l.says("2", "hello")
	require.Equal(t, boterr.Canceled, boterr.CodeOf(earlier.goesOn()))
	require.NoError(t, l.desk.Read(t.Context()))
	require.Equal(t, "hello", l.desk.Last("2"))
}

// A host has stored a request and a member that cannot be read.
func TestHub_BadRecords(t *testing.T) {
	t.Parallel()
	database, lines := memstore.New(), &strings.Builder{}
	d, err := desk.New(desk.Config{Store: database, Logger: slog.New(slog.NewTextHandler(lines, nil))})
	require.NoError(t, err)
	for id, member := range map[string]any{"1": 7, "2": "ada", "3": "bob"} {
		require.NoError(t, database.Collection("assignments").Insert(t.Context(), document.O(
			"_id", id, "app", "shop", "member", member, "slot", id, "sentAt", 1,
			"kept", document.A(document.O("id", "1", "response", send.Text("hi").Object())),
			"tickets", document.A(document.O("channel", "desk", "type", "desk")),
		)))
	}
	require.NoError(t, database.Collection("members").Insert(t.Context(), document.O("_id", "ada", "app", "shop", "firstName", 7)))
	d.Listening("shop")
	for range 2 {
		require.NoError(t, d.Read(t.Context()))
		require.Empty(t, d.Last("1"))
		require.Equal(t, "hi", d.Last("2"))
		require.Equal(t, "hi", d.Last("3"))
		require.Equal(t, 1, strings.Count(lines.String(), "the stored assignment 1 cannot be read"))
		require.Equal(t, 1, strings.Count(lines.String(), "the stored member ada cannot be read"))
	}
}

func TestHub_BadRecordsAreLoggedWithinALimit(t *testing.T) {
	t.Parallel()
	database, lines := memstore.New(), &strings.Builder{}
	d, err := desk.New(desk.Config{Store: database, Logger: slog.New(slog.NewTextHandler(lines, nil))})
	require.NoError(t, err)
	for app := range 6 {
		shop := "shop " + strconv.Itoa(app)
		for i := range 200 {
			id := shop + " " + strconv.Itoa(i)
			require.NoError(t, database.Collection("assignments").Insert(t.Context(), document.O(
				"_id", id, "app", shop, "member", 7, "slot", id, "sentAt", 1, "tickets", document.A(document.O("type", "desk")),
			)))
		}
		d.Listening(shop)
	}
	require.NoError(t, d.Read(t.Context()))
	require.Equal(t, 1000, strings.Count(lines.String(), "a record is not shown"))
}

// Bot logic can link a group with any id to an assignment. The desk's conversations have short ids.
func TestHub_ConversationOfTheBot(t *testing.T) {
	t.Parallel()
	l := newListed(t)
	l.says("1", "hi")
	require.NoError(t, l.database.Collection("assignments").Insert(t.Context(), document.O(
		"_id", "3", "app", "bank", "slot", "3", "sentAt", 1, "assignedAt", 2, "assignee", "grace", "outlet", "desk",
		"groupInfo", document.O("externalId", strings.Repeat("x", chatlog.MaxName+1)),
		"tickets", document.A(document.O("channel", "desk", "type", "desk")),
	)))
	l.desk.Listening("bank")
	require.NoError(t, l.desk.Read(t.Context()))
	require.Equal(t, "hi", l.desk.Last("1"))
}

func TestHub_Agents(t *testing.T) {
	t.Parallel()
	database, now := memstore.New(), newClock().now()
	d, err := desk.New(desk.Config{Store: database, Now: func() time.Time { return now }})
	require.NoError(t, err)
	seen := document.TimestampOf(now)
	agents := []document.Object{
		document.O("_id", "grace", "name", "Grace", "apps", document.A("shop"), "seenAt", seen-2),
		document.O("_id", "eve", "name", "Eve", "apps", document.A("shop", "bank"), "seenAt", seen-1),
	}
	require.NoError(t, database.Collection("desk_agents").Insert(t.Context(), agents...))
	d.Listening("shop")
	d.Listening("bank")
	require.NoError(t, d.Read(t.Context()))
	require.Equal(t, []string{"Eve", "Grace"}, d.Agents())

	// A sign of life does not change the list.
	before := d.AgentsLook()
	require.NoError(t, d.SeeAgent(t.Context(), "grace"))
	require.NoError(t, d.Read(t.Context()))
	require.Equal(t, before, d.AgentsLook())

	// Many agents of one app do not hide the agents of another.
	var many []document.Object
	for i := range desk.MaxListed {
		many = append(many, document.O("_id", strconv.Itoa(i), "name", "Teller", "apps", document.A("bank"), "seenAt", seen+1))
	}
	require.NoError(t, database.Collection("desk_agents").Insert(t.Context(), many...))
	require.NoError(t, d.Read(t.Context()))
	require.Contains(t, d.Agents(), "Grace")
}

// BenchmarkRead reads 500 open chats. A desk does so each second while a page is open, and after changes.
func BenchmarkRead(b *testing.B) {
	database := memstore.New()
	d, err := desk.New(desk.Config{Store: database})
	require.NoError(b, err)
	var requests, members []document.Object
	for i := range desk.MaxListed {
		id := strconv.Itoa(1000 + i)
		requests = append(requests, document.O(
			"_id", id, "app", "shop", "slot", id, "member", id, "inlet", "web", "sentAt", 1, "assignedAt", 2, "assignee", "grace", "outlet", "desk",
			"groupInfo", document.O("externalId", "chat-"+id), "createdAt", 1,
			"tickets", document.A(document.O("id", "1", "channel", "desk", "type", "desk", "group", document.O("id", "support"), "sentAt", 1)),
		))
		members = append(members, document.O("_id", id, "app", "shop", "channel", "web", "externalId", id, "firstName", "Ada"))
	}
	require.NoError(b, database.Collection("assignments").Insert(b.Context(), requests...))
	require.NoError(b, database.Collection("members").Insert(b.Context(), members...))
	d.Listening("shop")
	for b.Loop() {
		require.NoError(b, d.Read(b.Context()))
	}
}
