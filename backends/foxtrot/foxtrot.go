package foxtrot

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// Config configures a Connector. The zero value of each field means its default.
type Config struct {
	// HTTPClient sends the requests. The default client has its own connections, and reaches only public addresses
	// for channels with a baseUrl; to allow others, give a client with outbound.GuardedTransport. With any client,
	// redirects are not followed, and at most 4 MiB of an answer are read.
	HTTPClient *http.Client
	// Timeout limits one call to the API. The default is 10 seconds.
	Timeout time.Duration
	// Now is the clock by which old reports about tickets are refused. The default is time.Now.
	Now func() time.Time

	// FindChannel returns the channel of an account, with its credentials. It returns NotFound if no channel
	// has that account. The account is the last part of a Handler's address. A Handler needs FindChannel.
	// Its ctx ends after 10 seconds.
	FindChannel func(ctx context.Context, account string) (*channel.Channel, error)
	// BodyTime limits the time to read the body of a request to a Handler. The default is 10 seconds.
	BodyTime time.Duration
	// OnError is called for events that could not be accepted, and for channels that could not be looked up. The
	// default does nothing.
	OnError func(ctx context.Context, inbound botctx.Inbound, err error)
	// Drops counts the events that a Handler does not pass on. The connectors of a host can share one. The
	// default is a new one that logs to slog.Default.
	Drops *send.Drops
}

// maxReplyBytes is the largest answer that is read.
const maxReplyBytes = 4 << 20

// withDefaults fills the defaults in. It returns InvalidArgument if a field is invalid.
func (c Config) withDefaults() (Config, error) {
	err := cmp.Or(
		bounded.Default("Timeout", &c.Timeout, 10*time.Second),
		bounded.Default("BodyTime", &c.BodyTime, inbound.DefaultTime),
	)
	if err != nil {
		return c, err
	}
	inbound.SetHooks(&c.Now, &c.OnError, &c.Drops)
	return c, nil
}

// limited returns a client with the limits of a call. transport is for a config without an HTTPClient.
func (c Config) limited(transport http.RoundTripper) *http.Client {
	client := cmp.Or(c.HTTPClient, &http.Client{Transport: transport})
	return bounded.Client(client, bounded.Limits{Time: c.Timeout, MaxBytes: maxReplyBytes})
}

// Connector is the connector to every channel of type foxtrot. It is safe for concurrent use.
//
// Errors have a code if a caller can act on them. NotFound: the helpdesk does not have the conversation or
// ticket. FailedPrecondition: the channel's credentials do not work, or the conversation is full.
// InvalidArgument: the helpdesk cannot show the content. ResourceExhausted, with a *send.RetryAfterError: the
// helpdesk limits the rate. An error without a code means that the helpdesk failed or did not answer. The
// request may have been carried out, so the Connector does not repeat it.
type Connector struct {
	config Config
	// own sends the requests to the helpdesk's own hosts. others sends the requests to addresses in channels' info.
	own, others *http.Client
}

var _ send.Connector = (*Connector)(nil)

// New returns a connector. It returns InvalidArgument if a field of the config is invalid.
func New(config Config) (*Connector, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Connector{
		config: config, own: config.limited(outbound.HostTransport()), others: config.limited(outbound.GuardedTransport(outbound.AllowList{})),
	}, nil
}

// messagesPerSecond is a cautious guess. The helpdesk documents no limit for conversations. For tickets it
// documents 200 to 2,500 a minute, depending on the plan.
const messagesPerSecond = 10

// Limited returns a connector that starts 10 messages a second for each channel, after a first burst of 10. If the
// helpdesk limits the rate, the channel pauses and the message is sent again; see send.Limited.
func Limited(connector send.Connector) send.Connector {
	return send.Limited(connector, send.Rate{Messages: messagesPerSecond, Burst: messagesPerSecond})
}

// account is a channel's account with its credentials.
type account struct {
	in *channel.Channel
	// base is the address of the API without a trailing slash. isGiven is true if it is in the channel's info.
	base    string
	isGiven bool
	// app is the id of the application for conversations, or "" if requests become tickets.
	app string
	// user and password authenticate calls. webhookSecret verifies reports.
	user, password, webhookSecret string
	// next is the switchboard integration to which new conversations are passed.
	next string
	// self is the id of the agent who owns the token for tickets.
	self string
	// secrets are the texts that errors must not contain: the credentials, and all other texts in the info,
	// except short ones.
	secrets []string
}

// isTickets reports whether requests become tickets.
func (a account) isTickets() bool { return a.app == "" }

// modeTickets is the value of mode with which a channel that has both kinds of credentials uses tickets.
const modeTickets = "tickets"

// shortestSecret is the length from which texts are redacted. Shorter texts also occur by chance.
const shortestSecret = 6

// subdomainForm matches valid subdomains. Other characters could change the host of the address.
var subdomainForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// accountOf returns the account of a channel. FailedPrecondition: the channel's info lacks credentials or an
// address.
func accountOf(in *channel.Channel) (account, error) {
	if err := send.RequireChannel(in); err != nil {
		return account{}, err
	}
	held, _ := in.Info.(channel.OtherInfo)
	info := held.Reveal()
	text := func(name string) string { return document.Get(info, name, "") }
	of := account{in: in, webhookSecret: text("webhookSecret"), next: cmp.Or(text("switchboardIntegration"), "next"), self: text("agentId")}
	folder := ""
	if key, secret := text("keyId"), text("keySecret"); key != "" && secret != "" && text("appId") != "" && text("mode") != modeTickets {
		of.app, of.user, of.password, folder = text("appId"), key, secret, "/sc"
	} else if email, token := text("email"), text("apiToken"); email != "" && token != "" {
		of.user, of.password = email+"/token", token
	} else {
		return of, boterr.New(boterr.FailedPrecondition, "",
			"the channel %s has no credentials; set appId, keyId and keySecret of its info for conversations, or email and apiToken for tickets",
			in.ID)
	}
	of.secrets = append(of.secrets, of.authorization())
	for _, value := range info.All() {
		if hidden, isText := value.(string); isText && len(hidden) >= shortestSecret {
			of.secrets = append(of.secrets, hidden)
		}
	}
	var err error
	of.isGiven = text("baseUrl") != ""
	of.base, err = baseOf(in, text("baseUrl"), text("subdomain"), folder)
	return of, err
}

func baseOf(in *channel.Channel, given, subdomain, folder string) (string, error) {
	if given == "" && subdomainForm.MatchString(subdomain) {
		return "https://" + subdomain + ".zendesk.com" + folder, nil
	}
	parsed, isBase := bounded.ParseBase(strings.TrimSuffix(given, "/"))
	if !isBase {
		return "", boterr.New(boterr.FailedPrecondition, "",
			"the channel %s has no address of the API: set subdomain of its info to the first word of the helpdesk's address, or baseUrl", in.ID)
	}
	return parsed.String(), nil
}

// authorization returns the credentials for the Basic scheme.
func (a account) authorization() string {
	return base64.StdEncoding.EncodeToString([]byte(a.user + ":" + a.password))
}
