package telegram

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// Type is the type of a Connector's channels.
const Type channel.Type = "telegram"

// Config configures a Connector. The zero value of each field means its default. A Connector with the zero
// Config can send, but cannot receive.
type Config struct {
	// APIURL is the address of the Bot API. The default is https://api.telegram.org. The tokens of all channels
	// are only sent there.
	APIURL string
	// HTTPClient sends the requests. The default client has its own connections; each Poll that waits has a further
	// one, unless the server supports HTTP/2. With any client, redirects are not followed, and the limits below
	// replace its Timeout.
	HTTPClient *http.Client
	// Timeout limits each request, except the requests of Poll and Open. The default is 10 seconds.
	Timeout time.Duration
	// PollTime is the time for which a request of Poll waits for updates. The default is 50 seconds.
	PollTime time.Duration
	// Updates are the kinds of updates to request from Telegram. The default is message, callback_query and
	// my_chat_member.
	Updates []string

	// Store is the Runtime's store. Poll uses it to ensure that one process at a time polls a channel. Store is
	// optional if only one process polls a channel.
	Store store.Store
	// LoadChannel returns a channel of an app with its credentials. It returns NotFound if there is no such
	// channel. The default reads channels from Store. Poll and Handler need LoadChannel or Store.
	LoadChannel func(ctx context.Context, app, id string) (*channel.Channel, error)
	// BodyTime limits the time to read the body of a request to Handler. The default is 10 seconds.
	BodyTime time.Duration
	// Drops counts the updates that are not passed on. The connectors of a host can share one. The default is a
	// new one that logs to slog.Default.
	Drops *send.Drops
	// Logger logs failures of Poll, events that could not be accepted, and channels that could not be looked up (as
	// warnings), and failures of requests after a tap (as debug messages). The default is slog.Default.
	Logger *slog.Logger
}

// withDefaults fills the defaults in. It returns InvalidArgument if a field is invalid.
func (c Config) withDefaults() (Config, error) {
	err := cmp.Or(
		bounded.Default("Timeout", &c.Timeout, 10*time.Second),
		bounded.Default("PollTime", &c.PollTime, 50*time.Second),
		bounded.Default("BodyTime", &c.BodyTime, inbound.DefaultTime),
		bounded.DefaultURL("APIURL", &c.APIURL, "https://api.telegram.org"),
	)
	if err != nil {
		return c, err
	}
	c.APIURL = strings.TrimSuffix(c.APIURL, "/")
	if c.Updates == nil {
		c.Updates = []string{kindMessage, kindCallback, "my_chat_member"}
	}
	if c.LoadChannel == nil && c.Store != nil {
		env := record.Env{Store: c.Store}.WithDefaults()
		c.LoadChannel = func(ctx context.Context, app, id string) (*channel.Channel, error) {
			return channels.New(env, record.Scope{App: app, Channel: id}).Load(ctx, id)
		}
	}
	c.Drops = cmp.Or(c.Drops, &send.Drops{})
	c.Logger = safelog.New(cmp.Or(c.Logger, slog.Default()))
	return c, nil
}

// limited returns a copy of a client with a time limit, and a limit for the bytes of an answer.
func limited(given *http.Client, within time.Duration, most int64) *http.Client {
	client := *given
	client.Timeout = within
	return bounded.Client(&client, bounded.Limits{MaxBytes: most})
}

// Connector connects all channels of type telegram. It is safe for concurrent use.
//
// Errors have a code if a caller can act on them. NotFound: Telegram does not know the chat or message.
// FailedPrecondition: the bot is not allowed to do this now, or the channel's token is missing or refused; a
// *send.GoneError means that the chat can never be reached again. InvalidArgument: Telegram cannot show the
// content. ResourceExhausted, with a *send.RetryAfterError: Telegram limits the rate. An error without a code
// means that Telegram did not answer. The Connector does not repeat requests, because Telegram does not
// recognise repetitions.
type Connector struct {
	config Config
	// api, polls and files send the requests for methods, of Poll and for files.
	api, polls, files *http.Client
	// leases is nil if there is no Config.Store.
	leases *lease.Leases
}

