package utility

import (
	"context"

	"github.com/botctx/go-sdk/document"
)

// GolfParams are the parameters of Golf.
type GolfParams struct {
	// GolfName is the name under which the host registered the account. Required.
	GolfName string `json:"golfName,omitzero"`
}

// GolfResult is the result of Golf. Its JSON is null.
type GolfResult struct {
	// Client is the client of the account. It adds an IdempotencyKey to charges and refunds that
	// have none. It is nil if the result came as JSON, as through botctx.FromCaller, because a
	// client has no JSON form; that is not an error.
	Client PaymentClient `json:"-"`
	// Provider is the host's own client, which Client wraps. Its calls are limited by the time of
	// the run, not by botctx.Config.MaxSend.
	Provider PaymentClient `json:"-"`
}

// MarshalJSON returns null.
func (GolfResult) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// PaymentClient is a payment account at any provider. For features that only one provider has, use
// the provider's own client:
//
//	account, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
//	provider := account.Provider.(*golf.Client).Provider()
//
// It must be safe for concurrent use. Errors that a caller can act on have a code of boterr. An
// error without a code means that the provider did not answer, so the charge may or may not have
// happened; repeat the call with the same IdempotencyKey to find out.
type PaymentClient interface {
	// Charge takes money from the member. If IdempotencyKey was used before, it returns the result
	// of that call.
	//
	// Errors: InvalidArgument if the amount is not positive or the provider does not know the
	// currency or payment method; FailedPrecondition, wrapping *DeclinedError, if the payment is
	// declined; Conflict if the IdempotencyKey was used for another charge.
	Charge(ctx context.Context, charge Charge) (*Payment, error)
	// Refund pays money back to the member and returns the updated payment.
	//
	// Errors: InvalidArgument if the amount is negative; NotFound if there is no such payment;
	// FailedPrecondition if the rest of the payment is less than the amount or the payment never
	// succeeded; Conflict if the IdempotencyKey was used for another refund.
	Refund(ctx context.Context, refund Refund) (*Payment, error)
	// Payment returns the current state of a payment, or NotFound.
	Payment(ctx context.Context, id string) (*Payment, error)
}

// Charge is a request to take money.
type Charge struct {
	// Amount is in the smallest unit of the currency, such as cents. It must be positive.
	Amount int64
	// Currency is an ISO 4217 code in lower case, such as "eur".
	Currency string
	// PaymentMethod is the provider's id or token of the member's payment method.
	PaymentMethod string
	// Description describes the charge.
	Description string
	// Metadata is stored with the payment.
	Metadata map[string]string
	// IdempotencyKey makes repeated calls charge once. With "" each call charges, except that the
	// client returned by Golf charges once for the same call in a retried run.
	IdempotencyKey string
}

// Refund is a request to return money.
type Refund struct {
	// PaymentID is the id of the payment.
	PaymentID string
	// Amount is in the smallest unit of the currency. 0 means the rest of the payment.
	Amount int64
	// IdempotencyKey makes repeated calls refund once. With "" each call refunds, except that the
	// client returned by Golf refunds once for the same call in a retried run.
	IdempotencyKey string
}

// PaymentStatus is the state of a payment.
type PaymentStatus string

// The states of payments. Providers may have others, for example one in which the member must
// confirm the payment.
const (
	PaymentPending   PaymentStatus = "pending"
	PaymentSucceeded PaymentStatus = "succeeded"
	PaymentFailed    PaymentStatus = "failed"
)

// Payment is a charge as stored by the provider.
type Payment struct {
	// ID is the provider's id.
	ID string `json:"id"`
	// Amount and Currency are the charged amount.
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	// Refunded is the part of Amount that was refunded.
	Refunded int64 `json:"refunded"`
	// Status is the payment's state.
	Status PaymentStatus `json:"status"`
	// Description and Metadata come from the Charge.
	Description string            `json:"description,omitzero"`
	Metadata    map[string]string `json:"metadata,omitzero"`
	// CreatedAt is the time of creation.
	CreatedAt document.Timestamp `json:"createdAt"`
}

// DeclinedError is wrapped in the FailedPrecondition of a declined payment.
type DeclinedError struct {
	// Code is the provider's reason, such as "insufficient_funds".
	Code string
	// PaymentID is the id of the failed payment, or "" if none was created.
	PaymentID string
}

// Error returns the reason and a remedy.
func (d *DeclinedError) Error() string {
	return "the payment was declined: " + d.Code + "; ask the member for another way to pay"
}

// The types of PaymentEvent. Providers may have others.
const (
	EventPaymentSucceeded = "payment.succeeded"
	EventPaymentFailed    = "payment.failed"
	EventPaymentRefunded  = "payment.refunded"
)

// PaymentEvent is an event reported by a provider. It may be reported more than once; repeats have
// the same ID.
type PaymentEvent struct {
	// ID is the provider's id of the event.
	ID string `json:"id"`
	// Type is the kind of event, such as EventPaymentSucceeded.
	Type string `json:"type"`
	// Account is the name under which the host registered the account.
	Account string `json:"account"`
	// Payment is the payment at the time of the event.
	Payment Payment `json:"payment"`
}
