package golf

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v84"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// maxKeyBytes is the longest idempotency key.
const maxKeyBytes = 255

// Charge implements utility.PaymentClient. The payment method is "pm_1", or "cus_1/pm_1" if it is saved with a
// customer, because the provider then requires the customer. Payment methods that redirect the member to another
// page are not used.
//
// Besides the errors of utility.PaymentClient: FailedPrecondition if the provider refuses the API key,
// ResourceExhausted if it limits the rate, and Unavailable if a charge with the same IdempotencyKey is in
// progress.
func (c *Client) Charge(ctx context.Context, charge utility.Charge) (*utility.Payment, error) {
	switch {
	case charge.Amount <= 0:
		return nil, boterr.Invalid("amount", "must be positive, in the smallest unit of the currency, got %d", charge.Amount)
	case len(charge.Currency) != len("eur"):
		return nil, boterr.Invalid("currency", "must be an ISO 4217 code in small letters such as eur, got %.10q", charge.Currency)
	case charge.PaymentMethod == "":
		return nil, boterr.Missing("paymentMethod", "the id of the member's payment method")
	}
	if err := checkKey(charge.IdempotencyKey); err != nil {
		return nil, err
	}
	params := c.chargeParams(charge)
	intent, err := try(ctx, c, func(ctx context.Context) (*stripe.PaymentIntent, error) {
		return c.api.V1PaymentIntents.Create(ctx, params)
	})
	if err != nil {
		return nil, chargeError(ctx, err)
	}
	return paymentOf(intent), nil
}

func (c *Client) chargeParams(charge utility.Charge) *stripe.PaymentIntentCreateParams {
	params := &stripe.PaymentIntentCreateParams{
		Params:   stripe.Params{IdempotencyKey: keyOf(charge.IdempotencyKey)},
		Amount:   &charge.Amount,
		Currency: &charge.Currency,
		AutomaticPaymentMethods: &stripe.PaymentIntentCreateAutomaticPaymentMethodsParams{
			Enabled: new(true), AllowRedirects: new("never"),
		},
		Confirm:       new(true),
		Description:   textOrNil(charge.Description),
		Metadata:      maps.Clone(charge.Metadata),
		PaymentMethod: &charge.PaymentMethod,
	}
	if customer, method, isSaved := strings.Cut(charge.PaymentMethod, "/"); isSaved {
		params.Customer, params.PaymentMethod = &customer, &method
	}
	if !c.config.OnSession {
		params.OffSession = new(true)
	}
	params.AddExpand("latest_charge")
	return params
}

// Refund implements utility.PaymentClient. An IdempotencyKey that was used for a charge is a Conflict, as if it
// had been used for another refund. The other errors are the same as for Charge.
func (c *Client) Refund(ctx context.Context, refund utility.Refund) (*utility.Payment, error) {
	if refund.Amount < 0 {
		return nil, boterr.Invalid("amount", "must not be negative, got %d", refund.Amount)
	}
	if err := checkKey(refund.IdempotencyKey); err != nil {
		return nil, err
	}
	if refund.PaymentID == "" {
		return nil, noPayment("")
	}
	params := &stripe.RefundCreateParams{
		Params:        stripe.Params{IdempotencyKey: keyOf(refund.IdempotencyKey)},
		PaymentIntent: &refund.PaymentID,
	}
	if refund.Amount > 0 {
		params.Amount = &refund.Amount
	}
	params.AddExpand("payment_intent.latest_charge")
	made, err := try(ctx, c, func(ctx context.Context) (*stripe.Refund, error) { return c.api.V1Refunds.Create(ctx, params) })
	switch {
	case err != nil:
		return nil, refundError(ctx, refund.PaymentID, err)
	case made.Status == stripe.RefundStatusFailed, made.Status == stripe.RefundStatusCanceled:
		return nil, boterr.New(boterr.FailedPrecondition, "paymentId",
			"the refund %s failed: %s; return the money another way", made.ID, made.FailureReason)
	case made.PaymentIntent == nil:
		return c.Payment(ctx, refund.PaymentID)
	}
	return paymentOf(made.PaymentIntent), nil
}

// Payment implements utility.PaymentClient and returns the current state of a payment.
func (c *Client) Payment(ctx context.Context, id string) (*utility.Payment, error) {
	if id == "" {
		return nil, noPayment("")
	}
	params := &stripe.PaymentIntentRetrieveParams{}
	params.AddExpand("latest_charge")
	intent, err := try(ctx, c, func(ctx context.Context) (*stripe.PaymentIntent, error) {
		return c.api.V1PaymentIntents.Retrieve(ctx, id, params)
	})
	if err != nil {
		return nil, paymentError(ctx, id, err)
	}
	return paymentOf(intent), nil
}