var (
	_ send.Connector           = (*Connector)(nil)
	_ send.MessageUpdater      = (*Connector)(nil)
	_ livechat.GroupCreator    = (*Connector)(nil)
	_ livechat.InviteLinker    = (*Connector)(nil)
	_ livechat.GroupIconSetter = (*Connector)(nil)
	_ livechat.TicketUpdater   = (*Connector)(nil)
	_ livechat.TicketRecaller  = (*Connector)(nil)
)

// New returns a Connector. It returns InvalidArgument if a field of the config is invalid.
func New(config Config) (*Connector, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	given := config.HTTPClient
	forPolls := given
	if given == nil {
		// A poll occupies a connection while it waits, so polls must not use up the connections for messages.
		transport := outbound.HostTransport()
		transport.MaxConnsPerHost = 0
		given, forPolls = &http.Client{Transport: outbound.HostTransport()}, &http.Client{Transport: transport}
	}
	slow := config.PollTime + config.Timeout
	c := &Connector{
		config: config, api: limited(given, config.Timeout, maxAnswerBytes), polls: limited(forPolls, slow, maxUpdatesBytes),
		files: limited(given, slow, MaxFileBytes),
	}
	if config.Store != nil {
		c.leases, err = lease.New(lease.Config{Env: record.Env{Store: config.Store}, Log: config.Logger})
	}
	return c, err
}

// Limited returns a connector that stays within Telegram's documented limits: 30 messages a second for a bot,
// one a second for a chat with short bursts, and 20 a minute for a group including its topics. If Telegram asks
// for a pause, the chat pauses and the message is sent again; see send.LimitedByRecipient.
func Limited(connector send.Connector) send.Connector {
	// Telegram's rate limits apply to one chat, so the bot's other chats do not pause.
	perBot := send.Limited(connector, send.Rate{Messages: 30, Repeats: -1, MaxPause: time.Nanosecond})
	return send.LimitedByRecipient(perBot, func(to string) string { return addressOf(to).chat }, func(chat string) send.Rate {
		if strings.HasPrefix(chat, "-") {
			// This allows at most 18 messages in a minute, not 20, because the bot's limit may delay some of
			// them into the next minute.
			return send.Rate{Messages: 15, Per: time.Minute, Burst: 4}
		}
		return send.Rate{Messages: 1, Burst: 3}
	})
}

// credentials are the parts of a channel's info that the Connector uses.
type credentials struct {
	// token is the bot's token: its id, a colon and the secret part.
	token string
	// secretToken is the expected secret of webhook requests. It may be empty.
	secretToken string
}

// tokenForm matches valid tokens. Other characters could change the path of a request.
var tokenForm = regexp.MustCompile(`^\d{1,20}:[A-Za-z0-9_-]{1,200}$`)

// credentialsOf returns the credentials of a channel. FailedPrecondition: the channel has no valid token.
func credentialsOf(in *channel.Channel) (credentials, error) {
	if err := send.RequireChannel(in); err != nil {
		return credentials{}, err
	}
	info, _ := in.Info.(channel.OtherInfo)
	found := credentials{document.Get(info.Reveal(), "token", ""), document.Get(info.Reveal(), "secretToken", "")}
	if !tokenForm.MatchString(found.token) {
		return found, boterr.New(boterr.FailedPrecondition, "",
			"the channel %s has no valid token; set token in its info to the one from BotFather, such as 123456:ABC", in.ID)
	}
	return found, nil
}

// botID returns the bot's id, which is the first part of the token.
func (c credentials) botID() string {
	id, _, _ := strings.Cut(c.token, ":")
	return id
}

// redact replaces the secrets in a text.
func (c credentials) redact(text string) string {
	return bounded.Redact(text, c.secrets()...)
}

func (c credentials) secrets() []string {
	_, secret, _ := strings.Cut(c.token, ":")
	return []string{secret, c.secretToken}
}
