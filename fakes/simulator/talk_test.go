package simulator_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/internal/session/sessiontest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
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
	require.Len(t, w.Graph.Nodes, len(sessiontest.Nodes()))
	require.Contains(t, w.Transcript, "coupon")
}

// inLiveChat opens a page on which Ada, whose position is the node "menu", talks with Grace.
func inLiveChat(t *testing.T) (p *tab, ada, grace string) {
	t.Helper()
	p = newTab(t, simulator.Simulator{},
		&botctx.Node{ID: "menu", SavesPosition: true, Global: botctx.GlobalInTree, Trigger: botctx.TextIs("menu"), Responses: botctx.Say("Tea or coffee?")})
	w := p.world()
	ada, grace = w.Members[0].ID, w.Agents[0].ID
	p.says("menu")
	p.says("a person")
	p.does("take", map[string]any{"person": grace, "message": p.world().Agents[0].Tickets[0].Message})
	return p, ada, grace
}

func TestChoices_TellWhoWrote(t *testing.T) {
	t.Parallel()
	p, ada, grace := inLiveChat(t)
	p.does("addAgent", map[string]any{"name": "Greg", "channel": "desk"})
	greg := p.world().Agents[1].ID
	p.says("It leaks.")
	p.does("say", map[string]any{"person": grace, "text": "Where?"})
	p.does("say", map[string]any{"person": greg, "text": "I am new here."})
	var by []string
	for _, one := range p.world().Choices {
		by = append(by, one.By)
	}
	require.Equal(t, []string{ada, ada, ada, grace, greg}, by)
	p.does("crash", nil)
	require.Equal(t, greg, p.world().Choices[4].By)
}

func TestChoices_TellThatTheMemberWasInALiveChat(t *testing.T) {
	t.Parallel()
	p, _, grace := inLiveChat(t)
	p.says("hi")
	p.does("end", map[string]any{"person": grace})
	p.says("hi")
	choices := p.world().Choices
	during, afterwards := choices[len(choices)-2], choices[len(choices)-1]
	require.Equal(t, botctx.AnswerLiveChat, during.Answer)
	require.True(t, during.IsInLiveChat)
	require.Equal(t, "menu", during.Position.CompositeID)
	require.Equal(t, "its tree is none of the live-chat tree", during.Lost)
	require.Equal(t, "hello", afterwards.Node.CompositeID)
	require.False(t, afterwards.IsInLiveChat)
}

// A member who asks for a person in private still talks with the bot in a group.
func TestWorld_ALiveChatIsWhereItWasAskedFor(t *testing.T) {
	t.Parallel()
	platform := fakes.New()
	platform.AddChannel(channel.Channel{ID: "chat", Type: channel.Delta})
	bob := platform.AddMember(member.Member{FirstName: "Bob", Channel: "chat"})
	conversation.OpenDesk(platform, "desk", bob)
	p := newTab(t, simulator.Simulator{Platform: platform, Members: []*fakes.Actor{bob}})
	p.does("joinGroup", map[string]any{"person": p.world().Members[0].ID, "group": "family"})
	for i, asks := range p.world().Members {
		p.does("go", map[string]any{"moment": 1})
		require.Nil(t, p.does("say", map[string]any{"person": asks.ID, "text": "a person"}).Error)
		w := p.world()
		require.Equal(t, []bool{i == 0, i == 1}, []bool{w.Members[0].IsInLiveChat, w.Members[1].IsInLiveChat})
		require.Equal(t, asks.ID, w.Choices[len(w.Choices)-1].By)
	}
}

// folder is the source from which nodes are loaded.
type folder struct{ change atomic.Pointer[change] }

// change is the result of the next look.
type change struct {
	nodes []*botctx.Node
	err   error
}

func (f *folder) says(text send.Constant) {
	f.change.Store(&change{nodes: []*botctx.Node{{ID: "any", Trigger: botctx.AnyText(), Responses: botctx.Say(text)}}})
}

func (f *folder) look() ([]*botctx.Node, bool, error) {
	found := f.change.Swap(nil)
	if found == nil {
		return nil, false, nil
	}
	return found.nodes, true, found.err
}

func TestLook_TheNextMessageIsAnsweredByWhatIsThereThen(t *testing.T) {
	t.Parallel()
	var bot folder
	bot.says("before")
	p := newTab(t, simulator.Simulator{Reload: bot.look})
	p.says("hi")
	require.Equal(t, "before", p.last().Text)
	fork := &tab{t: t, server: p.server, branch: p.does("fork", map[string]any{"moment": 1}).Branch}
	bot.says("after")
	p.says("hi")
	require.Equal(t, "after", p.last().Text)
	p.does("go", map[string]any{"moment": 0})
	p.says("hi")
	require.Equal(t, "after", p.last().Text, "one goes back in time without the nodes")
	fork.says("hi")
	require.Equal(t, "after", fork.last().Text, "in every branch")
	p.does("crash", nil)
	p.does("restart", nil)
	p.says("hi")
	require.Equal(t, "after", p.last().Text)
	require.Equal(t, 2, p.world().Loads)
}

