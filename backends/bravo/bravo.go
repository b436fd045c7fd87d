package bravo

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/graph"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Config configures a Connector. The zero value of each field means its default.
type Config struct {
	// APIURL is the address of the API, including its version, for channels without apiPath. The default is the
	// platform's address for v23.0.
	APIURL string
	// HTTPClient sends the requests. The default client has its own connections, and reaches only public addresses
	// for channels with an apiPath; to allow others, give a client with outbound.GuardedTransport. With any client,
	// redirects are not followed, and at most 4 MiB of an answer are read.
	HTTPClient *http.Client
	// Timeout limits one call to the API. The default is 10 seconds.
	Timeout time.Duration
	// MaxFileBytes limits the bytes that Open reads of a file. The default is 100 MiB.
	MaxFileBytes int64
	// GroupTimeout limits the time that CreateGroup waits until the platform confirms a group. CreateGroup
	// looks for the group 30 times in that time. The default is 12 seconds, which is less than the default
	// limit of 15 seconds for a call (botctx.Config.MaxSend).
	GroupTimeout time.Duration
	// ListButton is the text of the button that opens a list of four to ten quick replies, at most 20
	// characters. The default is "Options". A response with a field listButton uses that text instead.
	ListButton string

	// FindChannel returns the channel of the phone number with this id, with its credentials. It returns
	// NotFound if no channel has that number. A Handler needs FindChannel. Its ctx ends after 10 seconds.
	FindChannel func(ctx context.Context, phoneNumberID string) (*channel.Channel, error)
	// AppSecret is the secret of the host's application. The platform signs its reports with it, and the
	// connector sends a proof of it with every call.
	AppSecret channel.Secret
	// VerifyToken is the token that the platform sends when it checks a Handler's address. If VerifyToken is
	// empty, every check fails.
	VerifyToken channel.Secret
	// Now is the clock by which tokens expire. The default is time.Now.
	Now func() time.Time
	// BodyTime limits the time to read the body of a request to a Handler. The default is 10 seconds.
	BodyTime time.Duration
	// OnError is called for events that could not be accepted, and for channels that could not be looked up. The
	// default does nothing.
	OnError func(ctx context.Context, inbound botctx.Inbound, err error)
	// Drops counts the events that a Handler does not pass on. The connectors of a host can share one. The
	// default is a new one that logs to slog.Default.
	Drops *send.Drops
}

func (c Config) withDefaults() (Config, error) {
	err := cmp.Or(
		bounded.Default("BodyTime", &c.BodyTime, inbound.DefaultTime),
		bounded.Default("GroupTimeout", &c.GroupTimeout, 12*time.Second),
	)
	if err != nil {
		return c, err
	}
	if len([]rune(c.ListButton)) > maxTitle {
		return c, boterr.Invalid("ListButton", "is %q; give a text of at most %d characters", c.ListButton, maxTitle)
	}
	c.ListButton = cmp.Or(c.ListButton, "Options")
	c.MaxFileBytes = cmp.Or(c.MaxFileBytes, 100<<20)
	inbound.SetHooks(&c.Now, &c.OnError, &c.Drops)
	return c, nil
}

// Connector is the connector to every channel of type bravo. It is safe for concurrent use.
//
// Errors have a code if a caller can act on them. NotFound: the platform does not know the recipient or the
// group. FailedPrecondition: the number may not write to the recipient now, or the channel's credentials do not
// work. InvalidArgument: the platform cannot show the content. ResourceExhausted, with a *send.RetryAfterError:
// the platform limits the rate of the number or of the recipient. An error without a code means that the
// platform failed or did not answer. The request may have been carried out, so the Connector does not repeat
// it.
type Connector struct {
	config Config
	client *graph.Client

	mu sync.Mutex
	// awaited has the channels on which calls of CreateGroup wait for confirmations, by the names of the reports.
	awaited map[string]chan<- confirmation
	// early has the latest reports of groups for which no call waited, because a report may arrive before the
	// answer to the request.
	early []earlyReport
}

var (
	_ send.Connector           = (*Connector)(nil)
	_ livechat.GroupCreator    = (*Connector)(nil)
	_ livechat.InviteLinker    = (*Connector)(nil)
	_ livechat.GroupNamer      = (*Connector)(nil)
	_ livechat.GroupIconSetter = (*Connector)(nil)
)

