package utility_test

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// mailReceipt mails the member a receipt.
func mailReceipt(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.SendEmail(ctx, utility.SendEmailParams{
		Destination: utility.EmailDestination{ToAddresses: []string{bot.Member.Email}},
		Message: utility.EmailMessage{
			Subject: utility.EmailText{Data: "Your receipt"},
			Body:    utility.EmailBody{Text: &utility.EmailText{Data: "One kettle: 25.00 EUR"}},
		},
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("The receipt is in your mailbox."))
}

func Example() {
	p := fakes.New()
	p.HandleFunc(mailReceipt)

	ada := p.AddMember(member.Member{FirstName: "Ada", Email: "ada@example.com"})
	ada.Says("receipt")
	fmt.Println(ada.Last())
	for _, mail := range p.Mailbox("ada@example.com") {
		fmt.Println(mail.Subject.Data, "-", mail.Text.Data)
	}
	// Output:
	// The receipt is in your mailbox.
	// Your receipt - One kettle: 25.00 EUR
}
