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
	// WebhookSecrets are the secrets of the webhook endpoint. Give several while you replace a secret. Handler
	// requires at least one.
	WebhookSecrets []channel.Secret
	// OnSession is true if members can confirm a payment on a screen. A charge that needs a confirmation then
	// returns with the status "requires_action". Otherwise it is declined with "authentication_required".
	OnSession bool
	// URL is the address of the provider's API. The default is the provider's address.
	URL string
	// HTTP sends the requests. The default client has its own connections. With any client, a request is limited
	// to 80 seconds, redirects are not followed, and at most 4 MiB of an answer are read.
	HTTP *http.Client
	// MaxRetries limits how many times a request without an answer is repeated. nil means 2. Every request has
	// an idempotency key, even if the caller gave none. Each wait is up to a second, plus the time that the
	// provider asks for. If the provider asks for more than 5 seconds, the request is not repeated, and
	// boterr.RetryAfter of the error is the wait.
	MaxRetries *int
	// Now is the clock by which old webhooks are refused. The default is time.Now.
	Now func() time.Time
	// Tolerance is the largest allowed difference between the time of a webhook and the clock, in both
	// directions. The default is 5 minutes.
	Tolerance time.Duration
	// BodyTime limits the time to read the body of a webhook. The default is 10 seconds.
	BodyTime time.Duration
	// OnError is called for events that could not be accepted, including signed events that cannot be read. The
	// fields of event that could not be read are empty. The default does nothing.
	OnError func(ctx context.Context, event utility.PaymentEvent, err error)
	// Drops counts the events without a payment, which Handler does not pass on. Their platform is "golf". The
	// default is a new one that logs to slog.Default.
	Drops *send.Drops
}

const (
	requestTime    = 80 * time.Second
	maxAnswerBytes = 4 << 20
)

// Client is a payment account at the provider. It is safe for concurrent use.
type Client struct {
	config Config
	// try uses api and repeats its requests. given is for the host and repeats requests itself.
	api, given *stripe.Client
}

var _ utility.PaymentClient = (*Client)(nil)

// New returns a Client without making a request. InvalidArgument: the account's name, the key or one of
// WebhookSecrets is missing, or a number is negative.
func New(config Config) (*Client, error) {
	switch {
	case config.Account == "":
		return nil, boterr.Missing("Account", "the name by which bot logic asks for the account")
	case config.Key.Reveal() == "":
		return nil, boterr.Missing("Key", "the secret API key of the account")
	case config.MaxRetries != nil && *config.MaxRetries < 0:
		return nil, boterr.Invalid("MaxRetries", "must not be negative; new(0) means no retries")
	}
	for i, secret := range config.WebhookSecrets {
		if secret.Reveal() == "" {
			return nil, boterr.Missing(fmt.Sprintf("WebhookSecrets[%d]", i), "the secret of a webhook endpoint; leave the list empty without one")
		}
	}
	err := cmp.Or(
		bounded.Default("Tolerance", &config.Tolerance, 5*time.Minute), bounded.Default("BodyTime", &config.BodyTime, inbound.DefaultTime),
	)
	if err != nil {
		return nil, err
	}
	inbound.SetHooks(&config.Now, nil, &config.Drops)
	if config.OnError == nil {
		config.OnError = func(context.Context, utility.PaymentEvent, error) {}
	}
	c := &Client{config: config}
	c.api, c.given = provider(config, 0), provider(config, c.retries())
	return c, nil
}

// provider returns a client of the provider's library. It sets the key, HTTP client and log, which the library
// otherwise shares within the process.
func provider(config Config, retries int) *stripe.Client {
	backend := &stripe.BackendConfig{
		EnableTelemetry:   new(false),
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
		MaxNetworkRetries: new(int64(retries)),
	}
	given := cmp.Or(config.HTTP, &http.Client{Transport: outbound.HostTransport()})
	backend.HTTPClient = bounded.Client(given, bounded.Limits{Time: requestTime, MaxBytes: maxAnswerBytes})
	backend.HTTPClient.Transport = &listener{next: backend.HTTPClient.Transport, now: config.Now}
	if config.URL != "" {
		backend.URL = &config.URL
	}
	return stripe.NewClient(config.Key.Reveal(), stripe.WithBackends(stripe.NewBackendsWithConfig(backend)))
}

// Provider returns the client of the provider's library, for features that a PaymentClient does not have. Its
// errors are the library's errors. It waits at most a second between attempts, even if the provider asks for
// more or ctx has ended.
func (c *Client) Provider() *stripe.Client { return c.given }

// Accounts returns a function for botctx.Config.Payments that finds accounts by the Account of their Config,
// for every app. If apps have separate accounts, write your own function.
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

// fields maps the provider's parameters to the names of fields in botctx.
var fields = map[string]string{
	"amount":         "amount",
	"currency":       "currency",
	"customer":       "paymentMethod",
	"payment_method": "paymentMethod",
	"description":    "description",
	"metadata":       "metadata",
	"payment_intent": "paymentId",
}

// chargeError adds a code to an error of a charge.
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

// refundError adds a code to an error of a refund. A refusal of a valid request is FailedPrecondition: the
// payment cannot be refunded.
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

// paymentError adds a code to an error of a request for a payment.
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

func noPayment(id string) error {
	return boterr.New(boterr.NotFound, "paymentId", "there is no payment %.100q in this account", id)
}

// refused returns the provider's refusal, or an error if the cause is the same for every kind of request. The
// provider's errors are not wrapped, because their text is the whole answer, which contains secrets of the
// payment.
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
		// With %w, a timeout of the client would look like the end of the caller's context.
		return nil, withRetryAfter(err, fmt.Errorf("the payment provider did not answer: %v", err)) //nolint:errorlint // See above.
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
		return nil, withRetryAfter(err,
			boterr.New(boterr.ResourceExhausted, "", "the provider is limiting the rate of requests; try again later"))
	case failed.Type == stripe.ErrorTypeCard, failed.Type == stripe.ErrorTypeInvalidRequest:
		return failed, nil
	default:
		return nil, withRetryAfter(err, fmt.Errorf("the payment provider failed with status %d (request %s)", status, failed.RequestID))
	}
}

// withRetryAfter adds the wait that the provider asked for, if any, to an error.
func withRetryAfter(from, failure error) error {
	if after := boterr.RetryAfter(from); after > 0 {
		return fmt.Errorf("%w: %w", failure, &send.RetryAfterError{After: after})
	}
	return failure
}

// fieldOf returns the botctx name of the invalid parameter, or "" if there is none.
func fieldOf(failed *stripe.Error) string {
	name, _, _ := strings.Cut(failed.Param, "[")
	return fields[name]
}

// reason returns the provider's message with the request's id.
func reason(failed *stripe.Error) string {
	return fmt.Sprintf("%s (%s, request %s)", failed.Msg, cmp.Or(string(failed.Code), string(failed.Type)), failed.RequestID)
}
