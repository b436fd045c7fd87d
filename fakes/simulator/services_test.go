package simulator_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// services is a bot that charges, mails and tells what it was sent.
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
		{ID: "other", Trigger: botctx.When(func(*botctx.Context) bool { return true }), Priority: botctx.FallbackPriority, Pre: botctx.Do(repeat)},
	}
}

// ends says how something ended.
func ends(ctx context.Context, bot *botctx.Context, err error) error {
	if err != nil {
		return bot.Reply(ctx, send.Text("That failed: "+string(boterr.CodeOf(err))))
	}
	return bot.Reply(ctx, send.Text("Done."))
}

// served is a platform with the account that the bot charges.
func served(options ...fakes.Option) *fakes.Platform {
	p := fakes.New(options...)
	p.AddAccount("shop")
	p.Handle(services()...)
	return p
}

// newShop opens a page of a simulator with that bot.
func newShop(t *testing.T) *tab {
	t.Helper()
	p := served()
	ada := p.AddMember(member.Member{FirstName: "Ada", Email: "ada@example.com"})
	handler, err := simulator.Simulator{Platform: p, Members: []*fakes.Actor{ada}, Accounts: []*fakes.Account{p.Account("shop")}}.Handler()
	require.NoError(t, err)
	return serve(t, handler)
}

// savedIsHeldAgain requires that the saved conversation comes as it was.
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
	p.does("declineCharge", map[string]any{"account": "shop", "code": "insufficient_funds"})
	says("buy", "That failed: FailedPrecondition")
	require.Equal(t, utility.PaymentFailed, p.world().Payments[0].Status)
	says("buy", "Done.")
	p.does("failMail", map[string]any{"code": "Unavailable"})
	says("mail", "That failed: Unavailable")
	says("mail", "Done.")
	p.does("bounce", map[string]any{"address": "ada@example.com"})
	says("mail", "That failed: InvalidArgument")
	require.Contains(t, p.world().Faults.Out, "mail to ada@example.com")
	p.does("failFile", map[string]any{"code": "NotFound"})
	p.savedIsHeldAgain(served(fakes.For(t)))
}

func TestServices_WhatIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	p := newShop(t)
	for do, with := range map[string]map[string]any{
		"declineCharge": {"account": "bank", "code": "x"},
		"bounce":        {"address": "nobody"},
		"failMail":      {"code": "Broken"},
		"sendFile":      {"person": p.world().Members[0].ID, "type": "TEXT", "url": "x"},
		"sendEvent":     {"person": p.world().Members[0].ID},
		"joinGroup":     {"person": p.world().Members[0].ID, "group": "family"},
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

// memberOf returns a member as the page shows her.
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
