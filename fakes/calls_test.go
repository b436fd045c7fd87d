package fakes_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Receive runs the bot again for an event that is delivered twice. Each effect still exists only once, even on a
// fork, because both runs request it under the same key.
func TestReceivedAgain_IsDoneOnce(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Bravo})
	p.AddChannel(channel.Channel{ID: "lobby", Type: channel.Hotel})
	account := p.AddAccount("shop")
	ada := p.AddMember(member.Member{Channel: "page", FirstName: "Ada"})
	p.Handle(&botctx.Node{ID: "all", Trigger: botctx.TextIs("all"), Pre: []botctx.Action{asksForAll(t)}})
	event := send.MessageEvent{Type: send.TypeText, Data: document.O("text", "all"), MessageID: "m1"}
	ada.Sends(event)
	fork := p.Fork()
	for _, each := range []*fakes.Platform{p, fork} {
		ada.In(each).Sends(event)
		require.Len(t, each.Mails(), 1)
		require.Len(t, each.StoredMessages("page"), 1)
		require.Len(t, each.Broadcasts("page"), 1)
		require.Len(t, each.Groups("desk"), 1)
		require.Equal(t, "https://invite.example/link-2", each.Groups("desk")[0].InvitationLink)
		require.Len(t, each.CreatedChannels("lobby"), 1)
		require.Len(t, account.In(each).Payments(), 1)
	}
}

// asksForAll requests one of each effect that platforms apply once per key.
func asksForAll(t *testing.T) botctx.Action {
	t.Helper()
	return func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.AlphaSaveCustomLabel(ctx, send.AlphaSaveCustomLabelParams{LabelID: "vip"})
		require.NoError(t, err)
		made, err := bot.AlphaCreateBroadcast(ctx, send.AlphaCreateBroadcastParams{Response: send.Text("Sale")})
		require.NoError(t, err)
		_, err = bot.AlphaSendBroadcast(ctx, send.AlphaSendBroadcastParams{
			BroadcastID: made.Result[0].ID(), LabelID: "vip", NotificationType: "REGULAR",
		})
		require.NoError(t, err)
		group, err := bot.CreateBravoGroup(ctx, livechat.CreateBravoGroupParams{ChannelID: "desk", Name: "Orders"})
		require.NoError(t, err)
		_, err = bot.HandleAdminJoinedGroup(ctx, livechat.HandleAdminJoinedGroupParams{
			Channel: &channel.Channel{ID: "desk"}, ExternalID: "grace", BravoGroupID: group.GroupID,
		})
		require.NoError(t, err)
		_, err = bot.CreateHotelChannel(ctx, livechat.CreateHotelChannelParams{
			Channel: &channel.Channel{ID: "lobby"}, HotelGroupID: "floor", DisplayName: "Lobby",
		})
		require.NoError(t, err)
		_, err = bot.SendEmail(ctx, utility.SendEmailParams{
			Destination: utility.EmailDestination{ToAddresses: []string{"ada@example.com"}},
			Message: utility.EmailMessage{
				Subject: utility.EmailText{Data: "Hi"}, Body: utility.EmailBody{Text: &utility.EmailText{Data: "Hi"}},
			},
		})
		require.NoError(t, err)
		shop, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
		require.NoError(t, err)
		_, err = shop.Client.Charge(ctx, utility.Charge{Amount: 1000, Currency: "eur", PaymentMethod: "card"})
		require.NoError(t, err)
		_, err = bot.AlphaPassThreadControl(ctx, send.AlphaPassThreadControlParams{})
		require.NoError(t, err)
		return nil
	}
}

func TestCalls_ReachedOfSeveral(t *testing.T) {
	t.Parallel()
	p := fakes.New()
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	refused := p.AddMember(member.Member{ID: "a", Channel: "page"})
	for _, id := range []string{"b", "c"} {
		p.AddMember(member.Member{ID: id, Channel: "page"})
	}
	p.Inject(fakes.Refuses(refused, boterr.FailedPrecondition))
	_, err := refused.Context().SendResponse(t.Context(), send.SendResponseParams{
		MemberID: []string{"a", "b", "c"}, Response: send.Text("Hi"),
	})
	require.Error(t, err)
	call := p.Calls(botctx.OpSendResponse)[0]
	require.Contains(t, call.String(), "(2 of 3 reached)")
	require.Contains(t, p.Transcript(), "(2 of 3 reached)")
	require.IsType(t, send.SendResponseResult{}, call.Result)
	_, err = refused.Context().SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
	require.Error(t, err)
	require.NotContains(t, p.Calls(botctx.OpSendResponse)[1].String(), "reached", "one recipient has no results")
}

