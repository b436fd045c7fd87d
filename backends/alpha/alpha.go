package alpha

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/graph"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Config configures a Connector. The zero value of each field means its default.
type Config struct {
	// APIURL is the address of the API, including its version. The default is the platform's address for v23.0.
	APIURL string
	// HTTPClient sends the requests. The default client has its own connections. With any client, redirects are
	// not followed, and at most 4 MiB of an answer are read.
	HTTPClient *http.Client
	// Timeout limits one call to the API. The default is 10 seconds.
	Timeout time.Duration
	// MaxFileBytes limits the bytes that Open reads of a file. The default is 25 MiB.
	MaxFileBytes int64

	// FindChannel returns the channel of a page, with its credentials. It returns NotFound if no channel has
	// that page. A Handler needs FindChannel. Its ctx ends after 10 seconds.
	FindChannel func(ctx context.Context, pageID string) (*channel.Channel, error)
	// AppSecret is the secret of the host's application. The platform signs its reports with it, and the
	// connector sends a proof of it with every call.
	AppSecret channel.Secret
	// VerifyToken is the token that the platform sends when it checks a Handler's address. If VerifyToken is
	// empty, every check fails.
	VerifyToken channel.Secret
	// AppID is the id of the host's application. A Handler drops echoes of messages that this application sent;
	// otherwise the bot would answer itself. For a channel with its own application, appId in the channel's
	// info is used instead.
	AppID string
	// BodyTime limits the time to read the body of a request to a Handler. The default is 10 seconds.
	BodyTime time.Duration
	// OnError is called for events that could not be accepted, and for channels that could not be looked up. The
	// default does nothing.
	OnError func(ctx context.Context, inbound botctx.Inbound, err error)
	// Drops counts the events that a Handler does not pass on. The connectors of a host can share one. The
	// default is a new one that logs to slog.Default.
	Drops *send.Drops
}

// Connector is the connector to every channel of type alpha. It is safe for concurrent use.
//
// Errors have a code if a caller can act on them. NotFound: the page does not know the member.
// FailedPrecondition: the page may not write to the member now, or the channel's credentials do not work.
// InvalidArgument: the platform cannot show the content. ResourceExhausted, with a *send.RetryAfterError: the
// platform limits the rate. An error without a code means that the platform failed or did not answer. The
// request may have been carried out, so the Connector does not repeat it.
type Connector struct {
	config Config
	client *graph.Client
}

var (
	_ send.Connector          = (*Connector)(nil)
	_ send.AttachmentUploader = (*Connector)(nil)
	_ send.ThreadPasser       = (*Connector)(nil)
	_ send.Labeler            = (*Connector)(nil)
)

// New returns a connector. It returns InvalidArgument if a field of the config is invalid.
func New(config Config) (*Connector, error) {
	if err := bounded.Default("BodyTime", &config.BodyTime, inbound.DefaultTime); err != nil {
		return nil, err
	}
	inbound.SetHooks(nil, &config.OnError, &config.Drops)
	client, err := graph.NewClient(graph.Config{
		URL: config.APIURL, HTTP: config.HTTPClient, Timeout: config.Timeout, MaxFileBytes: config.MaxFileBytes,
		FileHosts: []string{"fbcdn.net", "fbsbx.com"}, Meanings: meanings,
	})
	if err != nil {
		return nil, err
	}
	return &Connector{config: config, client: client}, nil
}

// The documented limits of a page.
const (
	messagesPerSecond = 300
	mediaPerSecond    = 10
)

// Limited returns a connector that stays within the platform's documented limits: each page sends at most 300
// messages a second, at most 10 of them audio or video. If the platform still limits the rate, the page pauses
// and the message is sent again; see send.Limited. The platform documents no limit for a single conversation.
func Limited(connector send.Connector) send.Connector {
	// Only the outer connector resends.
	media := send.Limited(connector, send.Rate{
		Messages: mediaPerSecond, Types: []send.Type{send.TypeAudio, send.TypeVideo}, Repeats: -1,
	})
	return send.Limited(media, send.Rate{Messages: messagesPerSecond})
}

