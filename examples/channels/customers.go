package main

import (
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/member"
)

// platforms are those that the shop is on, each with a channel whose id is the platform's
// name, and the ids there of two customers.
var platforms = []struct {
	on       channel.Type
	ada, bob string
}{
	{channel.Alpha, "2893461720043519", "2893461720077125"},
	{channel.Bravo, "15550100172", "15550100399"},
	{channel.Charlie, "U07ADA", "U07BOB"},
	{channel.Delta, "Ud3f1a9", "Ud3f2b4"},
	{channel.Echo, "oA1x_ada", "oA1x_bob"},
	{channel.Foxtrot, "usr_2041", "usr_2077"},
	{channel.Hotel, "ada.l", "bob.k"},
	{channel.Custom, "customer-17", "customer-23"},
	{channel.Webchat, "visitor-8f3a", "visitor-91c0"},
}

// botID is what the bot is called on the platforms.
const botID = "fern-and-fig"

// customer is Ada on one of the platforms.
type customer struct {
	*fakes.Actor

	on channel.Type
	// bob is another customer there, whose mail address is not known.
	bob *fakes.Actor
}

// tapFirst taps the first button or quick reply of a title: each bouquet has one to order it.
func (c customer) tapFirst(title string) error {
	for _, one := range c.Tappables() {
		if one.Title == title {
			return c.TrySends(one.Event())
		}
	}
	return c.TryTapsOn(title) // It says what there is to tap.
}

// florist is the shop on a fake platform, with its customers on every messaging platform.
type florist struct {
	*fakes.Platform

	account *fakes.Account
	adas    []customer
}

// newFlorist opens the shop.
func newFlorist(options ...fakes.Option) *florist {
	f := &florist{Platform: fakes.New(options...)}
	f.Handle(Nodes()...)
	f.account = f.AddAccount(accountName)
	f.account.OnEvent(OnPayment(f.Runtime(), fakes.DefaultApp))
	f.ReplyHTTP("GET", site+"/receipts/*", web.Text(200, "Fern & Fig: paid, with thanks.\n"))
	for _, platform := range platforms {
		in := f.AddChannel(channel.Channel{ID: string(platform.on), Type: platform.on}).ID
		bob := f.AddMember(member.Member{
			ID: "bob-on-" + in, FirstName: "Bob", Channel: in, ExternalID: platform.bob, BotID: botID,
			Meta: document.O("paymentMethod", "pm_card_bob"),
		})
		ada := f.AddMember(member.Member{
			ID: "ada-on-" + in, FirstName: "Ada", Channel: in, ExternalID: platform.ada, BotID: botID,
			Email: "ada@" + in + ".example", Meta: document.O("paymentMethod", "pm_card_ada"),
		})
		f.adas = append(f.adas, customer{Actor: ada, on: platform.on, bob: bob})
	}
	return f
}

// ada returns Ada on a platform.
func (f *florist) ada(on channel.Type) customer {
	return f.adas[slices.IndexFunc(f.adas, func(c customer) bool { return c.on == on })]
}

// shop returns a context for what the shop sends by itself in a channel. It is Ada's, since a
// context is somebody's.
func (f *florist) shop(on channel.Type) *botctx.Context { return f.ada(on).Context() }
