package desk_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestChat_Whole(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.waiting("shop", "ada")
	h.says("shop", "ada", "Hello?")
	details := h.does("grace", path, nil)
	require.Equal(t, "pending", document.Get(details, "chat.state", ""))
	require.Equal(t, "Hello?", document.Get(details, "chat.last.text", ""))
	require.Equal(t, "The kettle leaks.", document.Get(details, "summary", ""))
	require.Equal(t, "gold", document.Get(details, "member.meta.plan", ""))
	require.Equal(t, "[redacted]", document.Get(details, "member.meta.password", ""))

	note := fields{"key": "1", "text": "A note"}
	require.Contains(t, h.refused(http.StatusConflict, "grace", path+"/notes", note), "take it to write a note")
	row := h.does("grace", path+"/take", nothing)
	require.Equal(t, "Grace Hopper", document.Get(row, "agentName", ""))
	require.Equal(t, []string{"bot: The kettle leaks.", "bot: Written before (1):", "member: Hello?"}, h.log("grace", path))

	h.does("grace", path+"/messages", fields{"key": "1", "text": "Where does it leak?"})
	h.runs()
	h.says("shop", "ada", "At the lid.")
	require.Equal(t, []string{"agent: Where does it leak?", "member: At the lid."}, h.log("grace", path)[3:])
	require.Contains(t, h.inlet.texts(), "Where does it leak?")

	h.does("grace", path+"/end", nothing)
	require.Empty(t, h.open("shop"))
	require.Equal(t, "desk: ended", h.log("grace", path)[5])
	require.Equal(t, "ended", document.Get(h.does("grace", path, nil), "chat.state", ""))
	require.Equal(t, string(livechat.EndedByOutlet), document.Get(h.does("grace", path, nil), "chat.endedBy", ""))
	closed := objects(h.does("eve", "/closed/shop", nil), "chats")
	require.Len(t, closed, 1)
	require.Equal(t, "Ada", document.Get(closed[0], "name", ""))
	require.Contains(t, h.refused(http.StatusConflict, "grace", path+"/messages", fields{"key": "2", "text": "Hello?"}), "is over")
	require.Contains(t, h.refused(http.StatusConflict, "eve", path+"/take", nothing), "is over")
}

// The last message waits in the inbox when the agent ends the chat or hands it over.
func TestMessages_BeforeTheEnd(t *testing.T) {
	t.Parallel()
	for action, body := range map[string]any{"/end": nothing, "/giveback": nothing, "/handover": fields{"team": "sellers"}} {
		h := newHost(t)
		path := h.taken("ada", "grace")
		h.does("grace", path+"/messages", fields{"key": "1", "text": "Goodbye!"})
		h.does("grace", path+action, body)
		h.runs()
		require.Contains(t, h.inlet.texts(), "Goodbye!", action)
	}
}

func TestTake_SecondIsToldWhoWasFirst(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.waiting("shop", "ada")
	h.does("eve", "/about", nil)
	statuses := make(chan int, 2)
	for _, agent := range []string{"grace", "eve"} {
		go func() {
			status, _ := h.asks(agent, path+"/take", nothing)
			statuses <- status
		}()
	}
	require.ElementsMatch(t, []int{http.StatusOK, http.StatusConflict}, []int{<-statuses, <-statuses})
	winner := h.open("shop")[0].Assignee
	loser := map[string]string{"grace": "eve", "eve": "grace"}[winner]
	require.Equal(t, agents[winner].Name+" took it first", h.refused(http.StatusConflict, loser, path+"/take", nothing))
	require.Equal(t, winner, document.Get(h.does(winner, path+"/take", nothing), "agent", ""), "the same agent may take it again")
}

func TestMessages_RepeatIsSentOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "grace")
	for range 3 {
		h.does("grace", path+"/messages", fields{"key": "1", "text": "Once"})
		h.runs()
	}
	h.does("grace", path+"/messages", fields{"key": "2", "text": "Once"})
	h.runs()
	require.Equal(t, []string{"bot: The kettle leaks.", "agent: Once", "agent: Once"}, h.log("grace", path))
	texts := h.inlet.texts()
	require.Equal(t, []string{"Once", "Once"}, texts[len(texts)-2:])
	require.NotContains(t, texts[:len(texts)-2], "Once")
}

