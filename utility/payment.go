package utility

import (
	"context"

	"github.com/botctx/go-sdk/document"
)

// GolfParams are the parameters of Golf.
type GolfParams struct {
	// GolfName is the account, by the name that the host registered it under. Required.
	GolfName string `json:"golfName,omitzero"`
}

// GolfResult is the result of Golf. Its JSON is null.
type GolfResult struct {
	// Client is the client of the account, which gives what is charged and refunded without an
	// IdempotencyKey one. It is nil where the result came as JSON, as through botctx.FromCaller, which is no
	// error: a client does not go through a wire.
	Client PaymentClient `json:"-"`
	// Provider is the host's own client, which is behind Client. Its calls have the time of the run, not
	// botctx.Config.MaxSend.
	Provider PaymentClient `json:"-"`
}

// MarshalJSON returns null.
func (GolfResult) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// PaymentClient is a payment account: what bot logic does with one, whichever provider the
// host has. A provider's own client, for what it can do beyond, is behind it:
//
//	account, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
//	provider := account.Provider.(*golf.Client).Provider()
//
// It is used from many goroutines at once. Errors that a caller can act on have a code of
// boterr; one without a code means that the provider did not answer, and whether it has
// charged is not known: the same call with the same IdempotencyKey tells.
type PaymentClient interface {
	// Charge takes money by a payment method. With an IdempotencyKey that was used before,
	// it returns what came of that call.
	//
	// InvalidArgument: the amount is not positive, or the provider knows no such currency or
	// payment method. FailedPrecondition: the payment is declined; *DeclinedError behind it
	// says why. Conflict: the IdempotencyKey was used for another charge.
	Charge(ctx context.Context, charge Charge) (*Payment, error)
	// Refund gives money back. The payment comes back as it is then.
	//
	// InvalidArgument: the amount is negative. NotFound: there is no such payment.
	// FailedPrecondition: less than the amount is left of it, or it never succeeded.
	// Conflict: the IdempotencyKey was used for another refund.
	Refund(ctx context.Context, refund Refund) (*Payment, error)
	// Payment returns a payment as it is now. NotFound: there is none of that id.
	Payment(ctx context.Context, id string) (*Payment, error)
}

// Charge is money to be taken.
type Charge struct {
	// Amount is in the smallest unit of the currency, such as cents. It is positive.
	Amount int64
	// Currency is an ISO 4217 code in small letters, such as "eur".
	Currency string
	// PaymentMethod is how the member pays: the provider's id or token of it.
	PaymentMethod string
	// Description says what it is for.
	Description string
	// Metadata are kept with the payment.
	Metadata map[string]string
	// IdempotencyKey makes a repetition of the call charge once. "" lets each call charge; in a run
	// that is tried again, the client that Golf gives lets the same call charge once.
	IdempotencyKey string
}

// Refund is money to be given back.
type Refund struct {
	// PaymentID is the payment.
	PaymentID string
	// Amount is how much of it, in the smallest unit of its currency; 0 means what is left.
	Amount int64
	// IdempotencyKey makes a repetition of the call refund once. "" lets each call refund; in a run
	// that is tried again, the client that Golf gives lets the same call refund once.
	IdempotencyKey string
}

// PaymentStatus is how far a payment has come.
type PaymentStatus string

// The states of payments. Any other text is a state of the provider's own, such as one in
// which the member has something to confirm.
const (
	PaymentPending   PaymentStatus = "pending"
	PaymentSucceeded PaymentStatus = "succeeded"
	PaymentFailed    PaymentStatus = "failed"
)

// Payment is a charge as the provider knows it.
type Payment struct {
	// ID is the provider's id.
	ID string `json:"id"`
	// Amount and Currency are what was charged.
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	// Refunded is how much of Amount was given back.
	Refunded int64 `json:"refunded"`
	// Status is how far it has come.
	Status PaymentStatus `json:"status"`
	// Description and Metadata are those of the Charge.
	Description string            `json:"description,omitzero"`
	Metadata    map[string]string `json:"metadata,omitzero"`
	// CreatedAt is when it was made.
	CreatedAt document.Timestamp `json:"createdAt"`
}

// DeclinedError is the error behind FailedPrecondition where a payment is declined.
type DeclinedError struct {
	// Code is why, in the provider's words, such as "insufficient_funds".
	Code string
	// PaymentID is the payment that failed, "" where none was made.
	PaymentID string
}

// Error says why the payment was declined.
func (d *DeclinedError) Error() string {
	return "the payment was declined: " + d.Code + "; ask the member for another way to pay"
}

// The types of PaymentEvent. Any other text is one of the provider's own.
const (
	EventPaymentSucceeded = "payment.succeeded"
	EventPaymentFailed    = "payment.failed"
	EventPaymentRefunded  = "payment.refunded"
)

// PaymentEvent is what a provider reports by itself, perhaps more than once: ID tells a
// repetition.
type PaymentEvent struct {
	// ID is the provider's id of the event.
	ID string `json:"id"`
	// Type is what happened, such as EventPaymentSucceeded.
	Type string `json:"type"`
	// Account is the name under which the host registered the account.
	Account string `json:"account"`
	// Payment is the payment as it was then.
	Payment Payment `json:"payment"`
}
