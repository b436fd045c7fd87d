package main

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/utility"
)

// receiptURL is where the shop's site has the receipt of a payment.
func receiptURL(payment string) string { return site + "/receipts/" + payment + ".txt" }

// keepReceipt copies the receipt into the object store.
func keepReceipt(ctx context.Context, bot *botctx.Context) error {
	has, _ := orderOf(bot)
	_, err := bot.UploadFileToObjectStore(ctx, utility.UploadFileToObjectStoreParams{
		URL: receiptURL(has.Payment), Filename: "receipts/" + has.Payment + ".txt", ContentType: "text/plain",
	})
	return err
}

// mailReceipt mails the receipt to customers whose address is known.
func mailReceipt(ctx context.Context, bot *botctx.Context) error {
	if bot.Member.Email == "" {
		return nil
	}
	has, _ := orderOf(bot)
	_, err := bot.SendEmail(ctx, utility.SendEmailParams{
		Destination: utility.EmailDestination{ToAddresses: []string{bot.Member.Email}},
		Message: utility.EmailMessage{
			Subject: utility.EmailText{Data: "Your receipt: " + has.Bouquet},
			Body: utility.EmailBody{Text: &utility.EmailText{
				Data: "You have paid " + has.Price + ". The receipt: " + receiptURL(has.Payment),
			}},
		},
	})
	return err
}