func TestMessages_QuickReplies(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "grace")
	h.does("grace", path+"/messages", fields{"key": "1", "text": "Still there?", "quickReplies": []string{"Yes", "No"}})
	h.runs()
	sent := h.inlet.last(t)
	require.Equal(t, send.TypeQuickReplies, sent.Type())
	second, _ := sent.Lookup("quickReplies[1].title")
	require.Equal(t, "No", second)
}

// The log of messages limits names in bytes, and a long name in Chinese has few letters.
func TestMessages_LongName(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "cha")
	h.does("cha", path+"/messages", fields{"key": "1", "text": "Hello"})
	h.runs()
	require.Equal(t, []string{"bot: The kettle leaks.", "agent: Hello"}, h.log("cha", path))
}

func TestNotes_StayInside(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "grace")
	h.does("eve", path+"/notes", fields{"key": "1", "text": "She is right."})
	h.runs()
	require.Contains(t, h.log("grace", path), "note: She is right.")
	require.NotContains(t, h.inlet.texts(), "She is right.")
}

func TestTyping_BothWays(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "grace")
	h.does("grace", path+"/typing", nothing)
	h.does("eve", path+"/typing", fields{"isNote": true})
	require.Equal(t, send.TypeTyping, h.inlet.last(t).Type(), "the member sees that the agent types")
	chat := document.Get(h.does("grace", path, nil), "chat.chat", "")
	in, err := h.runtime.LoadChannel(t.Context(), "shop", "shop-desk")
	require.NoError(t, err)
	_, err = h.desk.Send(t.Context(), send.Message{ID: "t", Channel: in, To: chat, Response: send.Typing(1)})
	require.NoError(t, err)
	var typing []string
	for _, one := range objects(document.Get(h.does("grace", path, nil), "chat", document.O()), "typing") {
		typing = append(typing, document.Get(one, "from", "")+" "+document.Get(one, "name", ""))
	}
	require.Equal(t, []string{"note Eve", "agent Grace Hopper", "member "}, typing)
}

// A request went to the desk and to another outlet, which refuses everything by now.
func TestChat_OtherOutletRefuses(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	_, err := h.runtime.SaveChannel(t.Context(), "shop", &channel.Channel{
		ID: "shop-tool", Type: channel.Charlie, On: true, BroadcastGroups: []channel.BroadcastGroup{
			{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "C1", Type: "public_channel"}}},
		},
	})
	require.NoError(t, err)
	require.NoError(t, h.runtime.Pair(t.Context(), "shop", "shop-web", "shop-desk", "shop-tool"))
	path := h.waiting("shop", "ada")
	h.tool.isClosed.Store(true)
	require.Equal(t, "grace", document.Get(h.does("grace", path+"/take", nothing), "agent", ""))
	next := "/chats/shop/" + document.Get(h.does("grace", path+"/giveback", nothing), "id", "")
	require.Equal(t, "pending", document.Get(h.does("grace", next, nil), "chat.state", ""))
	require.Contains(t, h.log("grace", path), "desk: handed over")
}

// A note of another agent does not hide that the member wrote.
func TestUnread(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "grace")
	unread := func() int64 { return document.Get(h.does("grace", path, nil), "chat.unread", int64(-1)) }
	newest := document.Get(h.does("grace", path, nil), "chat.seq", int64(0))
	require.NotZero(t, newest)
	h.does("grace", path+"/read", fields{"seq": newest + 100})
	require.Equal(t, newest, document.Get(h.does("grace", path, nil), "chat.read", int64(0)), "there is nothing further to read")
	require.Zero(t, unread())
	h.says("shop", "ada", "Hello?")
	h.says("shop", "ada", "Are you there?")
	h.does("eve", path+"/notes", fields{"key": "1", "text": "She is in a hurry."})
	require.Equal(t, int64(2), unread())
	h.does("grace", path+"/read", fields{"seq": document.Get(h.does("grace", path, nil), "chat.seq", int64(0))})
	require.Zero(t, unread())
}

