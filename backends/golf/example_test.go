package golf_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/botctx/go-sdk/backends/golf"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/utility"
)

// Charge a member, repeat the call by mistake, and refund a part.
func Example() {
	ctx := context.Background()
	test := startProvider() // In production Config.URL is left out.
	defer test.Close()
	shop, err := golf.New(golf.Config{Account: "shop", Key: channel.NewSecret(apiKey), URL: test.URL})
	if err != nil {
		panic(err)
	}

	order := utility.Charge{Amount: 1250, Currency: "eur", PaymentMethod: "pm_visa", IdempotencyKey: "order-7"}
	first, err := shop.Charge(ctx, order)
	if err != nil {
		panic(err)
	}
	again, err := shop.Charge(ctx, order)
	if err != nil {
		panic(err)
	}
	fmt.Println(first.Status, first.ID == again.ID)

	payment, err := shop.Refund(ctx, utility.Refund{PaymentID: first.ID, Amount: 250, IdempotencyKey: "return-7"})
	if err != nil {
		panic(err)
	}
	fmt.Println(payment.Amount, payment.Refunded)
	// Output:
	// succeeded true
	// 1250 250
}

// Find out why a payment was declined.
func ExampleClient_Charge() {
	test := startProvider()
	defer test.Close()
	shop, err := golf.New(golf.Config{Account: "shop", Key: channel.NewSecret(apiKey), URL: test.URL})
	if err != nil {
		panic(err)
	}

	_, err = shop.Charge(context.Background(), utility.Charge{Amount: 1250, Currency: "eur", PaymentMethod: "pm_declined"})
	fmt.Println(errors.Is(err, boterr.FailedPrecondition))
	if declined, ok := errors.AsType[*utility.DeclinedError](err); ok {
		fmt.Println(declined.Code)
	}
	// Output:
	// true
	// insufficient_funds
}