func TestChoices_OfEachEvent(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(textNode("hello", "hi"))
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	ada.Says("hi")
	before := p.Snapshot()
	ada.Says("bye")

	made := p.Choices()
	require.Len(t, made, 2)
	require.Equal(t, botctx.AnswerNode, made[0].Answer)
	require.Equal(t, "hello", made[0].Node.CompositeID)
	require.Equal(t, botctx.AnswerNone, made[1].Answer)
	require.Equal(t, ada.ID(), made[1].Scope.Member)
	p.Restore(before)
	require.Len(t, p.Choices(), 1)
}

func TestDataSources_AddedAndWritten(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddData("orders")
	p.AddData("coupons")
	require.Equal(t, []string{"coupons", "orders"}, p.DataSources())
}

func TestAdded_AsItWasGiven(t *testing.T) {
	t.Parallel()
	given := member.Member{FirstName: "Ada"}
	ada := fakes.New(fakes.For(t)).AddMember(given)
	require.Equal(t, given, ada.Added())
	require.NotEqual(t, given, *ada.Member())
}

// effects counts the requests to a platform's services that had an effect.
func effects(p *fakes.Platform) int {
	return len(p.Mails()) + len(p.Files()) + len(p.Sent()) + len(p.HTTP.Requests())
}

func TestFails_EachService(t *testing.T) {
	t.Parallel()
	for service, use := range users {
		p, ada := openFor(t)
		bot := ada.Context()
		require.NoError(t, use(t, bot))
		before := effects(p)
		planned := p.Inject(fakes.Fails(service, boterr.Conflict).At(2))
		require.NoError(t, use(t, bot), "the first request to %s goes well", service)
		require.False(t, planned.Met())
		once := effects(p) - before
		require.ErrorIs(t, use(t, bot), boterr.Conflict, "the second request to %s fails", service)
		require.True(t, planned.Met())
		if service != fakes.ServiceFiles { // The file is downloaded before it is stored.
			require.Equal(t, before+once, effects(p), "%s does nothing", service)
		}
		require.NoError(t, use(t, bot))
	}
}

func TestTimesOut_IsCarriedOut(t *testing.T) {
	t.Parallel()
	for _, service := range []fakes.Service{fakes.ServiceMail, fakes.ServiceFiles, fakes.ServiceHTTP, fakes.ServiceMessages} {
		p, ada := openFor(t)
		p.Inject(fakes.TimesOut(service).At(1))
		require.ErrorIs(t, users[service](t, ada.Context()), boterr.Unavailable)
		require.NotZero(t, effects(p), "%s has done it", service)
	}
}

func TestDelays_VirtualTime(t *testing.T) {
	t.Parallel()
	for service, use := range users {
		p, ada := openFor(t)
		bot := ada.Context()
		before := p.Now()
		p.Inject(fakes.Delays(service, time.Minute).At(1))
		require.NoError(t, use(t, bot))
		require.Equal(t, before.Add(time.Minute), p.Now(), "%s", service)
	}
}

func TestCrashes_BeforeAndAfter(t *testing.T) {
	t.Parallel()
	for _, service := range []fakes.Service{fakes.ServiceMail, fakes.ServiceFiles, fakes.ServiceMessages} {
		p, ada := openFor(t)
		p.Inject(fakes.Crashes(service).At(1))
		require.ErrorIs(t, users[service](t, ada.Context()), fakes.ErrCrashed)
		require.True(t, p.IsDown())
		require.Empty(t, len(p.Mails())+len(p.Files())+len(p.Sent()), "%s has done nothing", service)
		p.Restart()
		require.False(t, p.IsDown())
		p.Inject(fakes.CrashesAfter(service).At(1))
		require.ErrorIs(t, users[service](t, ada.Context()), fakes.ErrCrashed)
		require.Equal(t, 1, len(p.Mails())+len(p.Files())+len(p.Sent()), "%s has done it", service)
	}
}

func TestOnRequest_TellsOfWhatTheBotAsksFor(t *testing.T) {
	t.Parallel()
	told := map[fakes.Service][]string{}
	p, ada := openFor(t, fakes.OnRequest(func(_ context.Context, asked fakes.Request) {
		told[asked.Service] = append(told[asked.Service], asked.String())
	}))
	bot := ada.Context()
	clear(told)
	p.AddData("orders", document.O("_id", 1))
	require.Len(t, p.Data("orders"), 1)
	require.Empty(t, told[fakes.ServiceDataSources], "what the test looks at is no request")
	for _, use := range users {
		require.NoError(t, use(t, bot))
	}
	require.Equal(t, []string{"count data/app-1/orders"}, told[fakes.ServiceDataSources])
	require.Equal(t, []string{"mail to ada@example.com"}, told[fakes.ServiceMail])
	require.Equal(t, []string{"charge shop"}, told[fakes.ServicePayments])
	require.Contains(t, told[fakes.ServiceHTTP], "GET https://api.example.com/")
	require.Equal(t, []string{"send to " + ada.ExternalID()}, told[fakes.ServiceMessages])
	require.Len(t, told[fakes.ServiceFiles], 1)
	require.NotEmpty(t, told[fakes.ServiceStore])
}