func TestLook_WhatIsBrokenIsToldAndTheBotStays(t *testing.T) {
	t.Parallel()
	var bot folder
	bot.says("before")
	p := newTab(t, simulator.Simulator{Reload: bot.look})
	for _, broken := range []change{
		{err: boterr.Invalid("", "order.js:2:4: there is no such name")},
		{nodes: []*botctx.Node{{ID: "twice"}, {ID: "twice"}}},
	} {
		bot.change.Store(&broken)
		p.says("hi")
		require.Equal(t, "before", p.last().Text)
		require.NotNil(t, p.world().Stale)
	}
	require.Contains(t, p.world().Stale.Message, "twice")
	bot.says("after")
	p.says("hi")
	require.Equal(t, "after", p.last().Text)
	require.Nil(t, p.world().Stale)
}

func TestLook_TheFirstHasToBeRight(t *testing.T) {
	t.Parallel()
	_, err := simulator.Simulator{Reload: func() ([]*botctx.Node, bool, error) { return nil, true, errors.New("no folder") }}.Handler()
	require.ErrorContains(t, err, "no folder")
}

func TestLook_AnOpenPageIsToldOfAChange(t *testing.T) {
	t.Parallel()
	var bot folder
	bot.says("before")
	p := newTab(t, simulator.Simulator{Reload: bot.look})
	events := listens(t, p, "")
	first := <-events
	bot.says("after")
	require.NotEqual(t, first, <-events)
	require.Equal(t, 2, p.world().Loads)
}

func TestLog_StandsBesideTheStepInWhichItWasWritten(t *testing.T) {
	t.Parallel()
	log := &simulator.Log{}
	logger := slog.New(log.Handler()).With("script", "order.js:2").WithGroup("at")
	p := newTab(t, simulator.Simulator{Log: log}, &botctx.Node{
		ID: "note", Global: botctx.GlobalInTree, Trigger: botctx.TextIs("note"), Responses: botctx.Say("Noted."),
		Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			logger.WarnContext(ctx, "it is "+bot.MessageEvent.Text(), "hour", 9)
			return nil
		}),
	})
	p.says("hi")
	p.says("note")
	want := simulator.Line{Moment: 2, Level: "WARN", Text: "it is note", More: []string{"script order.js:2", "at.hour 9"}}
	require.Equal(t, []simulator.Line{want}, p.world().Log)
	p.does("go", map[string]any{"moment": 1})
	require.Empty(t, p.world().Log)
}

// services is a bot that charges, mails and echoes.
func services() []*botctx.Node {
	charges := func(ctx context.Context, bot *botctx.Context) error {
		shop, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
		if err == nil {
			_, err = shop.Client.Charge(ctx, utility.Charge{Amount: 100, Currency: "eur", PaymentMethod: "card"})
		}
		return ends(ctx, bot, err)
	}
	mails := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.SendEmail(ctx, utility.SendEmailParams{
			Destination: utility.EmailDestination{ToAddresses: []string{bot.Member.Email}},
			Message: utility.EmailMessage{
				Subject: utility.EmailText{Data: "Hello"}, Body: utility.EmailBody{Text: &utility.EmailText{Data: "Hello!"}},
			},
		})
		return ends(ctx, bot, err)
	}
	return []*botctx.Node{
		{ID: "buy", Trigger: botctx.TextIs("buy"), Pre: botctx.Do(charges)},
		{ID: "mail", Trigger: botctx.TextIs("mail"), Pre: botctx.Do(mails)},
		{ID: "other", Trigger: botctx.When(func(*botctx.Context) bool { return true }), Priority: botctx.FallbackPriority, Pre: botctx.Do(sessiontest.Repeat)},
	}
}

// ends answers with a result.
func ends(ctx context.Context, bot *botctx.Context, err error) error {
	if err != nil {
		return bot.Reply(ctx, send.Text("That failed: "+string(boterr.CodeOf(err))))
	}
	return bot.Reply(ctx, send.Text("Done."))
}

// served returns a platform with the bot of services and the account that it charges.
func served(options ...fakes.Option) *fakes.Platform {
	p := fakes.New(options...)
	p.AddAccount("shop")
	p.Handle(services()...)
	return p
}

// newShop opens a page of a simulator with the bot of services.
func newShop(t *testing.T) *tab {
	t.Helper()
	p := served()
	ada := p.AddMember(member.Member{FirstName: "Ada", Email: "ada@example.com"})
	handler, err := simulator.Simulator{Platform: p, Members: []*fakes.Actor{ada}, Accounts: []*fakes.Account{p.Account("shop")}}.Handler()
	require.NoError(t, err)
	return serve(t, handler)
}

// savedIsHeldAgain requires that the saved conversation has the same result on another platform.
func (p *tab) savedIsHeldAgain(on *fakes.Platform) {
	p.t.Helper()
	status, text, _ := p.get("/saved?form=text")
	require.Equal(p.t, http.StatusOK, status, text)
	kept, err := conversation.Parse("kept.chat", text)
	require.NoError(p.t, err, text)
	came, err := conversation.NewSession(on).Play(kept)
	require.NoError(p.t, err, text)
	require.Empty(p.t, conversation.Difference(kept, came))
}

