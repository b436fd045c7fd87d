package hotel

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// Config configures a Connector. The zero value of each field means its default.
type Config struct {
	// ServiceURL is the address of the platform's messages for channels without serviceUrl. It is used until an
	// activity names the address of the channel's region. The default is the platform's worldwide address.
	// Tokens may be sent to its host and to ServiceHosts.
	ServiceURL string
	// ServiceHosts are the hosts to which a bot's token may be sent. An entry is a name, or ".example.com" for
	// all names under example.com. The default is smba.trafficmanager.net, smba.infra.gcc.teams.microsoft.com
	// and .botframework.com.
	ServiceHosts []string
	// LoginURL is the address at which bots get their tokens. GraphURL is the address of the API for
	// CreateChannel. KeysURL is the address of the document that describes the keys of the platform's tokens.
	// The defaults are the platform's addresses.
	LoginURL, GraphURL, KeysURL string
	// HTTPClient sends the requests. The default client has its own connections. With any client, redirects are
	// not followed, and at most 4 MiB of an answer are read.
	HTTPClient *http.Client
	// Timeout limits one request. The default is 10 seconds.
	Timeout time.Duration
	// MaxFileBytes limits the bytes that Open reads of a file. The default is 100 MiB.
	MaxFileBytes int64

	// FindChannel returns the channel of a bot, with its credentials. It returns NotFound if no channel has
	// that bot. A Handler needs FindChannel. Its ctx ends after 10 seconds.
	FindChannel func(ctx context.Context, of Bot) (*channel.Channel, error)
	// Now is the clock by which tokens and keys expire. The default is time.Now.
	Now func() time.Time
	// BodyTime limits the time to read the body of a request to a Handler. The default is 10 seconds.
	BodyTime time.Duration
	// OnError is called for events that could not be accepted, for channels that could not be looked up, and for
	// keys that could not be fetched. The default does nothing.
	OnError func(ctx context.Context, inbound botctx.Inbound, err error)
	// Drops counts the activities that a Handler does not pass on. The connectors of a host can share one. The
	// default is a new one that logs to slog.Default.
	Drops *send.Drops
}

// Bot identifies the bot that gets an activity.
type Bot struct {
	// AppID is the id of the bot's application, from a verified token.
	AppID string
	// TenantID is the id of the organisation in which the activity happened, or "" if the activity does not
	// name one.
	TenantID string
}

// withDefaults fills the defaults in. It returns InvalidArgument if a field is invalid.
func (c Config) withDefaults() (Config, error) {
	err := cmp.Or(
		bounded.Default("Timeout", &c.Timeout, 10*time.Second),
		bounded.Default("BodyTime", &c.BodyTime, inbound.DefaultTime),
		bounded.Default("MaxFileBytes", &c.MaxFileBytes, 100<<20),
		bounded.DefaultURL("ServiceURL", &c.ServiceURL, "https://smba.trafficmanager.net/teams/"),
		bounded.DefaultURL("LoginURL", &c.LoginURL, "https://login.microsoftonline.com"),
		bounded.DefaultURL("GraphURL", &c.GraphURL, "https://graph.microsoft.com/v1.0"),
		bounded.DefaultURL("KeysURL", &c.KeysURL, "https://login.botframework.com/v1/.well-known/openidconfiguration"),
	)
	if err != nil {
		return c, err
	}
	if c.ServiceHosts == nil {
		c.ServiceHosts = []string{"smba.trafficmanager.net", "smba.infra.gcc.teams.microsoft.com", ".botframework.com"}
	}
	for i, host := range c.ServiceHosts {
		if !hostForm.MatchString(host) {
			return c, boterr.Invalid("ServiceHosts"+boterr.Index(i), `is %q; give a host, or ".example.com" for all names under example.com`, host)
		}
	}
	c.HTTPClient = cmp.Or(c.HTTPClient, &http.Client{Transport: outbound.HostTransport()})
	inbound.SetHooks(&c.Now, &c.OnError, &c.Drops)
	return c, nil
}

// hostForm matches valid entries of ServiceHosts.
var hostForm = regexp.MustCompile(`^\.?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$`)

// Connector is the connector to every channel of type hotel. It is safe for concurrent use.
//
// Errors have a code if a caller can act on them. NotFound: the platform does not know the conversation or
// message. FailedPrecondition: the bot may not write to the recipient now, or the channel's credentials do not
// work; a *send.GoneError means that the user has blocked the bot. InvalidArgument: the platform cannot show
// the content. ResourceExhausted, with a *send.RetryAfterError: the platform limits the rate or asks to try
// again. An error without a code means that the platform failed or did not answer. The request may have been
// carried out, so the Connector does not repeat it.
type Connector struct {
	config Config
	calls  *http.Client
	files  *http.Client
	keys   *keys
	tokens *tokens
	// conversations has the ids of users' personal conversations. services has the service address in each
	// bot's last verified activity.
	conversations bounded.Cache[recipient, string]
	services      bounded.Cache[botKey, string]
}

var (
	_ send.Connector          = (*Connector)(nil)
	_ send.MessageUpdater     = (*Connector)(nil)
	_ livechat.ChannelCreator = (*Connector)(nil)
	_ livechat.GroupNamer     = (*Connector)(nil)
	_ livechat.TicketUpdater  = (*Connector)(nil)
	_ livechat.TicketRecaller = (*Connector)(nil)
)

