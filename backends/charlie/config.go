package charlie

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// Config configures a Connector. The zero value of each field means its default.
type Config struct {
	// APIURL is the address of the tool's API. The default is the public address.
	APIURL string
	// HTTPClient sends the requests. The default client has its own connections. With any client, redirects are
	// not followed, and at most 4 MiB of an answer are read.
	HTTPClient *http.Client
	// Timeout limits one request to the tool. The default is 10 seconds.
	Timeout time.Duration
	// MaxWaits limits how often one call waits because of the tool's rate limit. After that, the call fails with
	// ResourceExhausted. The default is 3.
	MaxWaits int
	// MaxWait limits a single wait. If the tool asks for a longer one, the call fails with ResourceExhausted at
	// once. The default is 30 seconds.
	MaxWait time.Duration

	// FindChannel returns the channel for a workspace's requests, with its credentials. It returns NotFound if
	// no channel has that workspace. A Handler needs FindChannel. Because the signing secret may belong to the
	// channel, FindChannel is called before the signature is checked. Its ctx ends after 10 seconds.
	FindChannel func(ctx context.Context, from Workspace) (*channel.Channel, error)
	// SigningSecret verifies requests for channels without a signing secret. It also verifies the tool's check
	// of a Handler's address, which does not name a workspace. If SigningSecret is empty, that check is
	// answered without verification.
	SigningSecret channel.Secret
	// Now is the clock by which old requests are refused. The default is time.Now.
	Now func() time.Time
	// BodyTime limits the time to read the body of a request to a Handler. The default is 10 seconds.
	BodyTime time.Duration
	// OnError is called for events that could not be accepted, and for channels that could not be looked up. In
	// both cases the tool sends the request again. The default does nothing.
	OnError func(ctx context.Context, inbound botctx.Inbound, err error)
	// Drops counts the events that a Handler does not pass on. The connectors of a host can share one. The
	// default is a new one that logs to slog.Default.
	Drops *send.Drops
}

// Workspace identifies the source of a request.
type Workspace struct {
	// TeamID is the id of the workspace. EnterpriseID is the id of its organisation, or "".
	TeamID       string
	EnterpriseID string
	// AppID is the id of the application that gets the request.
	AppID string
}

// withDefaults fills the defaults in, or returns an error with the invalid field.
func (c Config) withDefaults() (Config, error) {
	err := cmp.Or(
		bounded.Default("Timeout", &c.Timeout, 10*time.Second),
		bounded.Default("MaxWait", &c.MaxWait, 30*time.Second),
		bounded.Default("BodyTime", &c.BodyTime, inbound.DefaultTime),
		bounded.Default("MaxWaits", &c.MaxWaits, 3),
		bounded.DefaultURL("APIURL", &c.APIURL, "https://slack.com/api/"),
	)
	if err != nil {
		return c, err
	}
	inbound.SetHooks(&c.Now, &c.OnError, &c.Drops)
	given := cmp.Or(c.HTTPClient, &http.Client{Transport: outbound.HostTransport()})
	c.HTTPClient = bounded.Client(given, bounded.Limits{Time: c.Timeout, MaxBytes: maxReplyBytes})
	c.APIURL = strings.TrimSuffix(c.APIURL, "/") + "/"
	return c, nil
}

// Connector is the connector to every channel of type charlie. It is safe for concurrent use.
//
// Errors have a code if a caller can act on them. NotFound: the tool does not know the conversation, message or
// user. FailedPrecondition: the bot is not allowed to do this now, or the channel's credentials do not work.
// InvalidArgument: the tool cannot show the content. ResourceExhausted: the tool limits the rate for longer
// than the Config allows a call to wait. An error without a code means that the tool did not answer. The
// request may have been carried out, so the Connector does not repeat it.
type Connector struct{ config Config }

var (
	_ send.Connector            = (*Connector)(nil)
	_ send.ConversationArchiver = (*Connector)(nil)
	_ send.MessageUpdater       = (*Connector)(nil)
	_ send.ResponseFormatter    = (*Connector)(nil)
	_ livechat.GroupCreator     = (*Connector)(nil)
	_ livechat.TicketUpdater    = (*Connector)(nil)
	_ livechat.TicketRecaller   = (*Connector)(nil)
)

// New returns a connector. It returns InvalidArgument if a field of the config is invalid.
func New(config Config) (*Connector, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Connector{config: config}, nil
}

func tokenOf(in *channel.Channel) (string, error) {
	if err := send.RequireChannel(in); err != nil {
		return "", err
	}
	info, isCharlie := in.Info.(channel.CharlieInfo)
	if !isCharlie {
		return "", boterr.New(boterr.FailedPrecondition, "",
			"the channel %s has no info of type charlie: give it the credentials of its workspace", in.ID)
	}
	for _, token := range []channel.Secret{info.BotAccessToken, info.AccessToken} {
		if token := token.Reveal(); token != "" {
			return token, nil
		}
	}
	return "", boterr.New(boterr.FailedPrecondition, "",
		"the channel %s has no token; set botAccessToken or accessToken of its info", in.ID)
}
