package botctx

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// Action is a piece of bot logic. An error stops the run.
type Action func(ctx context.Context, bot *Context) error

// Context is what bot logic is given: where it runs and for whom, and every
// operation as a method.
//
// Its fields belong to the run, like those of an http.Request: one goroutine
// changes them. Its operations are safe for concurrent use. They work for the app,
// channel and member that the context was made for, whatever the fields hold later.
type Context struct {
	// Channel is the channel of the conversation.
	Channel *channel.Channel
	// Member is the member, the end user, of the conversation.
	Member *member.Member
	// AgendaMeta is the meta of the agenda or redirect that caused this run.
	AgendaMeta document.Object
	// MessageEvent is the message that caused this run, nil where none did.
	MessageEvent *send.MessageEvent
	// Values is a bag for the run: what one piece of logic leaves for the next. It is
	// never nil.
	Values map[string]any

	scope        record.Scope
	parts        Parts
	interceptors []Interceptor
	decode       func(document.Object, any) error
	now          func() time.Time
	http         outbound.Doer
}

// Scope returns the app, channel and member that the context works for.
func (c *Context) Scope() record.Scope { return c.scope }

// Now returns the time by the Runtime's clock, which tests move.
func (c *Context) Now() time.Time { return c.now() }

// Fetch sends an HTTP request through the guarded client, which refuses private
// addresses (see package outbound). An answer with any status is no error.
func (c *Context) Fetch(ctx context.Context, request outbound.Request) (*outbound.Response, error) {
	response, err := outbound.Fetch(ctx, c.http, request)
	return response, boterr.Wrap("fetch", err)
}

// Reply sends responses to the context's member, one after the other, by
// SendResponse. It stops at the first that fails. {{path}} is filled from Member as it
// is in the run, whether that is stored or not.
func (c *Context) Reply(ctx context.Context, responses ...send.Response) error {
	for _, response := range responses {
		if err := c.reply(ctx, response); err != nil {
			return err
		}
	}
	return nil
}

func (c *Context) reply(ctx context.Context, response send.Response) error {
	if c.Member != nil {
		var err error
		if response, err = send.Fill(response, c.Member); err != nil {
			return boterr.Wrap(string(OpSendResponse), boterr.In("response", err))
		}
	}
	_, err := c.SendResponse(ctx, send.SendResponseParams{Response: response})
	return err
}
