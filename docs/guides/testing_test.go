package guides_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/expect"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// priceURL is the address of the price of a kettle.
const priceURL = "https://prices.example/kettle"

// sell takes a kettle out of the stock, and charges the member.
func sell(ctx context.Context, bot *botctx.Context) error {
	price, err := bot.Fetch(ctx, outbound.Request{URL: priceURL})
	if err != nil || !price.OK() {
		return bot.Reply(ctx, send.Text("I do not know the price. Ask me later."))
	}
	hasOne, err := take(ctx, bot, 1)
	if err != nil {
		return err
	}
	if !hasOne {
		return bot.Reply(ctx, send.Text("Sold out."))
	}
	err = charge(ctx, bot, price.Get("cents").Int())
	if _, ok := errors.AsType[*utility.DeclinedError](err); ok {
		_, err = take(ctx, bot, -1)
		return errors.Join(err, bot.Reply(ctx, send.Text("Your card was declined.")))
	}
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("It is on its way."))
}

// take takes kettles out of the stock, and reports whether there were enough.
func take(ctx context.Context, bot *botctx.Context, n int) (bool, error) {
	taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: "stock",
		Filter:       document.O("_id", "kettle", "left", document.O("$gte", n)),
		Patch:        document.Inc("left", -n),
	})
	return taken.Value != nil, err
}

// charge charges the member. If the run is tried again, the member is not charged twice.
func charge(ctx context.Context, bot *botctx.Context, cents int64) error {
	shop, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
	if err != nil {
		return err
	}
	_, err = shop.Client.Charge(ctx, utility.Charge{
		Amount: cents, Currency: "eur", PaymentMethod: "card", IdempotencyKey: bot.SendID(ctx, "a kettle"),
	})
	return err
}

// openShop returns a platform with the shop, a member, and the account that is charged.
func openShop(t *testing.T) (*fakes.Platform, *fakes.Actor, *fakes.Account) {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	p.Handle(&botctx.Node{ID: "buy", Trigger: botctx.TextIs("buy"), Pre: botctx.Do(sell)})
	p.ReplyHTTP("GET", priceURL, web.JSON(200, `{"cents": 2500}`))
	p.AddData("stock", document.O("_id", "kettle", "left", 2))
	account := p.AddAccount("shop")
	ada := p.AddMember(member.Member{Channel: "page", FirstName: "Ada"})
	return p, ada, account
}

// left returns the number of kettles in the stock.
func left(p *fakes.Platform) int { return document.Get(p.Data("stock")[0], "left", 0) }

func TestShop_Sells(t *testing.T) {
	t.Parallel()
	p, ada, _ := openShop(t)

	ada.Says("buy")

	require.Equal(t, "It is on its way.", ada.Last())
	require.Equal(t, 1, left(p))
	require.Len(t, p.Calls(botctx.OpFindAndModifyDataFromDataSource), 1)
	require.Len(t, p.HTTP.Requests(), 1)
}

func TestShop_WithoutPrice(t *testing.T) {
	t.Parallel()
	p, ada, _ := openShop(t)

	p.ReplyHTTP("GET", priceURL, web.Text(500, "out of order"), web.JSON(200, `{"cents": 2500}`))
	ada.Says("buy")
	require.Equal(t, "I do not know the price. Ask me later.", ada.Last())
	ada.Says("buy")
	require.Equal(t, "It is on its way.", ada.Last())
}

func TestShop_FailsAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	p, ada, _ := openShop(t)

	p.Inject(fakes.Fails(botctx.OpFindAndModifyDataFromDataSource, boterr.Unavailable))
	require.ErrorIs(t, ada.TrySays("buy"), boterr.Unavailable)
	require.Empty(t, ada.Messages())
	ada.Says("buy")
	require.Equal(t, "It is on its way.", ada.Last())
	require.Equal(t, 1, left(p))
}

func TestShop_AnswerIsLost(t *testing.T) {
	t.Parallel()
	p, ada, _ := openShop(t)

	p.Inject(fakes.TimesOut(botctx.OpSendResponse)) // It is sent, but reports a failure.
	require.ErrorIs(t, ada.TrySays("buy"), boterr.Unavailable)
	require.Equal(t, "It is on its way.", ada.Last())
}

