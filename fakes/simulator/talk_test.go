package simulator_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/simulator"
)

func TestSay_IsAnswered(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.says("hi")
	talk := p.world().Members[0].Talk
	require.Len(t, talk, 2)
	require.Equal(t, "hi", talk[0].Text)
	require.True(t, talk[0].IsIn)
	require.Equal(t, "Hello Ada!", talk[1].Text)
	require.False(t, talk[1].IsIn)
}

func TestTap_SendsWhatTheMessageShows(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.says("kettles")
	cards := p.last().Cards
	require.Equal(t, "Steel", cards[0].Title)
	require.Equal(t, "https://shop.example/steel", cards[0].Buttons[1].URL)
	require.Equal(t, -1, cards[0].Buttons[1].Number)
	p.does("tap", map[string]any{"person": p.world().Members[0].ID, "message": p.last().ID, "number": cards[1].Buttons[0].Number})
	require.Contains(t, p.last().Text, `"kind":"glass"`)
}

func TestTap_QuickRepliesAreGoneAfterAnotherMessage(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.says("sure?")
	asked := p.last()
	require.Equal(t, []int{0, 1}, []int{asked.QuickReplies[0].Number, asked.QuickReplies[1].Number})
	p.says("hi")
	require.Equal(t, -1, p.world().Members[0].Talk[1].QuickReplies[0].Number)
	status, text := p.asks("tap", map[string]any{"person": p.world().Members[0].ID, "message": asked.ID, "number": 0})
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, text, "no longer shows")
}

func TestSay_FailureIsToldAndStays(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	for said, code := range map[string]boterr.Code{"break": boterr.Unavailable, "panic": boterr.Internal} {
		done := p.does("say", map[string]any{"person": p.world().Members[0].ID, "text": said})
		require.Equal(t, code, done.Error.Code)
		require.Equal(t, code, p.last().Error.Code)
	}
}

func TestSay_TellsWhyNothingAnswers(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.says("who?")
	chosen := p.world().Choices
	require.Len(t, chosen, 1)
	require.Equal(t, botctx.AnswerNone, chosen[0].Answer)
	require.Equal(t, 1, chosen[0].Moment)
	require.Equal(t, "trigger did not match", chosen[0].Candidates[0].Why)
}

func TestAddMember_SpeaksOnEachPlatform(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	for _, platform := range channel.Types() {
		p.does("addMember", map[string]any{"name": "Bob " + string(platform), "platform": platform})
		members := p.world().Members
		bob := members[len(members)-1]
		require.Equal(t, platform, bob.Platform)
		require.Nil(t, p.does("say", map[string]any{"person": bob.ID, "text": "hi"}).Error)
		members = p.world().Members
		require.Equal(t, "Hello Bob "+string(platform)+"!", members[len(members)-1].Talk[1].Text)
	}
	require.Empty(t, p.world().Members[0].Talk)
}

func TestDesk_HandsOverAndBack(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.says("a person")
	w := p.world()
	grace := w.Agents[0]
	require.True(t, w.Members[0].IsInLiveChat)
	require.Len(t, grace.Tickets, 1)
	require.True(t, grace.Tickets[0].IsOpen)
	require.Equal(t, "pending", document.Get(w.Assignments[0], "state", ""))

	p.does("take", map[string]any{"person": grace.ID, "message": grace.Tickets[0].Message})
	p.says("It leaks.")
	p.does("say", map[string]any{"person": grace.ID, "text": "Where?"})
	require.Equal(t, "Where?", p.last().Text)
	talk := p.world().Agents[0].Talk
	require.Equal(t, "Where?", talk[len(talk)-1].Text)
	require.Equal(t, "It leaks.", talk[len(talk)-2].Text)
	require.False(t, p.world().Agents[0].Tickets[0].IsOpen)

	p.does("end", map[string]any{"person": grace.ID})
	require.False(t, p.world().Members[0].IsInLiveChat)
}

func TestWorld_ShowsWhatTheBotKeeps(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.says("coupon")
	p.says("remind me")
	w := p.world()
	require.Equal(t, "coupons", w.Data[0].Name)
	require.Equal(t, "SPRING", document.Get(w.Data[0].Entries[0], "code", ""))
	require.Equal(t, "reminder", document.Get(w.Agendas[0], "nodeCompositeId", ""))
	meta, _ := w.Members[0].Record.Lookup("meta.coupon")
	require.Equal(t, "SPRING", meta)
	require.Len(t, w.Outbox, 2)
	require.Equal(t, "Ada", w.Outbox[0].To)
	require.Len(t, w.Graph.Nodes, len(nodes()))
	require.Contains(t, w.Transcript, "coupon")
}
