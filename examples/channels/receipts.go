package main

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
)

// receiptURL is where the shop's site has the receipt of a payment.
func receiptURL(payment string) string { return site + "/receipts/" + payment + ".txt" }

// keepReceipt copies the receipt into the object store.
func keepReceipt(ctx context.Context, bot *botctx.Context) error {
	has, _ := orderOf(bot)
	_, err := bot.UploadFileToObjectStore(ctx, botctx.UploadFileToObjectStoreParams{
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
	_, err := bot.SendEmail(ctx, botctx.SendEmailParams{
		Destination: botctx.EmailDestination{ToAddresses: []string{bot.Member.Email}},
		Message: botctx.EmailMessage{
			Subject: botctx.EmailText{Data: "Your receipt: " + has.Bouquet},
			Body: botctx.EmailBody{Text: &botctx.EmailText{
				Data: "You have paid " + has.Price + ". The receipt: " + receiptURL(has.Payment),
			}},
		},
	})
	return err
}
