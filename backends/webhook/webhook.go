package webhook

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// Config configures a Connector. The zero value of each field means its default. A Connector with the zero
// Config can send, but cannot receive.
type Config struct {
	// Endpoint returns a channel's URL and secrets. The default is ChannelEndpoint.
	Endpoint func(ctx context.Context, of *channel.Channel) (Endpoint, error)
	// LoadChannel returns a channel of an app with its credentials. It returns NotFound if there is no such
	// channel. Usually it is the same function as in botctx.Config, such as Stored(store). Handler needs
	// LoadChannel.
	LoadChannel func(ctx context.Context, app, id string) (*channel.Channel, error)
	// HTTP sends the requests. The default is the guarded client of package outbound. It does not follow
	// redirects, so a channel's URL cannot lead into the host's network. If HTTP is an *http.Client, redirects
	// are disabled, too. Any other Doer should not follow redirects.
	HTTP outbound.Doer
	// Now is the clock for signatures. The default is time.Now.
	Now func() time.Time
	// Retry limits the attempts to send a message.
	Retry Retry
	// Inbound limits the requests to Handler.
	Inbound Limits
	// OnError is called for events that could not be accepted, and for channels that could not be looked up. The
	// default does nothing.
	OnError func(ctx context.Context, inbound botctx.Inbound, err error)
	// Drops counts the signed events that Handler refuses. The connectors of a host can share one. The default
	// is a new one that logs to slog.Default.
	Drops *send.Drops
}

// Retry limits the attempts to send a message. The zero value of each field means its default.
type Retry struct {
	// Attempts is the largest number of requests for one message. The default is 4.
	Attempts int
	// Within limits the total time of all attempts. The default is 30 seconds.
	Within time.Duration
	// First is the longest wait before the second request; the default is half a second. The longest wait
	// doubles for each further request, up to Longest; the default is 10 seconds. The actual wait is random,
	// between zero and the longest wait, so that retries spread out. It is added to a Retry-After.
	First   time.Duration
	Longest time.Duration
}

// Limits limit inbound requests. The zero value of each field means its default.
type Limits struct {
	// Tolerance is the largest allowed difference between a signature's timestamp and the clock, in both
	// directions. The default is 5 minutes.
	Tolerance time.Duration
	// MaxBytes is the maximum size of a request body. The default is 1 MiB.
	MaxBytes int64
	// BodyTime limits the time to read a body. The default is 10 seconds.
	BodyTime time.Duration
}

// Connector sends and receives messages over signed HTTP. It is safe for concurrent use.
type Connector struct {
	config Config
}

var _ send.Connector = (*Connector)(nil)

// New returns a Connector. It returns InvalidArgument if a number is negative or HTTP is a nil pointer.
func New(config Config) (*Connector, error) {
	if err := cmp.Or(config.setNumbers(), absent.Check("HTTP", config.HTTP)); err != nil {
		return nil, err
	}
	if config.HTTP == nil {
		client, err := outbound.New(outbound.Config{MaxRedirects: new(0), MaxResponseBytes: maxAnswerBytes})
		if err != nil {
			return nil, err
		}
		config.HTTP = client
	}
	if given, isPlain := config.HTTP.(*http.Client); isPlain {
		config.HTTP = bounded.Client(given, bounded.Limits{Time: config.Retry.Within, MaxBytes: maxAnswerBytes})
	}
	if config.Endpoint == nil {
		config.Endpoint = ChannelEndpoint
	}
	inbound.SetHooks(&config.Now, &config.OnError, &config.Drops)
	return &Connector{config: config}, nil
}

// setNumbers sets numbers that are 0 to their defaults. It returns InvalidArgument if a number is negative.
func (c *Config) setNumbers() error {
	return cmp.Or(
		bounded.Default("Retry.Attempts", &c.Retry.Attempts, 4),
		bounded.Default("Retry.Within", &c.Retry.Within, 30*time.Second),
		bounded.Default("Retry.First", &c.Retry.First, 500*time.Millisecond),
		bounded.Default("Retry.Longest", &c.Retry.Longest, 10*time.Second),
		bounded.Default("Inbound.Tolerance", &c.Inbound.Tolerance, 5*time.Minute),
		bounded.Default("Inbound.MaxBytes", &c.Inbound.MaxBytes, inbound.DefaultMaxBytes),
		bounded.Default("Inbound.BodyTime", &c.Inbound.BodyTime, inbound.DefaultTime),
	)
}

// Stored returns a function for Config.LoadChannel that reads channels from a store, like the default of
// botctx.Config.
func Stored(store store.Store) func(ctx context.Context, app, id string) (*channel.Channel, error) {
	env := record.Env{Store: store}.WithDefaults()
	return func(ctx context.Context, app, id string) (*channel.Channel, error) {
		return channels.New(env, record.Scope{App: app, Channel: id}).Load(ctx, id)
	}
}

// Endpoint has the URL and the secrets of a channel.
type Endpoint struct {
	// URL is the address to which the bot's messages are posted. Handler does not need it.
	URL string
	// Secrets sign outbound requests; each request has a signature for every secret. An inbound request needs a
	// signature with one of them. Give several while you replace a secret.
	Secrets []channel.Secret
}

// ChannelEndpoint reads the URL from the channel's metadata ("webhookUrl") and the secret from its info
// ("webhookSecret", a string or an array of strings). The info must be an OtherInfo, as for channels of type
// custom and webchat.
func ChannelEndpoint(_ context.Context, of *channel.Channel) (Endpoint, error) {
	endpoint := Endpoint{URL: document.Get(of.Metadata, "webhookUrl", "")}
	info, ok := of.Info.(channel.OtherInfo)
	if !ok {
		return endpoint, nil
	}
	secret, _ := info.Reveal().Field("webhookSecret")
	texts := []any{secret}
	if several, ok := secret.(document.Array); ok {
		texts = texts[:0]
		for _, one := range several.All() {
			texts = append(texts, one)
		}
	}
	for _, text := range texts {
		if text, ok := text.(string); ok {
			endpoint.Secrets = append(endpoint.Secrets, channel.NewSecret(text))
		}
	}
	return endpoint, nil
}

// endpoint calls Config.Endpoint. It returns FailedPrecondition if there is no secret, or if a secret is invalid for Sign.
func (c *Connector) endpoint(ctx context.Context, of *channel.Channel) (Endpoint, error) {
	endpoint, err := c.config.Endpoint(ctx, of)
	if err == nil && len(endpoint.Secrets) == 0 {
		err = boterr.New(boterr.FailedPrecondition, "",
			"the channel has no secret to sign with: set webhookSecret in its info, or give Config.Endpoint")
	}
	for _, secret := range endpoint.Secrets {
		err = cmp.Or(err, CheckSecret(secret))
	}
	return endpoint, err
}