func TestShop_StoreIsDown(t *testing.T) {
	t.Parallel()
	p, ada, _ := openShop(t)

	p.Inject(fakes.Down(fakes.ServiceDataSources))
	require.Error(t, ada.TrySays("buy"))
	require.Error(t, ada.TrySays("buy"))
	p.Lift(fakes.Down(fakes.ServiceDataSources))
	ada.Says("buy")
	require.Equal(t, "It is on its way.", ada.Last())
}

func TestShop_CardIsDeclined(t *testing.T) {
	t.Parallel()
	p, ada, account := openShop(t)

	p.Inject(fakes.Declines("shop", "expired_card"))
	ada.Says("buy")
	require.Equal(t, "Your card was declined.", ada.Last())
	require.Equal(t, 2, left(p))
	ada.Says("buy")
	require.Len(t, account.Payments(), 2, "those that failed included")
}

func TestShop_LastKettleGoesToOne(t *testing.T) {
	t.Parallel()
	p, ada, _ := openShop(t)
	bob := p.AddMember(member.Member{FirstName: "Bob"})
	ada.Says("buy")

	fork := p.Fork() // Changes of one platform are not visible on the other.
	bob.In(fork).Says("buy")
	require.Equal(t, "It is on its way.", bob.In(fork).Last())

	before := p.Snapshot()
	ada.Says("buy")
	bob.Says("buy")
	require.Equal(t, "Sold out.", bob.Last())
	p.Restore(before)
	require.Equal(t, 1, left(p))
}

func TestShop_PlatformLimitsMessages(t *testing.T) {
	t.Parallel()
	p, ada, _ := openShop(t)

	p.Inject(fakes.Limits("page", 1, time.Minute)) // One message a minute, by the platform's clock.
	ada.Says("buy")
	require.ErrorIs(t, ada.TrySays("buy"), boterr.ResourceExhausted)
	p.Advance(time.Minute)
	ada.Says("buy")
	require.Equal(t, "Sold out.", ada.Last(), "what the run that failed did before, it has done")
}

func TestHours_AreToldOnceThoughTheBotCrashes(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.WithInbox())
	p.Handle(&botctx.Node{ID: "hours", Trigger: botctx.TextIs("hours"), Responses: []send.Response{send.Text("From 9 to 5.")}})
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	p.Inject(fakes.Crashes(botctx.OpSendResponse))
	ada.Says("hours")
	require.Empty(t, ada.Messages(), "the bot has died before it answered")

	p.Restart()
	p.Advance(time.Second) // The pause after a run that was lost.
	ada.SaysAgain()        // The platform repeats the message, under its id.
	require.Len(t, ada.Messages(), 1)
	require.Equal(t, "From 9 to 5.", ada.Last())
}

func TestStock_IsCounted(t *testing.T) {
	t.Parallel()
	data := fakes.NewDataSources(fakes.For(t)) // The operations of one domain alone.
	data.Platform.AddData("stock", document.O("_id", "kettle", "left", 2))

	count, err := data.CountDataSource(t.Context(), datasource.CountParams{
		DataSourceID: "stock", Filter: document.O("left", document.O("$gt", 0)),
	})

	require.NoError(t, err)
	require.EqualValues(t, 1, count)
}

func TestSizes_AreShownToChooseFrom(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
	p.Handle(
		&botctx.Node{ID: "hi", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Hello!", "What do you want?")},
		&botctx.Node{ID: "kettle", Trigger: botctx.TextIs("a kettle"), Responses: []send.Response{
			send.Buttons("Which size?", send.Postback("Small", "s"), send.Postback("Large", "l")),
		}},
	)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("hi")
	ada.Sees("Hello!", "What do you want?")
	ada.SeesNothing()
	ada.Says("a kettle")
	ada.SeesMessage(expect.Text("Which size?"), expect.Choice("Small", "Large"))
	ada.Says("hi")
	ada.Reads() // Skip the messages that this test does not check.
}