func TestHandOver_ToTeamAndAgent(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "grace")
	h.does("eve", "/about", nil)
	next := h.does("grace", path+"/handover", fields{"agent": "eve", "note": "She wants a new one."})
	require.Contains(t, h.log("eve", path), "note: She wants a new one.")
	second := "/chats/shop/" + document.Get(next, "id", "")
	details := h.does("eve", second, nil)
	require.Equal(t, "pending", document.Get(details, "chat.state", ""))
	require.Equal(t, "eve", document.Get(details, "chat.teams[0]", ""))
	require.Equal(t, strings.TrimPrefix(path, "/chats/shop/"), document.Get(details, "chat.parent", ""))
	h.does("eve", second+"/take", nothing)
	h.does("eve", second+"/messages", fields{"key": "1", "text": "Hello, I am Eve."})
	h.runs()
	require.Contains(t, h.inlet.texts(), "Hello, I am Eve.")

	third := "/chats/shop/" + document.Get(h.does("eve", second+"/giveback", nothing), "id", "")
	require.Equal(t, "support", document.Get(h.does("grace", third, nil), "chat.teams[0]", ""), "it goes back to the team, not to an agent")
	h.does("grace", third+"/take", nothing)
	fourth := "/chats/shop/" + document.Get(h.does("grace", third+"/handover", fields{"team": "sellers"}), "id", "")
	require.Equal(t, "sellers", document.Get(h.does("eve", fourth, nil), "chat.teams[0]", ""))
	require.Len(t, objects(h.does("eve", fourth+"/earlier", nil), "chats"), 3)
	h.refused(http.StatusConflict, "grace", third+"/messages", fields{"key": "9", "text": "Too late"})
}

func TestHandOver_Refuses(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "grace")
	h.does("mal", "/about", nil)
	for body, status := range map[string]int{
		`{}`: 400, `{"agent": "grace"}`: 400, `{"agent": "nobody"}`: 404, `{"agent": "mal"}`: 404, `{"team": "eve"}`: 404, `{"team": "support", "agent": "eve"}`: 400,
	} {
		var asked document.Object
		require.NoError(t, asked.UnmarshalJSON([]byte(body)))
		h.refused(status, "grace", path+"/handover", asked)
	}
	h.does("eve", "/about", nil)
	h.refused(http.StatusConflict, "eve", path+"/handover", fields{"team": "support"})
	require.Equal(t, "grace", h.open("shop")[0].Assignee)
}

func TestPage_ChatOfAnotherAgent(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "grace")
	for action, body := range map[string]fields{
		"messages": {"key": "1", "text": "Hello?"}, "handover": {"team": "sellers"}, "giveback": {}, "end": {},
	} {
		require.Equal(t, "you do not have this chat; take it first", h.refused(http.StatusConflict, "eve", path+"/"+action, body), action)
	}
	require.Equal(t, "grace", h.open("shop")[0].Assignee)
}

// The team's channel may refuse everything. Trying again would not help.
func TestHandOver_TeamIsArchived(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "grace")
	in, err := h.runtime.LoadChannel(t.Context(), "shop", "shop-desk")
	require.NoError(t, err)
	require.NoError(t, h.desk.ArchiveConversation(t.Context(), in, "sellers"))
	told := h.refused(http.StatusConflict, "grace", path+"/handover", fields{"team": "sellers"})
	require.Contains(t, told, "the conversation sellers is archived")
	require.Equal(t, "grace", h.open("shop")[0].Assignee)
}

func TestMaxChats(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	first, second := h.taken("ada", "busy"), h.waiting("shop", "bob")
	require.Contains(t, h.refused(http.StatusConflict, "busy", second+"/take", nothing), "you have 1 chats")
	h.does("busy", first+"/end", nothing)
	h.does("busy", second+"/take", nothing)
}

// The chat has ended, and something of the end is not done yet.
func TestClosed_EndedInPart(t *testing.T) {
	t.Parallel()
	h, down := newDownHost(t, store.Call{Method: "update", Collection: "groups"})
	path := h.taken("ada", "grace")
	down.Store(true)
	h.refused(http.StatusServiceUnavailable, "grace", path+"/end", nothing)
	require.Empty(t, h.open("shop"))
	require.Len(t, objects(h.does("grace", "/closed/shop", nil), "chats"), 1)
}

