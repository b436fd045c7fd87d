package fakes_test

import (
	"context"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/expect"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// The first things that a tester looks up. In a test, use fakes.New(fakes.For(t)): then a step that fails
// ends the test.

func Example_talk() {
	p := fakes.New()
	p.Handle(&botctx.Node{ID: "hi", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Hello!", "What do you want?")})
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("hi")
	ada.Sees("Hello!", "What do you want?")
	ada.SeesNothing()
	// Output:
}

func Example_tap() {
	p := fakes.New()
	p.Handle(
		&botctx.Node{ID: "size", Trigger: botctx.TextIs("kettle"), Responses: []send.Response{sizes()}},
		&botctx.Node{ID: "large", Trigger: botctx.PayloadIs("l"), Responses: botctx.Say("A large one.")},
	)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("kettle")
	ada.SeesMessage(expect.Text("Which size?"), expect.Choice("Small", "Large"))
	ada.TapsOn("Large")
	ada.Sees("A large one.")
	// Output:
}

func Example_begin() {
	p := fakes.New()
	p.Handle(
		&botctx.Node{ID: "size", Trigger: botctx.TextIs("kettle"), Responses: []send.Response{sizes()}, SavesPosition: true},
		&botctx.Node{ID: "large", Parent: "size", Trigger: botctx.TextIs("large"), Responses: botctx.Say("A large one.")},
	)
	ada := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("orders", 3)})

	ada.SetPosition("size")
	ada.Says("large")
	ada.Sees("A large one.")
	// Output:
}

func Example_time() {
	p := fakes.New()
	p.Handle(&botctx.Node{ID: "reminder", Responses: botctx.Say("Still there?")})
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	ada.AddAgenda(agenda.NewParams{NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(p.Now().Add(time.Hour))})

	p.Advance(59 * time.Minute)
	ada.SeesNothing()
	p.Advance(time.Minute)
	ada.Sees("Still there?")
	// Output:
}

func Example_data() {
	p := fakes.New()
	p.HandleFunc(claim) // Takes a coupon from the data source and replies with its code.
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("coupon")
	ada.Sees("Your code: SPRING")
	fmt.Println(document.Get(p.Data("coupons")[0], "taken", false))
	// Output:
	// true
}

func Example_failure() {
	p := fakes.New()
	p.HandleFunc(claim)
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	p.Inject(fakes.Fails(botctx.OpFindAndModifyDataFromDataSource, boterr.Unavailable))
	fmt.Println(boterr.CodeOf(ada.TrySays("coupon")))
	ada.SeesNothing()
	// Output:
	// unavailable
}

func Example_web() {
	p := fakes.New()
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		weather, err := bot.Fetch(ctx, outbound.Request{URL: "https://api.example.com/weather"})
		if err != nil {
			return err
		}
		return bot.Reply(ctx, send.Text(weather.Get("sky").String()))
	})
	p.ReplyHTTP("GET", "https://api.example.com/weather", web.JSON(200, `{"sky": "blue"}`))
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	ada.Says("weather")
	ada.Sees("blue")
	// Output:
}

func Example_mail() {
	p := fakes.New()
	p.HandleFunc(mailSupport) // Mails the member's text to support.
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("It leaks.")
	mail := p.Mailbox("support@shop.example")[0]
	fmt.Println(mail.Subject.Data, "|", mail.Text.Data)
	// Output:
	// Ada has a question | It leaks.
}

// sizes asks for the size of a kettle.
func sizes() send.Response {
	return send.Buttons("Which size?", send.Postback("Small", "s"), send.Postback("Large", "l"))
}

// mailSupport mails a member's text to support.
func mailSupport(ctx context.Context, bot *botctx.Context) error {
	return mailBot("Support <support@shop.example>")(ctx, bot)
}

// mailBot returns a bot that mails a member's text to an address.
func mailBot(address string) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.SendEmail(ctx, utility.SendEmailParams{
			Destination: utility.EmailDestination{ToAddresses: []string{address}},
			Message: utility.EmailMessage{
				Subject: utility.EmailText{Data: bot.Member.FirstName + " has a question"},
				Body:    utility.EmailBody{Text: &utility.EmailText{Data: bot.MessageEvent.Text()}},
			},
		})
		return err
	}
}
