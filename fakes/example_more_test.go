package fakes_test

import (
	"context"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

func ExampleNewMembers() {
	ctx := context.Background()
	members := fakes.NewMembers()

	changed, err := members.PatchMembers(ctx, member.PatchParams{
		MemberID: members.Member.ID(),
		Patch:    document.O("meta.visits", 1),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(changed.Result.ID, changed.Result.Meta, changed.Result.Version)
	// Output:
	// member-1 {"visits":1} 2
}

func ExampleActor_TapsOn() {
	p := fakes.New()
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		if bot.MessageEvent.Type == send.TypePayload {
			return bot.Reply(ctx, send.Text("One kettle, "+bot.MessageEvent.Payload()+"."))
		}
		return bot.Reply(ctx, send.Buttons("Which colour?", send.Postback("Red", "in red"), send.Postback("Blue", "in blue")))
	})
	ada := p.AddMember(member.Member{})

	ada.Says("a kettle, please")
	ada.TapsOn("Blue")

	fmt.Println(ada.Last())
	// Output:
	// One kettle, in blue.
}

func ExamplePlatform_Advance() {
	p := fakes.New()
	ada := p.AddMember(member.Member{})

	p.Advance(36 * time.Hour)

	fmt.Println(ada.Context().Now().Format(time.DateTime))
	// Output:
	// 2026-01-02 12:00:00
}

func ExamplePlatform_AddChannel() {
	p := fakes.New()
	p.HandleFunc(greet)
	shop := p.AddChannel(channel.Channel{Type: channel.Alpha, Name: "Shop"})
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: shop.ID})

	ada.Says("hi")

	for _, sent := range p.Sent() {
		fmt.Println(sent.Type, sent.Channel, sent.To, sent.Response)
	}
	// Output:
	// alpha channel-1 1000000000000001 {"type":"TEXT","text":"Hello Ada, you said: hi"}
}

func ExampleFault_At() {
	p := fakes.New()
	p.HandleFunc(greet)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.ResourceExhausted).At(2))

	for _, text := range []string{"one", "two", "three"} {
		fmt.Println(ada.TrySays(text))
	}
	// Output:
	// <nil>
	// HandleFunc (fakes_test.greet): sendResponse: resource exhausted: the test makes this call fail
	// <nil>
}

func ExamplePlatform_hTTP() {
	p := fakes.New()
	p.ReplyHTTP("GET", "https://api.example.com/weather?city=Oslo", web.JSON(200, `{"celsius": 3}`))
	ada := p.AddMember(member.Member{})

	weather, err := ada.Context().Fetch(context.Background(), outbound.Request{URL: "https://api.example.com/weather?city=Oslo"})

	fmt.Println(weather.Get("celsius"), err)
	// Output:
	// 3 <nil>
}

func ExamplePlatform_AddAgent() {
	p := fakes.New()
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
		return err
	})
	p.AddChannel(channel.Channel{ID: "shop"})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
	}})
	p.Pair("shop", "desk")
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "shop"})
	grace := p.AddAgent("desk", "Grace")

	ada.Says("a person, please")
	fmt.Println(grace.Ticket().Text())
	grace.Takes(grace.Ticket())
	ada.Says("It leaks.")
	fmt.Println(grace.Last())
	grace.Says("Where?")
	fmt.Println(ada.Last())
	// Output:
	// Ada asks for a person.
	// It leaks.
	// Where?
}