func TestServices_RefuseWhatTheyAreToldTo(t *testing.T) {
	t.Parallel()
	p := newShop(t)
	require.Equal(t, []string{"shop"}, p.world().Accounts)
	says := func(text, want string) {
		p.says(text)
		require.Equal(t, want, p.last().Text)
	}
	p.does("fault", map[string]any{"line": "The next charge of shop is declined: insufficient_funds"})
	says("buy", "That failed: FailedPrecondition")
	require.Equal(t, utility.PaymentFailed, p.world().Payments[0].Status)
	says("buy", "Done.")
	p.does("fault", map[string]any{"line": "The next mail fails: Unavailable"})
	says("mail", "That failed: Unavailable")
	says("mail", "Done.")
	p.does("fault", map[string]any{"line": "Mail to ada@example.com bounces"})
	says("mail", "That failed: InvalidArgument")
	require.Contains(t, p.world().Faults.Out, "mail to ada@example.com")
	p.does("fault", map[string]any{"line": "The next file fails: NotFound"})
	p.savedIsHeldAgain(served(fakes.For(t)))
}

func TestServices_WhatIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	p := newShop(t)
	for do, with := range map[string]map[string]any{
		"fault":     {"line": "Mail to nobody bounces"},
		"sendFile":  {"person": p.world().Members[0].ID, "type": "TEXT", "url": "x"},
		"sendEvent": {"person": p.world().Members[0].ID},
		"joinGroup": {"person": p.world().Members[0].ID, "group": "family"},
	} {
		status, text := p.asks(do, with)
		require.NotEqual(t, http.StatusOK, status, "%s %s", do, text)
	}
	require.Len(t, p.world().Moments, 1)
}

func TestSend_FilesAndEvents(t *testing.T) {
	t.Parallel()
	p := newShop(t)
	ada := p.world().Members[0].ID
	p.does("sendFile", map[string]any{"person": ada, "type": "IMAGE", "url": "https://example.com/k.png"})
	require.Equal(t, `You sent {"url":"https://example.com/k.png"}`, p.last().Text)
	p.does("sendEvent", map[string]any{"person": ada, "type": "LOCATION", "data": map[string]any{"lat": 38.6, "long": -9}})
	require.Equal(t, `You sent {"lat":38.6,"long":-9}`, p.last().Text)
	talk := p.world().Members[0].Talk
	require.Equal(t, send.TypeImage, talk[0].Type)
	require.Equal(t, "https://example.com/k.png", talk[0].URL)
	require.Equal(t, send.Type("LOCATION"), talk[2].Type)
	p.savedIsHeldAgain(served(fakes.For(t)))
}

func TestJoinGroup_MembersReadEachOther(t *testing.T) {
	t.Parallel()
	p := newShop(t)
	p.does("addMember", map[string]any{"name": "Bob", "platform": "delta"})
	p.does("joinGroup", map[string]any{"person": p.world().Members[1].ID, "group": "family"})
	p.does("addMember", map[string]any{"name": "Eve", "channel": p.world().Members[1].Channel})
	p.does("joinGroup", map[string]any{"person": p.world().Members[3].ID, "group": "family"})
	w := p.world()
	require.Len(t, w.Members, 5)
	bob, bobInFamily, eveInFamily := w.Members[1], w.Members[2], w.Members[4]
	require.Equal(t, "Bob in family", bobInFamily.Name)
	require.Equal(t, "family", bobInFamily.Group)
	require.Equal(t, bob.ID, bobInFamily.Member)
	p.does("say", map[string]any{"person": bobInFamily.ID, "text": "hello all"})
	for _, one := range []string{bobInFamily.ID, eveInFamily.ID} {
		talk := p.memberOf(one).Talk
		require.Len(t, talk, 2)
		require.Equal(t, one == bobInFamily.ID, talk[0].IsIn)
		require.Equal(t, "Bob in family", talk[0].From)
		require.Equal(t, `You sent {"text":"hello all"}`, talk[1].Text)
	}
	require.Empty(t, p.memberOf(bob.ID).Talk)
	p.savedIsHeldAgain(served(fakes.For(t)))
}

func TestJoinGroup_WhateverIsOutOfService(t *testing.T) {
	t.Parallel()
	p := newShop(t)
	p.does("addMember", map[string]any{"name": "Bob", "platform": "delta"})
	p.does("crash", nil)
	p.does("joinGroup", map[string]any{"person": p.world().Members[1].ID, "group": "family"})
	require.Equal(t, "Bob in family", p.world().Members[2].Name)
}

// memberOf returns a member as shown on the page.
func (p *tab) memberOf(id string) simulator.Member {
	p.t.Helper()
	for _, one := range p.world().Members {
		if one.ID == id {
			return one
		}
	}
	require.Fail(p.t, "nobody has the id", id)
	return simulator.Member{}
}
