package webhook

import (
	"context"
	"net/http"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// Config is what a Connector works with. The zero Config sends, and does not receive.
type Config struct {
	// Endpoint returns the address and the secrets of a channel. The default is
	// ChannelEndpoint.
	Endpoint func(ctx context.Context, of *channel.Channel) (Endpoint, error)
	// LoadChannel returns a channel of an app with its credentials, or NotFound: the same
	// as botctx.Config's, such as Stored(store). Handler needs it.
	LoadChannel func(ctx context.Context, app, id string) (*channel.Channel, error)
	// HTTP sends the requests. The default is the guarded client of package outbound
	// without redirects, so that an address in a channel cannot lead into the host's own
	// network. A *http.Client is used without its redirects; another Doer should follow none either.
	HTTP outbound.Doer
	// Now is the clock of signatures. The default is time.Now.
	Now func() time.Time
	// Retry says how often a message is tried.
	Retry Retry
	// Inbound limits what Handler takes.
	Inbound Limits
	// Drops counts the signed events that Handler refuses. The connectors of a host share one. The default is
	// one of the Connector's own, which logs to slog.Default.
	Drops *send.Drops
}

// Retry says how often a message is tried, and how long it waits between.
type Retry struct {
	// Attempts is the most requests for one message. The default is 4.
	Attempts int
	// Within is how long all of them may take together. The default is 30 seconds.
	Within time.Duration
	// First is the longest wait before the second request; it doubles with each further
	// one up to Longest. The wait itself is random between nothing and that, so that many
	// messages do not come back at once, and comes on top of a Retry-After. The defaults are
	// half a second and 10 seconds.
	First   time.Duration
	Longest time.Duration
}

// Limits are those of what arrives.
type Limits struct {
	// Tolerance is how far the time of a signature may be from the clock, in both
	// directions. The default is 5 minutes.
	Tolerance time.Duration
	// MaxBytes is the longest body. The default is 1 MiB.
	MaxBytes int64
	// BodyTime is how long a body may take to arrive. The default is 10 seconds.
	BodyTime time.Duration
}

// Connector sends messages by signed HTTP, and takes such as arrive. It is safe for
// concurrent use.
type Connector struct {
	config Config
}

var _ send.Connector = (*Connector)(nil)

// New returns a Connector. InvalidArgument: a number is negative, or HTTP is a nil pointer.
func New(config Config) (*Connector, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	if err := absent.Check("HTTP", config.HTTP); err != nil {
		return nil, err
	}
	config.Retry = config.Retry.withDefaults()
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
	if config.Drops == nil {
		config.Drops = &send.Drops{}
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	config.Inbound = config.Inbound.withDefaults()
	return &Connector{config: config}, nil
}

// check refuses negative numbers.
func (c Config) check() error {
	for _, number := range []struct {
		field      string
		isNegative bool
	}{
		{"Retry.Attempts", c.Retry.Attempts < 0},
		{"Retry.Within", c.Retry.Within < 0},
		{"Retry.First", c.Retry.First < 0},
		{"Retry.Longest", c.Retry.Longest < 0},
		{"Inbound.Tolerance", c.Inbound.Tolerance < 0},
		{"Inbound.MaxBytes", c.Inbound.MaxBytes < 0},
		{"Inbound.BodyTime", c.Inbound.BodyTime < 0},
	} {
		if number.isNegative {
			return boterr.Invalid(number.field, "must not be negative; 0 means the default")
		}
	}
	return nil
}

// withDefaults fills what is 0.
func (r Retry) withDefaults() Retry {
	r.Attempts = orDefault(r.Attempts, 4)
	r.Within = orDefault(r.Within, 30*time.Second)
	r.First = orDefault(r.First, 500*time.Millisecond)
	r.Longest = orDefault(r.Longest, 10*time.Second)
	return r
}

// withDefaults fills what is 0.
func (l Limits) withDefaults() Limits {
	l.Tolerance = orDefault(l.Tolerance, 5*time.Minute)
	l.MaxBytes = orDefault(l.MaxBytes, 1<<20)
	l.BodyTime = orDefault(l.BodyTime, 10*time.Second)
	return l
}

// orDefault returns value, or the default where value is 0.
func orDefault[T int | int64 | time.Duration](value, standard T) T {
	if value == 0 {
		return standard
	}
	return value
}

// Stored returns a Config.LoadChannel that reads the records of channels in a store, as
// botctx.Config does by default.
func Stored(store store.Store) func(ctx context.Context, app, id string) (*channel.Channel, error) {
	env := record.Env{Store: store}.WithDefaults()
	return func(ctx context.Context, app, id string) (*channel.Channel, error) {
		return channels.New(env, record.Scope{App: app, Channel: id}).Load(ctx, id)
	}
}

// Endpoint is where the messages of a channel go, and the secrets of both directions.
type Endpoint struct {
	// URL is where messages are posted to. Handler does not need it.
	URL string
	// Secrets sign what is sent, each of them; what arrives is signed with one of them. There
	// are several while one replaces another.
	Secrets []channel.Secret
}

// ChannelEndpoint takes the address from the channel's metadata ("webhookUrl") and the secret
// from its info ("webhookSecret", a text or an array of texts). The info must be an OtherInfo,
// as the types custom and webchat have.
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

// endpoint returns the endpoint of a channel with at least one secret.
func (c *Connector) endpoint(ctx context.Context, of *channel.Channel) (Endpoint, error) {
	endpoint, err := c.config.Endpoint(ctx, of)
	if err == nil && len(endpoint.Secrets) == 0 {
		err = boterr.New(boterr.FailedPrecondition, "",
			"the channel has no secret to sign with: set webhookSecret in its info, or give Config.Endpoint")
	}
	return endpoint, err
}