// page is a channel's page and the credentials for its calls.
type page struct {
	info channel.AlphaInfo
	// id is the page's id in paths. If the info has no pageId, it is "me", which means the token's page.
	id string
	as graph.Credentials
}

func (c *Connector) pageOf(in *channel.Channel) (page, error) {
	if err := send.RequireChannel(in); err != nil {
		return page{}, err
	}
	info, isAlpha := in.Info.(channel.AlphaInfo)
	if !isAlpha {
		return page{}, boterr.New(boterr.FailedPrecondition, "",
			"the channel %s has no info of type alpha: give it the credentials of its page", in.ID)
	}
	if info.AccessToken.Reveal() == "" {
		return page{}, boterr.New(boterr.FailedPrecondition, "", "the channel %s has no token; set accessToken of its info", in.ID)
	}
	secret, isOwn := ownSecret(in, graph.NameAppSecret)
	if !isOwn {
		secret = c.config.AppSecret
	}
	return page{info: info, id: cmp.Or(info.PageID, "me"), as: graph.Credentials{Token: info.AccessToken, AppSecret: secret}}, nil
}

// ownSecret returns a secret from the info of a channel with its own application. It reports false if the
// channel uses the host's application.
func ownSecret(in *channel.Channel, name string) (channel.Secret, bool) {
	info, _ := in.Info.(channel.AlphaInfo)
	return channel.NewSecret(document.Get(info.Unknown.Reveal(), name, "")), info.CustomApp
}

// UploadAttachment implements send.AttachmentUploader. The platform fetches the file from the address; the
// limit is 25 MB.
func (c *Connector) UploadAttachment(ctx context.Context, in *channel.Channel, kind send.Type, address string) (string, error) {
	from, err := c.pageOf(in)
	if err != nil {
		return "", err
	}
	attachment, err := attachmentOf(kind, document.O("url", address, "is_reusable", true))
	if err != nil {
		return "", err
	}
	reply, err := c.client.Call(ctx, from.as, graph.Request{
		Method: http.MethodPost, Path: []string{from.id, "message_attachments"},
		Body: document.O("message", document.O("attachment", attachment)),
	})
	id := document.Get(reply, "attachment_id", "")
	if err == nil && id == "" {
		err = calls.ErrUnreadable
	}
	return id, err
}

// pageInbox is the id of the platform's own inbox application, in which a page's staff answers.
const pageInbox = "263902037430900"

// PassThreadControl implements send.ThreadPasser. If handover has no TargetAppID, the page's inbox gets the
// conversation. Messages to the member fail with FailedPrecondition until the conversation is handed back.
func (c *Connector) PassThreadControl(ctx context.Context, in *channel.Channel, to string, handover send.ThreadHandover) error {
	from, err := c.pageOf(in)
	if err != nil {
		return err
	}
	var target any = cmp.Or(handover.TargetAppID, pageInbox)
	if number, err := strconv.ParseInt(fmt.Sprint(target), 10, 64); err == nil {
		target = number // The documentation shows ids as numbers.
	}
	body := document.O("recipient", document.O("id", to), "target_app_id", target)
	if handover.Metadata != "" {
		body = body.With("metadata", handover.Metadata)
	}
	_, err = c.client.Call(ctx, from.as, graph.Request{
		Method: http.MethodPost, Path: []string{from.id, "pass_thread_control"}, Body: body,
	})
	return err
}

// SaveLabel implements send.Labeler. If labelID is a number, it is the label's id. Otherwise it is a name:
// SaveLabel finds the page's label of that name, or creates one. FailedPrecondition: the page has not accepted
// the platform's terms for labels. NotFound: the page has no label with that id.
func (c *Connector) SaveLabel(ctx context.Context, in *channel.Channel, to, labelID string) (int64, error) {
	from, err := c.pageOf(in)
	if err != nil {
		return 0, err
	}
	number, err := c.labelNumber(ctx, from, labelID)
	if err == nil && number == 0 {
		number, err = c.makeLabel(ctx, from, labelID)
	}
	if err != nil {
		return 0, err
	}
	_, err = c.client.Call(ctx, from.as, graph.Request{
		Method: http.MethodPost, Path: []string{strconv.FormatInt(number, 10), "label"}, Body: document.O("user", to),
	})
	return number, graph.NotFoundID(err)
}

