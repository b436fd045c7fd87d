package golf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v84"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Config configures a Client.
type Config struct {
	// Account is the name by which bot logic asks for the account, such as "shop". Required.
	Account string
	// Key is the account's secret API key. Required.
	Key channel.Secret
	// WebhookSecrets are the secrets of the endpoint that receives the provider's events; there are several
	// while one replaces another. Required for Handler.
	WebhookSecrets []channel.Secret
	// OnSession is true if members can confirm a payment on a screen. A charge that must be confirmed then
	// returns with the status "requires_action"; otherwise it is declined with "authentication_required".
	OnSession bool
	// URL is the address of the provider's API. The default is the provider's own; a test gives its server's.
	URL string
	// HTTP sends the requests. The default has its own connections. With any client, a request takes at most
	// its Timeout, or 80 seconds if it has none; an answer has at most 4 MiB; and redirects are not followed.
	HTTP *http.Client
	// MaxRetries limits the repetitions of a request without an answer, which have an idempotency key even if
	// the caller gave none. nil means 2. The waits in between are up to a second each, plus the wait that the
	// provider asks for. If that is more than 5 seconds, the request is not repeated, and the error has the
	// wait for the caller, see boterr.RetryAfter.
	MaxRetries *int
	// Now is the clock of webhooks. The default is time.Now.
	Now func() time.Time
	// Tolerance is the allowed difference between the time of a webhook and the clock, in both directions.
	// The default is 5 minutes.
	Tolerance time.Duration
	// BodyTime is the time limit for the body of a webhook. The default is 10 seconds.
	BodyTime time.Duration
	// Drops counts the events without a payment, which Handler does not pass on: their platform is "golf".
	// The default belongs to the Client, and logs to slog.Default.
	Drops *send.Drops
}

// The limits of one request.
const (
	requestTime    = 80 * time.Second
	maxAnswerBytes = 4 << 20
)

// Client is a payment account at the provider. It is safe for concurrent use.
type Client struct {
	config Config
	// api is used by try, which repeats requests; given is for the host, and repeats them itself.
	api, given *stripe.Client
}

var _ utility.PaymentClient = (*Client)(nil)

