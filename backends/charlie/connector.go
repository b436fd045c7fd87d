package charlie

import (
	"context"
	"maps"
	"net/url"

	"github.com/slack-go/slack"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Connector is the connector to every channel of type charlie. It is safe for concurrent use.
//
// Errors have a code where a caller can act on them: NotFound for conversations, messages
// and users that the tool does not know; FailedPrecondition where the bot may not do it now,
// or the channel's credentials do not work; InvalidArgument for what the tool cannot show;
// ResourceExhausted where it limits the rate for longer than the Config lets a call wait.
// Without a code the tool did not answer; then what was asked may have been done, and the
// Connector does not repeat it.
type Connector struct {
	config  Config
	clients *clients
}

var (
	_ send.Connector            = (*Connector)(nil)
	_ send.ConversationArchiver = (*Connector)(nil)
	_ send.MessageUpdater       = (*Connector)(nil)
	_ livechat.GroupCreator     = (*Connector)(nil)
	_ livechat.TicketUpdater    = (*Connector)(nil)
	_ livechat.TicketRecaller   = (*Connector)(nil)
)

// New returns a connector. A field of the config that makes no sense is InvalidArgument.
func New(config Config) (*Connector, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Connector{config: config, clients: newClients(config)}, nil
}

// post calls a method of the API that is about a message, and returns its reply.
func (c *Connector) post(ctx context.Context, in *channel.Channel, method string, values url.Values) (document.Object, error) {
	endpoint := slack.UnsafeMsgOptionEndpoint(c.config.APIURL+method, func(sent url.Values) {
		maps.Copy(sent, values)
	})
	return c.call(ctx, in, func(ctx context.Context, api *slack.Client) error {
		_, _, _, err := api.SendMessageContext(ctx, values.Get(fieldChannel), endpoint)
		return err
	})
}

// tokenOf returns the token of a channel.
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
		"the channel %s has no token: set botAccessToken or accessToken of its info", in.ID)
}