// New returns a connector. It returns InvalidArgument if a field of the config is invalid.
func New(config Config) (*Connector, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	client, err := graph.NewClient(graph.Config{
		URL: config.APIURL, HTTP: config.HTTPClient, Timeout: config.Timeout, MaxFileBytes: config.MaxFileBytes,
		FileHosts: []string{"fbsbx.com", "fbcdn.net", "whatsapp.net"}, Meanings: meanings,
	})
	if err != nil {
		return nil, err
	}
	return &Connector{config: config, client: client, awaited: map[string]chan<- confirmation{}}, nil
}

// The rates of Limited.
const (
	messagesPerSecond = 80
	recipientPeriod   = 6 * time.Second
	recipientBurst    = 45
)

// Limited returns a connector that stays within the platform's limits. Each number sends at most 80 messages a
// second. Each recipient gets one message every 6 seconds, after a first burst of 45. If the platform still
// limits the rate, the number or the recipient pauses and the message is sent again; see send.Limited.
func Limited(connector send.Connector) send.Connector {
	// Only the outer connector resends.
	perNumber := send.Limited(connector, send.Rate{Messages: messagesPerSecond, Repeats: -1})
	return send.LimitedByRecipient(perNumber, nil, func(string) send.Rate {
		return send.Rate{Per: recipientPeriod, Burst: recipientBurst}
	})
}

// number is a channel's phone number and its credentials.
type number struct {
	id string
	as graph.Credentials
}

func (c *Connector) numberOf(in *channel.Channel) (number, error) {
	if err := send.RequireChannel(in); err != nil {
		return number{}, err
	}
	info, isBravo := in.Info.(channel.BravoInfo)
	switch ends := info.AdminAuthTokenExpiry.Reveal(); {
	case !isBravo:
		return number{}, boterr.New(boterr.FailedPrecondition, "",
			"the channel %s has no info of type bravo: give it the credentials of its number", in.ID)
	case info.AdminAuthToken.Reveal() == "", info.WaID == "":
		return number{}, boterr.New(boterr.FailedPrecondition, "",
			"the channel %s lacks a token or a number: set adminAuthToken and waId, the id of the phone number, of its info", in.ID)
	case !ends.IsZero() && ends <= document.TimestampOf(c.config.Now()):
		return number{}, boterr.New(boterr.FailedPrecondition, "",
			"the token of the channel %s has expired; make a new one and store it with its adminAuthTokenExpiry in the channel's info", in.ID)
	}
	secret, isOwn := ownSecret(in, graph.NameAppSecret)
	if !isOwn {
		secret = c.config.AppSecret
	}
	return number{id: info.WaID, as: graph.Credentials{Token: info.AdminAuthToken, AppSecret: secret, URL: info.APIPath}}, nil
}

// ownSecret returns a secret from the info of a channel with its own application. It reports false if the
// channel uses the host's application.
func ownSecret(in *channel.Channel, name string) (channel.Secret, bool) {
	info, _ := in.Info.(channel.BravoInfo)
	return channel.NewSecret(document.Get(info.Unknown.Reveal(), name, "")), info.CustomApp
}

// Open fetches a file that a member sent. attachmentID is attachments[0].payload.attachment_id in the data of
// the event. The token is only sent to the platform's own addresses. Callers must close the file; reading fails
// after Config.MaxFileBytes. NotFound: the platform does not have the file, or no longer has it.
func (c *Connector) Open(ctx context.Context, in *channel.Channel, attachmentID string) (io.ReadCloser, error) {
	from, err := c.numberOf(in)
	if err != nil {
		return nil, err
	}
	if attachmentID == "" {
		return nil, boterr.Missing("attachmentId", "the id of a file that a member sent")
	}
	reply, err := c.client.Call(ctx, from.as, graph.Request{
		Method: http.MethodGet, Path: []string{attachmentID}, Query: url.Values{"phone_number_id": {from.id}},
	})
	if err != nil {
		return nil, graph.NotFoundID(err)
	}
	return c.client.Open(ctx, from.as, document.Get(reply, "url", ""))
}
