// Package golf connects the operation golf to a payment account at the provider whose library is
// github.com/stripe/stripe-go.
//
//   - To connect an account, use [New], and make [Accounts] the Payments of botctx.Config.
//   - To charge in bot logic, call Golf of botctx.Context, and [Client.Charge] of the returned client.
//   - To receive the later results of payments, serve [Client.Handler].
//
// In a host:
//
//	shop, err := golf.New(golf.Config{
//		Account:        "shop",
//		Key:            channel.NewSecret(os.Getenv("GOLF_KEY")),
//		WebhookSecrets: []channel.Secret{channel.NewSecret(os.Getenv("GOLF_WEBHOOK_SECRET"))},
//	})
//	rt, err := botctx.New(botctx.Config{
//		Store:    store,
//		Payments: golf.Accounts(shop),
//	})
//	http.Handle("POST /payments/shop", shop.Handler(func(ctx context.Context, event utility.PaymentEvent) error {
//		return orders.Settle(ctx, event.ID, event.Payment)
//	}))
//
// Bot logic charges with it:
//
//	account, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
//	payment, err := account.Client.Charge(ctx, utility.Charge{
//		Amount: 1250, Currency: "eur", PaymentMethod: "cus_1/pm_1", IdempotencyKey: order.ID,
//	})
//
// A charge is a PaymentIntent that is confirmed at once. Give each charge an IdempotencyKey, such as the id of
// the order. A call that ends without an answer may have charged; a repeated call with the same key does not
// charge again. The provider keeps keys for at least a day.
package golf