// New returns a Client. It makes no request. InvalidArgument: the account's name or the key is missing, or a
// number is negative.
func New(config Config) (*Client, error) {
	switch {
	case config.Account == "":
		return nil, boterr.Missing("Account", "the name by which bot logic asks for the account")
	case config.Key.Reveal() == "":
		return nil, boterr.Missing("Key", "the secret API key of the account")
	case config.Tolerance < 0:
		return nil, boterr.Invalid("Tolerance", "must not be negative; 0 means the default")
	case config.BodyTime < 0:
		return nil, boterr.Invalid("BodyTime", "must not be negative; 0 means the default")
	case config.MaxRetries != nil && *config.MaxRetries < 0:
		return nil, boterr.Invalid("MaxRetries", "must not be negative; new(0) means none")
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Tolerance == 0 {
		config.Tolerance = 5 * time.Minute
	}
	if config.BodyTime == 0 {
		config.BodyTime = inbound.DefaultTime
	}
	if config.Drops == nil {
		config.Drops = &send.Drops{}
	}
	c := &Client{config: config}
	c.api, c.given = provider(config, 0), provider(config, c.retries())
	return c, nil
}

// provider returns the client of the provider's library. Settings that the library would share within the
// process, its key, HTTP client and log, are set here.
func provider(config Config, retries int) *stripe.Client {
	backend := &stripe.BackendConfig{
		EnableTelemetry:   new(false),
		HTTPClient:        config.HTTP,
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
		MaxNetworkRetries: new(int64(retries)),
	}
	if backend.HTTPClient == nil {
		backend.HTTPClient = &http.Client{Transport: outbound.HostTransport()}
	}
	backend.HTTPClient = bounded.Client(backend.HTTPClient, bounded.Limits{Time: requestTime, MaxBytes: maxAnswerBytes})
	backend.HTTPClient.Transport = &listener{next: backend.HTTPClient.Transport, now: config.Now}
	if config.URL != "" {
		backend.URL = &config.URL
	}
	return stripe.NewClient(config.Key.Reveal(), stripe.WithBackends(stripe.NewBackendsWithConfig(backend)))
}

// Provider returns the client of the provider's library, for features that a PaymentClient does not have. Its
// errors are the library's, and so are its waits: up to a second, whatever the provider asks for and whether
// or not ctx has ended.
func (c *Client) Provider() *stripe.Client { return c.given }

// Accounts returns a botctx.Config.Payments that gives every app the same accounts, by the names in their
// Config. A host whose apps have separate accounts passes its own function instead.
func Accounts(clients ...*Client) func(app, name string) (utility.PaymentClient, error) {
	byName := make(map[string]*Client, len(clients))
	for _, client := range clients {
		byName[client.config.Account] = client
	}
	return func(_, name string) (utility.PaymentClient, error) {
		if client, ok := byName[name]; ok {
			return client, nil
		}
		return nil, boterr.New(boterr.NotFound, "golfName", "there is no payment account %q; register it with golf.Accounts", name)
	}
}

// fields are the provider's parameters by the names of botctx.
var fields = map[string]string{
	"amount":         "amount",
	"currency":       "currency",
	"customer":       "paymentMethod",
	"payment_method": "paymentMethod",
	"description":    "description",
	"metadata":       "metadata",
	"payment_intent": "paymentId",
}

// chargeError gives an error of a charge its code.
func chargeError(ctx context.Context, err error) error {
	failed, err := refused(ctx, err)
	if err != nil {
		return err
	}
	if failed.Type == stripe.ErrorTypeCard {
		declined := &utility.DeclinedError{Code: cmp.Or(string(failed.DeclineCode), string(failed.Code))}
		if failed.PaymentIntent != nil {
			declined.PaymentID = failed.PaymentIntent.ID
		}
		return boterr.New(boterr.FailedPrecondition, "paymentMethod", "%w", declined)
	}
	return boterr.Invalid(fieldOf(failed), "the provider refused the charge: %s", reason(failed))
}

// refundError gives a refund's error its code. If a well-formed refund is refused, the payment does not allow
// it.
func refundError(ctx context.Context, id string, err error) error {
	failed, err := refused(ctx, err)
	switch {
	case err != nil:
		return err
	case failed.Code == stripe.ErrorCodeResourceMissing:
		return noPayment(id)
	default:
		return boterr.New(boterr.FailedPrecondition, cmp.Or(fieldOf(failed), "paymentId"), "the provider refused the refund: %s", reason(failed))
	}
}

// paymentError gives an error of reading a payment its code.
func paymentError(ctx context.Context, id string, err error) error {
	failed, err := refused(ctx, err)
	switch {
	case err != nil:
		return err
	case failed.Code == stripe.ErrorCodeResourceMissing:
		return noPayment(id)
	default:
		return boterr.Invalid("id", "the provider refused to show the payment: %s", reason(failed))
	}
}

// noPayment is the error for an id without a payment.
func noPayment(id string) error {
	return boterr.New(boterr.NotFound, "paymentId", "there is no payment %.100q in this account", id)
}

// refused returns the provider's refusal of a request, or an error that means the same for every request.
// Errors of the provider are not wrapped: their text is the whole answer, including secrets of the payment.
func refused(ctx context.Context, err error) (*stripe.Error, error) {
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	if _, isRedirect := errors.AsType[*bounded.RedirectError](err); isRedirect {
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"the address of the payment provider redirects, and the redirect was not followed: check golf.Config.URL")
	}
	failed, ok := errors.AsType[*stripe.Error](err)
	if !ok {
		// Not %w: a time-out of the client itself would be mistaken for the caller's.
		return nil, comeAgain(err, fmt.Errorf("the payment provider did not answer: %v", err)) //nolint:errorlint // See above.
	}
	switch status := failed.HTTPStatusCode; {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"the provider refuses the API key of the account (status %d): check golf.Config.Key and its permissions", status)
	case failed.Code == stripe.ErrorCodeIdempotencyKeyInUse:
		return nil, boterr.New(boterr.Unavailable, "idempotencyKey", "a request with this key is in progress; try again later with the same key")
	case failed.Type == stripe.ErrorTypeIdempotency:
		return nil, boterr.New(boterr.Conflict, "idempotencyKey", "the key was used for another request; give each payment a different key")
	case status == http.StatusTooManyRequests:
		return nil, comeAgain(err,
			boterr.New(boterr.ResourceExhausted, "", "the provider is limiting the rate of requests; try again later"))
	case failed.Type == stripe.ErrorTypeCard, failed.Type == stripe.ErrorTypeInvalidRequest:
		return failed, nil
	default:
		return nil, comeAgain(err, fmt.Errorf("the payment provider failed with status %d (request %s)", status, failed.RequestID))
	}
}

// comeAgain adds the wait that the provider asked for, if any, to an error.
func comeAgain(from, failure error) error {
	if after := boterr.RetryAfter(from); after > 0 {
		return fmt.Errorf("%w: %w", failure, &send.RetryAfterError{After: after})
	}
	return failure
}

// fieldOf returns the invalid parameter by its name in botctx, or "" if botctx does not have it.
func fieldOf(failed *stripe.Error) string {
	name, _, _ := strings.Cut(failed.Param, "[")
	return fields[name]
}

// reason returns the provider's message, and its id of the request.
func reason(failed *stripe.Error) string {
	return fmt.Sprintf("%s (%s, request %s)", failed.Msg, cmp.Or(string(failed.Code), string(failed.Type)), failed.RequestID)
}