// customers are the members of a host, by their id on the platform.
type customers struct {
	member.Operations

	byExternalID map[string]*member.Member
}

func (c customers) arrive(_ context.Context, inbound botctx.Inbound) (*member.Member, error) {
	from := inbound.Event.From
	if c.byExternalID[from] == nil {
		made := inbound.Profile
		made.ID, made.App, made.Channel, made.ExternalID = "customer-"+from, inbound.App, inbound.Channel, from
		c.byExternalID[from] = &made
	}
	return c.byExternalID[from], nil
}

func (c customers) GetMember(_ context.Context, p member.GetParams) (*member.Member, error) {
	for _, known := range c.byExternalID {
		if known.ID == p.MemberID {
			return known, nil
		}
	}
	return nil, boterr.New(boterr.NotFound, "memberId", "there is no customer %s", p.MemberID)
}

func TestAddMember_OfAHostWithMembersOfItsOwn(t *testing.T) {
	t.Parallel()
	own := customers{byExternalID: map[string]*member.Member{}}
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Arrive = own.arrive
		c.Override = func(botctx.Scope, botctx.Services) botctx.Services { return botctx.Services{Members: own} }
	}))
	p.HandleFunc(greet)
	ada := p.AddMember(member.Member{FirstName: "Ada", ExternalID: "42"})
	require.Equal(t, "customer-42", ada.ID())
	require.Equal(t, "Ada", ada.Member().FirstName)
	ada.Says("hi")
	require.Equal(t, "Hello Ada, you said: hi", ada.Last())
	require.Len(t, own.byExternalID, 1, "who speaks is who was added")
}

// A host that has its own channels and members needs neither in the store.
func TestAddMember_OfAHostWithChannelsOfItsOwn(t *testing.T) {
	t.Parallel()
	own := customers{byExternalID: map[string]*member.Member{}}
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Arrive = own.arrive
		c.LoadChannel = loadShop
		c.Override = func(botctx.Scope, botctx.Services) botctx.Services { return botctx.Services{Members: own} }
	}))
	p.HandleFunc(greet)
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "shop"})
	require.Regexp(t, `^[0-9]+$`, ada.ExternalID(), "an id of the platform of the channel")
	ada.Says("hi")
	require.Equal(t, "Hello Ada, you said: hi", ada.Last())
}

func loadShop(_ context.Context, app, id string) (*channel.Channel, error) {
	if id != "shop" {
		return nil, nil //nolint:nilnil // A host may report an unknown channel like this.
	}
	return &channel.Channel{ID: id, App: app, Type: channel.Bravo, On: true}, nil
}

func TestLoadChannel_KnowsTheChannelsOfTheHostAlone(t *testing.T) {
	t.Parallel()
	requireFailure(t, "fakes: AddChannel: calling Config.LoadChannel: not found: there is no channel web here", func(p *fakes.Platform) {
		require.Equal(t, "Ada", p.AddMember(member.Member{FirstName: "Ada", Channel: "shop"}).Member().FirstName)
		p.AddChannel(channel.Channel{ID: "web"})
	}, fakes.Config(func(c *botctx.Config) { c.LoadChannel = loadShop }))
}

func TestAddMember_WhomTheHostDoesNotMake(t *testing.T) {
	t.Parallel()
	for want, config := range map[string]func(c *botctx.Config){
		"set Arrive, so that the host makes its members": func(c *botctx.Config) {
			c.Override = func(botctx.Scope, botctx.Services) botctx.Services { return botctx.Services{Members: customers{}} }
		},
		"Config.Arrive returned neither a member nor an error": func(c *botctx.Config) {
			c.Arrive = func(context.Context, botctx.Inbound) (*member.Member, error) { return nil, nil } //nolint:nilnil // The test is about this misuse.
		},
	} {
		requireFailure(t, want, func(p *fakes.Platform) { p.AddMember(member.Member{}) }, fakes.Config(config))
	}
}

// chargesOn charges an account several times at each event.
func chargesOn(t *testing.T, account *fakes.Account, times int) {
	t.Helper()
	account.OnEvent(func(ctx context.Context, _ utility.PaymentEvent) error {
		for range times {
			if _, err := account.Charge(ctx, tenEuro()); err != nil {
				return err
			}
		}
		return nil
	})
	mustCharge(t, account, tenEuro())
}

func TestAccountEvents_WithoutEnd(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, 3}[:rounds.Of(t, 1, 2)] {
		p, account := newAccount(t)
		chargesOn(t, account, times)
		err := p.TryAdvance(1000 * 24 * time.Hour)
		require.ErrorContains(t, err, "the events of payment accounts cause each other endlessly")
	}
}

func TestAccountEvents_ForAWhile(t *testing.T) {
	t.Parallel()
	p, account := newAccount(t)
	chargesOn(t, account, 1)
	p.Advance(time.Hour)
	require.Len(t, account.Payments(), 3601)
}