// RemoveLabel implements send.Labeler. The page keeps the label.
func (c *Connector) RemoveLabel(ctx context.Context, in *channel.Channel, to, labelID string) error {
	from, err := c.pageOf(in)
	if err != nil {
		return err
	}
	number, err := c.labelNumber(ctx, from, labelID)
	if err != nil || number == 0 {
		return err
	}
	_, err = c.client.Call(ctx, from.as, graph.Request{
		Method: http.MethodDelete, Path: []string{strconv.FormatInt(number, 10), "label"}, Query: url.Values{"user": {to}},
	})
	return graph.NotFoundID(err)
}

// Limits of the search for a label by name.
const (
	labelsPerPage = "100"
	maxLabelPages = 50
)

// labelNumber returns the number of a label given by number or name, or 0 if the page has none of that name.
func (c *Connector) labelNumber(ctx context.Context, from page, labelID string) (int64, error) {
	if number, err := strconv.ParseInt(labelID, 10, 64); err == nil && number > 0 {
		return number, nil
	}
	if labelID == "" {
		return 0, boterr.Missing("labelId", "the number or the name of a label")
	}
	query := url.Values{"fields": {"id,page_label_name"}, "limit": {labelsPerPage}}
	for range maxLabelPages {
		reply, err := c.client.Call(ctx, from.as, graph.Request{
			Method: http.MethodGet, Path: []string{from.id, "custom_labels"}, Query: query,
		})
		if err != nil {
			return 0, err
		}
		for _, label := range pieces.Objects(reply, "data") {
			if document.Get(label, "page_label_name", "") == labelID {
				return numberIn(label)
			}
		}
		after := document.Get(reply, "paging.cursors.after", "")
		if after == "" || !reply.Has("paging.next") {
			return 0, nil
		}
		query.Set("after", after)
	}
	return 0, boterr.New(boterr.ResourceExhausted, "labelId", "the page has too many labels to find one by name: give its number")
}

func (c *Connector) makeLabel(ctx context.Context, from page, name string) (int64, error) {
	reply, err := c.client.Call(ctx, from.as, graph.Request{
		Method: http.MethodPost, Path: []string{from.id, "custom_labels"}, Body: document.O("page_label_name", name),
	})
	if err != nil {
		return 0, err
	}
	return numberIn(reply)
}

// numberIn returns the id of a label. The platform sends a new label's id as a number, and ids in a list as strings.
func numberIn(label document.Object) (int64, error) {
	number, err := strconv.ParseInt(fmt.Sprint(field(label, "id")), 10, 64)
	if err != nil {
		return 0, calls.ErrUnreadable
	}
	return number, nil
}

// Profile returns the platform's information about a member: FirstName, LastName and ProfilePic. A Handler's
// events do not include names, because a lookup would delay each event. FailedPrecondition: the application
// lacks the permission.
func (c *Connector) Profile(ctx context.Context, in *channel.Channel, externalID string) (member.Member, error) {
	from, err := c.pageOf(in)
	if err != nil {
		return member.Member{}, err
	}
	reply, err := c.client.Call(ctx, from.as, graph.Request{
		Method: http.MethodGet, Path: []string{externalID}, Query: url.Values{"fields": {"first_name,last_name,profile_pic"}},
	})
	return member.Member{
		FirstName: document.Get(reply, "first_name", ""), LastName: document.Get(reply, "last_name", ""),
		ProfilePic: document.Get(reply, "profile_pic", ""),
	}, graph.NotFoundID(err)
}

// Open fetches a file that a member sent. The address is attachments[0].payload.url in the data of the event.
// The token is not sent to it. Callers must close the file; reading fails after Config.MaxFileBytes.
// InvalidArgument: the address is not on a host of the platform. NotFound: the file no longer exists.
func (c *Connector) Open(ctx context.Context, in *channel.Channel, address string) (io.ReadCloser, error) {
	if _, err := c.pageOf(in); err != nil {
		return nil, err
	}
	return c.client.Open(ctx, graph.Credentials{}, address)
}