// Limits of answers.
const (
	maxReplyBytes = 4 << 20
	fileTime      = 5 * time.Minute
)

// maxKept is the largest number of texts in a cache. A removed text can be requested again.
const maxKept = 10_000

// New returns a connector. It returns InvalidArgument if a field of the config is invalid.
func New(config Config) (*Connector, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Connector{
		config: config,
		calls:  bounded.Client(config.HTTPClient, bounded.Limits{Time: config.Timeout, MaxBytes: maxReplyBytes}),
		files:  bounded.Client(config.HTTPClient, bounded.Limits{Time: fileTime, MaxBytes: config.MaxFileBytes}),
	}
	c.keys = &keys{url: config.KeysURL, now: config.Now, get: c.plainGet}
	c.conversations.Max, c.services.Max = maxKept, maxKept
	c.tokens = &tokens{now: config.Now, login: c.login, known: bounded.Cache[tokenKey, token]{Max: maxTokens}}
	return c, nil
}

// The platform allows 50 messages a second for an application. For one conversation it allows 7 messages in a
// second, 8 in two seconds, 60 in 30 seconds and 1,800 in an hour.
const (
	messagesPerSecond  = 50
	conversationPeriod = 2010 * time.Millisecond
	conversationBurst  = 7
)

// Limited returns a connector that stays within the platform's limits. Each channel sends at most 50 messages a
// second. Each recipient gets one message in about 2 seconds, after a first burst of 7. If the platform still
// limits the rate, or asks to try again, the recipient pauses and the message is sent again; see
// send.LimitedByRecipient.
func Limited(connector send.Connector) send.Connector {
	// The platform's rate limits apply to one conversation, so only the outer connector resends.
	perBot := send.Limited(connector, send.Rate{Messages: messagesPerSecond, Repeats: -1})
	return send.LimitedByRecipient(perBot, nil, func(string) send.Rate {
		return send.Rate{Per: conversationPeriod, Burst: conversationBurst}
	})
}

type botKey struct{ app, channel, appID string }

// bot is a channel's bot and its credentials.
type bot struct {
	key                       botKey
	appID, password, tenantID string
	// service is the address of the platform's messages. It ends in a slash.
	service string
}

// id returns the bot's id as a participant of conversations.
func (b bot) id() string { return botPrefix + b.appID }

// botPrefix is the prefix of bots' ids.
const botPrefix = "28:"

// directoryForm matches ids of users and organisations in the directory.
var directoryForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// botOf returns the bot of a channel. FailedPrecondition: the channel's info lacks credentials, or its
// serviceUrl does not belong to the platform.
func (c *Connector) botOf(in *channel.Channel) (bot, error) {
	if err := send.RequireChannel(in); err != nil {
		return bot{}, err
	}
	info, _ := in.Info.(channel.OtherInfo)
	text := func(field string) string { return document.Get(info.Reveal(), field, "") }
	of := bot{appID: text("appId"), password: text("appPassword"), tenantID: text("tenantId")}
	of.key = botKey{in.App, in.ID, of.appID}
	of.service = cmp.Or(text("serviceUrl"), c.services.Get(of.key), c.config.ServiceURL)
	switch {
	case of.appID == "" || of.password == "":
		return bot{}, boterr.New(boterr.FailedPrecondition, "",
			"the channel %s lacks credentials; set appId and appPassword of its info to the application's id and its secret", in.ID)
	case !directoryForm.MatchString(of.tenantID):
		return bot{}, boterr.New(boterr.FailedPrecondition, "", "the channel %s has no valid tenantId: "+
			"in its info, set the id, not the domain, of the organisation that owns the application", in.ID)
	case !c.isService(of.service):
		return bot{}, boterr.New(boterr.FailedPrecondition, "",
			"the channel %s has a serviceUrl that is not an address of the platform, so no token is sent there: "+
				"correct it in its info, or add its host to ServiceHosts of the connector's Config", in.ID)
	}
	of.service = strings.TrimSuffix(of.service, "/") + "/"
	return of, nil
}

func (c *Connector) isService(address string) bool {
	parsed, ok := bounded.ParseBase(address)
	if !ok {
		return false
	}
	if own, _ := bounded.ParseBase(c.config.ServiceURL); parsed.Scheme == own.Scheme && strings.EqualFold(parsed.Host, own.Host) {
		return true
	}
	host := strings.ToLower(parsed.Host)
	return parsed.Scheme == "https" && slices.ContainsFunc(c.config.ServiceHosts, func(known string) bool {
		return isUnder(host, known)
	})
}

// isUnder reports whether host equals known. If known starts with a dot, host must be a name under it.
func isUnder(host, known string) bool {
	known = strings.ToLower(known)
	if strings.HasPrefix(known, ".") {
		return strings.HasSuffix(host, known) && len(host) > len(known)
	}
	return host == known
}

// redact replaces the bot's credentials and a token in a text.
func (b bot) redact(text, token string) string {
	return bounded.Redact(text, token, b.password, b.service, b.appID, b.tenantID)
}