// paymentOf converts a payment of the provider to a utility.Payment.
func paymentOf(intent *stripe.PaymentIntent) *utility.Payment {
	payment := &utility.Payment{
		ID:          intent.ID,
		Amount:      intent.Amount,
		Currency:    string(intent.Currency),
		Status:      statusOf(intent),
		Description: intent.Description,
		Metadata:    metadataOf(intent.Metadata),
		CreatedAt:   milliseconds(intent.Created),
	}
	if intent.LatestCharge != nil {
		payment.Refunded = intent.LatestCharge.AmountRefunded
	}
	return payment
}

// statusOf returns the status of a payment. After a failed attempt the provider waits for another payment method,
// but for bot logic the payment has failed: it makes a new charge with the other method.
func statusOf(intent *stripe.PaymentIntent) utility.PaymentStatus {
	switch intent.Status {
	case stripe.PaymentIntentStatusSucceeded:
		return utility.PaymentSucceeded
	case stripe.PaymentIntentStatusProcessing:
		return utility.PaymentPending
	case stripe.PaymentIntentStatusCanceled:
		return utility.PaymentFailed
	case stripe.PaymentIntentStatusRequiresPaymentMethod:
		if intent.LastPaymentError != nil {
			return utility.PaymentFailed
		}
	default:
	}
	return utility.PaymentStatus(intent.Status)
}

// metadataOf returns nil for empty metadata, so that JSON omits the field.
func metadataOf(metadata map[string]string) map[string]string {
	if len(metadata) == 0 {
		return nil
	}
	return metadata
}

// milliseconds converts a time of the provider from seconds.
func milliseconds(seconds int64) document.Timestamp { return document.Timestamp(seconds * 1000) }

// textOrNil returns nil for "". The provider would clear the field for an empty text.
func textOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// keyOf returns the key, or a new one if it is "". With a key, a request can be repeated safely.
func keyOf(key string) *string { return new(cmp.Or(key, stripe.NewIdempotencyKey())) }

// checkKey returns InvalidArgument for a key that cannot be sent unchanged in a header.
func checkKey(key string) error {
	isOdd := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(key) > maxKeyBytes || strings.ContainsFunc(key, isOdd) {
		return boterr.Invalid("idempotencyKey", "must be at most %d visible ASCII characters without spaces", maxKeyBytes)
	}
	return nil
}

const (
	// maxWait is the longest wait that the client accepts from the provider. If the provider asks for more, the
	// caller gets the error and the wait at once.
	maxWait = 5 * time.Second
	// firstWait is the longest random wait before the second request. It is doubled before later ones.
	firstWait = 500 * time.Millisecond
)

// waitKey is the context key of a *time.Duration, for the wait that the last answer asked for.
type waitKey struct{}

// listener is a transport that stores the wait that an answer asks for, because the library does not return it.
type listener struct {
	next http.RoundTripper
	now  func() time.Time
}

func (l *listener) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := l.next.RoundTrip(request)
	if into, isNoted := request.Context().Value(waitKey{}).(*time.Duration); isNoted && err == nil {
		*into, _ = outbound.RetryAfter(answer.Header, l.now())
	}
	return answer, err
}

// CloseIdleConnections closes the idle connections of the inner transport.
func (l *listener) CloseIdleConnections() {
	if idle, ok := l.next.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// try makes a request. If it fails for a cause that may pass, try repeats it up to Config.MaxRetries times. The
// error is the library's, or the error of ctx. If the provider asked for a wait, a *send.RetryAfterError is
// joined to it.
func try[Made any](ctx context.Context, c *Client, request func(ctx context.Context) (Made, error)) (Made, error) {
	for attempt := 0; ; attempt++ {
		var after time.Duration
		made, err := request(context.WithValue(ctx, waitKey{}, &after))
		if err == nil {
			return made, nil
		}
		if after > 0 {
			err = errors.Join(err, &send.RetryAfterError{After: after})
		}
		if attempt == c.retries() || after > maxWait || !mayPass(err) || !pause(ctx, after+backoff(attempt)) {
			return made, err
		}
	}
}

func (c *Client) retries() int {
	if c.config.MaxRetries != nil {
		return *c.config.MaxRetries
	}
	return int(stripe.DefaultMaxNetworkRetries)
}

// mayPass reports whether a failed request may succeed if it is repeated: the provider did not answer, or
// another request held a lock.
func mayPass(err error) bool {
	if _, isRedirect := errors.AsType[*bounded.RedirectError](err); isRedirect {
		return false
	}
	failed, isAnswer := errors.AsType[*stripe.Error](err)
	return !isAnswer || failed.Code == stripe.ErrorCodeLockTimeout
}

// backoff returns a random wait before the attempt after this one.
func backoff(attempt int) time.Duration {
	return rand.N(firstWait << min(attempt, 1)) //nolint:gosec // It only spreads the load.
}

// pause waits within the time limit of the call, so that the runtime's MaxSend limits all requests together. It returns
// false if ctx ends first.
func pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
