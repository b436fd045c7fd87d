package fakes_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

func ExamplePlatform_Mailbox() {
	p := fakes.New()
	p.HandleFunc(mailSupport)

	p.AddMember(member.Member{FirstName: "Ada"}).Says("Do you have kettles?")

	for _, mail := range p.Mailbox("support@shop.example") {
		fmt.Println(mail.Subject.Data)
		fmt.Println(mail.Text.Data)
	}
	// Output:
	// Ada has a question
	// Do you have kettles?
}

// buy charges the member for a kettle.
func buy(ctx context.Context, bot *botctx.Context) error {
	shop, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
	if err != nil {
		return err
	}
	_, err = shop.Client.Charge(ctx, utility.Charge{
		Amount: 2500, Currency: "eur", PaymentMethod: "card", Description: "a kettle",
		Metadata: map[string]string{"member": bot.Member.ID},
	})
	if declined, ok := errors.AsType[*utility.DeclinedError](err); ok {
		return bot.Reply(ctx, send.Text("Your card was declined: "+declined.Code))
	}
	return err
}

// An event of the payment provider leads the member to the node "paid". It comes when the
// time moves.
func ExamplePlatform_AddAccount() {
	p := fakes.New()
	account := p.AddAccount("shop")
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	p.Handle(
		&botctx.Node{ID: "buy", Trigger: botctx.TextIs("buy"), Pre: []botctx.Action{buy}},
		&botctx.Node{ID: "paid", Responses: []send.Response{send.Text("Thank you. Your kettle is on its way.")}},
	)
	account.OnEvent(func(ctx context.Context, event utility.PaymentEvent) error {
		if event.Type != utility.EventPaymentSucceeded {
			return nil
		}
		_, err := p.Operations(ada.Scope()).RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{
			MemberID: event.Payment.Metadata["member"], NodeCompositeID: "paid",
		})
		return err
	})

	account.DeclineNext("insufficient_funds")
	ada.Says("buy")
	fmt.Println(ada.Last())

	ada.Says("buy")
	p.Advance(fakes.EventDelay)
	fmt.Println(ada.Last())

	for _, payment := range account.Payments() {
		fmt.Println(payment.ID, payment.Amount, payment.Currency, payment.Status)
	}
	// Output:
	// Your card was declined: insufficient_funds
	// Thank you. Your kettle is on its way.
	// payment-1 2500 eur failed
	// payment-2 2500 eur succeeded
}

func ExamplePlatform_File() {
	p := fakes.New()
	p.ReplyHTTP("GET", "https://api.shop.example/bills/7", web.Text(200, "One kettle: 25.00 EUR"))
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	_, err := ada.Context().UploadFileToObjectStore(context.Background(), utility.UploadFileToObjectStoreParams{
		URL: "https://api.shop.example/bills/7", Filename: "bills/7.txt", ContentType: "text/plain",
	})

	file := p.File("app-1/channel-1/bills/7.txt")
	fmt.Printf("%s, %s, %v\n", file.ContentType, file.Content, err)
	// Output:
	// text/plain, One kettle: 25.00 EUR, <nil>
}