func TestEraseMember(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(h *host, path string){
		"open": func(*host, string) {}, "ended": func(h *host, path string) { h.does("grace", path+"/end", nothing) },
	} {
		h := newHost(t)
		erase := func(path string) {
			_, err := h.runtime.EraseMember(t.Context(), "shop", document.Get(h.does("grace", path, nil), "member.id", ""))
			require.NoError(t, err)
			told := h.refused(http.StatusNotFound, "grace", path+"/messages", fields{"key": "2", "text": "Hello?"})
			require.Contains(t, told, "the member was erased", name)
		}
		path, other := h.taken("ada", "grace"), h.taken("bob", "grace")
		for _, chat := range []string{path, other} {
			h.does("grace", chat+"/notes", fields{"key": "1", "text": "A secret."})
		}
		end(h, path)
		erase(path)
		require.Contains(t, h.log("grace", other), "note: A secret.", name)
		erase(other)
		for _, collection := range []string{"desk_chats", "desk_chats_states", "desk_conversations", "desk_tickets"} {
			require.Empty(t, allOf(t, h.store, collection), "%s: %s", name, collection)
		}
		require.ErrorIs(t, h.desk.EraseMember(t.Context(), &member.Member{ID: "ada"}), boterr.InvalidArgument)
	}
}

// The relay message on a ticket may be about the member, and it need not have a button.
func TestEraseMember_TicketWithoutButton(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.says("shop", "ada", "hi")
	ada, err := members.KnownID(t.Context(), h.runtime.Env(), record.Scope{App: "shop", Channel: "shop-web"}, "ada")
	require.NoError(t, err)
	_, err = h.runtime.Operations(botctx.Scope{App: "shop", Channel: "shop-web", Member: ada}).CreateAssignment(t.Context(),
		livechat.CreateAssignmentParams{AssignmentDetails: livechat.AssignmentDetails{
			RelayMessage: map[channel.Type]send.Response{desk.Type: send.Text("Ada lives in Main Street.")},
		}})
	require.NoError(t, err)
	require.Len(t, allOf(t, h.store, "desk_tickets"), 1)
	_, err = h.runtime.EraseMember(t.Context(), "shop", ada)
	require.NoError(t, err)
	require.Empty(t, allOf(t, h.store, "desk_tickets"))
}

// EraseMember finds tickets by the requests, and a withdrawn request has no record.
func TestRecall_RemovesContent(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.waiting("shop", "ada")
	ada := document.Get(h.does("grace", path, nil), "member.id", "")
	_, err := h.runtime.Operations(botctx.Scope{App: "shop", Channel: "shop-web", Member: ada}).RemovePendingAssignmentByMemberID(
		t.Context(), livechat.RemovePendingAssignmentByMemberIDParams{MemberID: ada})
	require.NoError(t, err)
	found := allOf(t, h.store, "desk_tickets")
	require.Len(t, found, 1)
	require.NotContains(t, found[0].String(), "The kettle leaks.")
}

// A chat may last longer than its first messages are kept.
func TestRemoveOld_KeepsChatsInUse(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "grace")
	h.clock.advance(80 * 24 * time.Hour)
	h.says("shop", "ada", "Hello?")
	h.clock.advance(20 * 24 * time.Hour)
	require.NoError(t, h.runtime.RemoveOld(t.Context()))
	h.says("shop", "ada", "Are you there?")
	require.Equal(t, []string{"member: Hello?", "member: Are you there?"}, h.log("grace", path))

	h.clock.advance(100 * 24 * time.Hour)
	require.NoError(t, h.runtime.RemoveOld(t.Context()))
	for _, collection := range []string{"desk_tickets", "desk_chats", "desk_conversations"} {
		require.Empty(t, allOf(t, h.store, collection), collection)
	}
}

// newDownHost returns a host over a store that refuses a call while isDown is true.
func newDownHost(t *testing.T, refused store.Call) (h *host, isDown *atomic.Bool) {
	t.Helper()
	c, isDown := newClock(), &atomic.Bool{}
	around := func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if isDown.Load() && call == refused {
			return ctx, nil, boterr.New(boterr.Unavailable, "", "the store is down")
		}
		return ctx, nil, nil
	}
	return newHostOver(t, c, store.Wrap(memstore.New(memstore.WithNow(c.now)), around)), isDown
}

// The request is not handed over at first, and the agent tries again.
func TestHandOver_AgainWithTheSameNote(t *testing.T) {
	t.Parallel()
	h, down := newDownHost(t, store.Call{Method: "insert", Collection: "assignments"})
	path := h.taken("ada", "grace")
	before := h.log("grace", path)
	on := fields{"team": "sellers", "note": "She wants a new one."}
	down.Store(true)
	h.refused(http.StatusServiceUnavailable, "grace", path+"/handover", on)
	down.Store(false)
	h.does("grace", path+"/handover", on)
	require.Equal(t, append(before, "note: She wants a new one.", "desk: handed over"), h.log("grace", path))
}
