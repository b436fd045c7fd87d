package echo

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// Config configures a Connector. The zero value of each field means its default.
type Config struct {
	// APIURL is the address of the API. The default is the platform's address.
	APIURL string
	// HTTPClient sends the requests. The default client has its own connections. With any client, redirects are
	// not followed, and at most 1 MiB of an answer is read.
	HTTPClient *http.Client
	// Timeout limits one call to the API. The default is 10 seconds.
	Timeout time.Duration
	// Files fetches the pictures, recordings and videos of messages by their addresses, and members' videos.
	// The default is a client of package outbound, which refuses addresses that are not public.
	Files outbound.Doer
	// MaxFileBytes limits the bytes that Open reads of a file. The default is 25 MiB.
	MaxFileBytes int64
	// Store is the Runtime's store. With it, processes share an account's access token, and one of them renews
	// it. Without it, each process gets the token from the platform, which returns the same one to all.
	Store store.Store
	// Now is the clock by which old reports are refused and tokens expire. The default is time.Now.
	Now func() time.Time

	// FindChannel returns the channel of an account, with its credentials. It returns NotFound if no channel
	// has that account. The account is the last part of a Handler's address. A Handler needs FindChannel.
	// Its ctx ends after 10 seconds.
	FindChannel func(ctx context.Context, account string) (*channel.Channel, error)
	// BodyTime limits the time to read the body of a request to a Handler. The default is 10 seconds.
	BodyTime time.Duration
	// OnError is called for events that could not be accepted, for channels that could not be looked up, and
	// for reports that cannot be decrypted because the channel's encodingAESKey is missing or wrong. The
	// default does nothing.
	OnError func(ctx context.Context, inbound botctx.Inbound, err error)
	// Drops counts the events that a Handler does not pass on. The connectors of a host can share one. The
	// default is a new one that logs to slog.Default.
	Drops *send.Drops
}

// withDefaults fills the defaults in. It returns InvalidArgument if a field is invalid.
func (c Config) withDefaults() (Config, error) {
	err := cmp.Or(
		bounded.Default("Timeout", &c.Timeout, 10*time.Second),
		bounded.Default("BodyTime", &c.BodyTime, inbound.DefaultTime),
		bounded.Default("MaxFileBytes", &c.MaxFileBytes, 25<<20),
		bounded.DefaultURL("APIURL", &c.APIURL, "https://api.weixin.qq.com"),
	)
	if err != nil {
		return c, err
	}
	inbound.SetHooks(&c.Now, &c.OnError, &c.Drops)
	c.HTTPClient = cmp.Or(c.HTTPClient, &http.Client{Transport: outbound.HostTransport()})
	if c.Files == nil {
		files, err := outbound.New(outbound.Config{MaxResponseBytes: c.MaxFileBytes, Timeout: fileTime})
		if err != nil {
			return c, err
		}
		c.Files = files
	}
	return c, nil
}

// Connector is the connector to every channel of type echo. It is safe for concurrent use.
//
// Errors have a code if a caller can act on them. NotFound: the account does not know the member.
// FailedPrecondition: the account may not write to the member now, or the channel's credentials do not work; a
// *send.GoneError means that the member no longer follows the account. InvalidArgument: the platform cannot
// show the content. ResourceExhausted, with a *send.RetryAfterError: the platform limits the rate. An error
// without a code means that the platform failed or did not answer. The request may have been carried out. The
// Connector only repeats a request if the platform refused its access token.
type Connector struct {
	config Config
	client *client
	tokens *tokens
}

var (
	_ send.Connector = (*Connector)(nil)
	_ send.Tagger    = (*Connector)(nil)
)

// New returns a connector. It returns InvalidArgument if a field of the config is invalid.
func New(config Config) (*Connector, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	api := &client{
		base: strings.TrimSuffix(config.APIURL, "/"), now: config.Now,
		calls: bounded.Client(config.HTTPClient, bounded.Limits{Time: config.Timeout, MaxBytes: maxReplyBytes}),
		files: bounded.Client(config.HTTPClient, bounded.Limits{Time: fileTime, MaxBytes: config.MaxFileBytes}),
	}
	shared, err := newTokens(config, api)
	if err != nil {
		return nil, err
	}
	return &Connector{config: config, client: api, tokens: shared}, nil
}

// messagesPerSecond is a cautious guess, because the platform only documents the number of calls in a day.
const messagesPerSecond = 100

// Limited returns a connector that starts at most 100 messages a second for each account. If the platform limits
// the calls per minute, the account pauses and the message is sent again; see send.Limited. At the daily limit,
// and at the limit on messages after a member's last one, Send returns an error.
func Limited(connector send.Connector) send.Connector {
	return send.Limited(connector, send.Rate{Messages: messagesPerSecond})
}

// account is a channel's account with its credentials.
type account struct {
	info channel.EchoInfo
	// token verifies reports and key decrypts them. Each is "" if the channel has none.
	token, key string
}

// Names of fields in a channel's info that are not in the specification.
const (
	nameToken = "token"
	nameKey   = "encodingAESKey"
)

// accountOf returns the account of a channel. FailedPrecondition: the channel has no info of type echo.
func accountOf(in *channel.Channel) (account, error) {
	if err := send.RequireChannel(in); err != nil {
		return account{}, err
	}
	info, isEcho := in.Info.(channel.EchoInfo)
	if !isEcho {
		return account{}, boterr.New(boterr.FailedPrecondition, "",
			"the channel %s has no info of type echo: give it the credentials of its account", in.ID)
	}
	unknown := info.Unknown.Reveal()
	return account{info: info, token: document.Get(unknown, nameToken, ""), key: document.Get(unknown, nameKey, "")}, nil
}

// Refusals of a tag that SaveTag returns as a reply, not as an error.
const (
	codeTooManyTags = 45059
	codeInvalidTag  = 45159
)

// SaveTag implements send.Tagger. If the platform refuses the tag, the reply has its errcode and errmsg: 45059
// if the member has 20 tags, 45159 if the account has no such tag, and 40003 or 49003 if the account does not
// know the member.
func (c *Connector) SaveTag(ctx context.Context, in *channel.Channel, to string, tagID int64) (send.TagReply, error) {
	from, err := accountOf(in)
	if err != nil {
		return send.TagReply{}, err
	}
	reply, err := c.call(ctx, from, request{
		path: "/cgi-bin/tags/members/batchtagging", body: document.O("openid_list", document.A(to), "tagid", tagID),
	})
	refused := calls.RefusalIn(err)
	switch code, _ := strconv.ParseInt(refused.Code, 10, 64); code {
	case codeTooManyTags, codeInvalidTag, codeUnknownMember, codeMemberOfOther:
		return send.TagReply{Code: code, Message: cmp.Or(refused.Message, "errcode "+refused.Code)}, nil
	}
	if err != nil {
		return send.TagReply{}, err
	}
	return send.TagReply{Message: cmp.Or(document.Get(reply, "errmsg", ""), "ok")}, nil
}
