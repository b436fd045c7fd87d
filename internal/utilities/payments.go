package utilities

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/utility"
)

// keyedPayments is a payment client that adds an IdempotencyKey to requests without one. A retried run
// gets the same keys, so it does not pay twice. Requests with a key go to the provider unchanged, and
// the provider recognizes repeats.
type keyedPayments struct {
	utility.PaymentClient

	account string
	env     record.Env
}

// paid is a completed request: the requested amount and currency, and the resulting payment.
type paid struct {
	Amount   int64
	Currency string
	Payment  utility.Payment
}

// Charge implements utility.PaymentClient. The generated key identifies a charge within a run by
// account and payment method.
func (k keyedPayments) Charge(ctx context.Context, charge utility.Charge) (*utility.Payment, error) {
	if charge.IdempotencyKey != "" {
		return k.PaymentClient.Charge(ctx, charge)
	}
	charge.IdempotencyKey = k.env.SendID(ctx, fmt.Sprintf("charge %q %q", k.account, charge.PaymentMethod))
	asked := paid{Amount: charge.Amount, Currency: charge.Currency}
	return k.once(ctx, charge.IdempotencyKey, asked, func(ctx context.Context) (*utility.Payment, error) {
		return k.PaymentClient.Charge(ctx, charge)
	})
}

// Refund implements utility.PaymentClient. The generated key identifies a refund within a run by
// account and payment.
func (k keyedPayments) Refund(ctx context.Context, refund utility.Refund) (*utility.Payment, error) {
	if refund.IdempotencyKey != "" {
		return k.PaymentClient.Refund(ctx, refund)
	}
	refund.IdempotencyKey = k.env.SendID(ctx, fmt.Sprintf("refund %q %q", k.account, refund.PaymentID))
	return k.once(ctx, refund.IdempotencyKey, paid{Amount: refund.Amount}, func(ctx context.Context) (*utility.Payment, error) {
		return k.PaymentClient.Refund(ctx, refund)
	})
}

// once makes a request unless an earlier attempt of the run completed the request with the same key;
// then it returns the earlier result. Like a provider, it returns Conflict if the earlier request
// had another amount or currency.
func (k keyedPayments) once(
	ctx context.Context, key string, asked paid, request func(ctx context.Context) (*utility.Payment, error),
) (*utility.Payment, error) {
	done, err := record.Once(ctx, k.env, key, func(ctx context.Context) (paid, error) {
		payment, err := request(ctx)
		if err == nil && payment == nil {
			err = boterr.New(boterr.Internal, "", "the client of the account %s returned neither a payment nor an error", k.account)
		}
		if err != nil {
			return paid{}, err
		}
		answered := asked
		answered.Payment = *payment
		return answered, nil
	})
	if err != nil {
		return nil, err
	}
	if done.Amount != asked.Amount || done.Currency != asked.Currency {
		return nil, boterr.New(boterr.Conflict, "amount", "differs from %d %s in an earlier attempt of this run; "+
			"give requests with different amounts different IdempotencyKeys", done.Amount, done.Currency)
	}
	return &done.Payment, nil
}
