package botctx

import (
	"context"
	"io"
	"maps"
	"net/http"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/around"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// callLimit bounds each call of a service outside by Config.MaxSend.
type callLimit struct{ rule *timelimit.Rule }

// callLimit returns the limit of the calls of a service, such as "the mail service".
func (c Config) callLimit(service string) callLimit {
	over := boterr.New(boterr.Unavailable, "",
		"%s took longer than Config.MaxSend (%v), and whether it did what was asked is not known: "+
			"find out why it is slow, or raise the limit", service, c.MaxSend)
	return callLimit{&timelimit.Rule{Most: c.MaxSend, Over: over, IsPausable: true}}
}

// begin returns the ctx of a call. Callers must call end.
func (c callLimit) begin(ctx context.Context) (context.Context, *timelimit.Limit) {
	l := c.rule.Begin(ctx)
	return l, l
}

// end ends a call that was made for ctx, and returns its error. What the service itself said, and the end of
// ctx, count more than that the call took too long.
func (c callLimit) end(ctx context.Context, limit *timelimit.Limit, err error) error {
	late := limit.End(err)
	if ctx.Err() != nil || boterr.HasCode(err) && !mayBeLate(err) {
		return err
	}
	return late
}

// mayBeLate reports whether the code of an error is one that services and their clients give to what took too long.
func mayBeLate(err error) bool {
	code := boterr.CodeOf(err)
	return code == boterr.Canceled || code == boterr.Unavailable
}

// call does something within the limit.
func (c callLimit) call(ctx context.Context, do func(ctx context.Context) error) (err error) {
	within, limit := c.begin(ctx)
	defer func() { err = c.end(ctx, limit, err) }()
	return do(within)
}

// boundedConnector is a connector of which every call is within a limit.
type boundedConnector struct {
	send.Connector

	limit callLimit
}

var _ send.PortWrapper = boundedConnector{}

// boundedConnectors returns the connectors with Config.MaxSend as the limit of each call.
func (c Config) boundedConnectors() send.Connectors {
	all := maps.Clone(c.Connectors)
	if c.MaxSend < 0 {
		return all
	}
	for platform, connector := range all {
		all[platform] = &boundedConnector{connector, c.callLimit("the platform of type " + string(platform))}
	}
	return all
}

// Unwrap implements send.Wrapper.
func (b boundedConnector) Unwrap() send.Connector { return b.Connector }

// WrapPort implements send.PortWrapper.
func (b boundedConnector) WrapPort(wanted, inner any) any {
	return around.Port(wanted, inner, func(
		ctx context.Context, _ string, _ *channel.Channel, do func(ctx context.Context) error,
	) error {
		return b.limit.call(ctx, do)
	})
}

// Send implements send.Connector.
func (b boundedConnector) Send(ctx context.Context, message send.Message) (delivery send.Delivery, err error) {
	within, limit := b.limit.begin(ctx)
	defer func() { err = b.limit.end(ctx, limit, err) }()
	return b.Connector.Send(within, message)
}

// boundedMailer is a mailer that takes each mail within a limit.
type boundedMailer struct {
	utility.Mailer

	limit callLimit
}

// SendMail implements Mailer.
func (b boundedMailer) SendMail(ctx context.Context, mail utility.Mail) error {
	return b.limit.call(ctx, func(ctx context.Context) error { return b.Mailer.SendMail(ctx, mail) })
}

// boundedPayments is the client of a payment account, which answers each request within a limit.
type boundedPayments struct {
	utility.PaymentClient

	limit callLimit
}

// bounded returns the client of a payment account with Config.MaxSend as the limit of each request.
func (c Config) bounded(client utility.PaymentClient) utility.PaymentClient {
	if c.MaxSend < 0 {
		return client
	}
	return boundedPayments{client, c.callLimit("the payment account")}
}

// Charge implements PaymentClient.
func (b boundedPayments) Charge(ctx context.Context, charge utility.Charge) (*utility.Payment, error) {
	return b.ask(ctx, func(ctx context.Context) (*utility.Payment, error) { return b.PaymentClient.Charge(ctx, charge) })
}

// Refund implements PaymentClient.
func (b boundedPayments) Refund(ctx context.Context, refund utility.Refund) (*utility.Payment, error) {
	return b.ask(ctx, func(ctx context.Context) (*utility.Payment, error) { return b.PaymentClient.Refund(ctx, refund) })
}

// Payment implements PaymentClient.
func (b boundedPayments) Payment(ctx context.Context, id string) (*utility.Payment, error) {
	return b.ask(ctx, func(ctx context.Context) (*utility.Payment, error) { return b.PaymentClient.Payment(ctx, id) })
}

// ask asks the account within the limit.
func (b boundedPayments) ask(
	ctx context.Context, do func(ctx context.Context) (*utility.Payment, error),
) (payment *utility.Payment, err error) {
	within, limit := b.limit.begin(ctx)
	defer func() { err = b.limit.end(ctx, limit, err) }()
	return do(within)
}

// boundedDoer sends the requests of live chats, each within a limit from Do to the end of the answer's body.
type boundedDoer struct {
	outbound.Doer

	limit callLimit
}

// Do implements outbound.Doer.
func (b boundedDoer) Do(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	within, limit := b.limit.begin(ctx)
	response, err := b.Doer.Do(request.WithContext(within))
	if err != nil {
		return response, b.limit.end(ctx, limit, err)
	}
	response.Body = boundedBody{response.Body, b.limit, ctx, limit}
	return response, nil
}

// chatHTTP returns what sends the requests of live chats.
func (c Config) chatHTTP() outbound.Doer {
	if c.MaxSend < 0 {
		return c.HTTP
	}
	return boundedDoer{c.HTTP, c.callLimit("the address that live chats ask")}
}

// boundedBody is the body of an answer that comes within a limit.
type boundedBody struct {
	io.ReadCloser

	call  callLimit
	ctx   context.Context //nolint:containedctx // That of the request, whose answer this is.
	limit *timelimit.Limit
}

// Unwrap returns the body within, which package outbound looks for: it takes part in a bound on memory.
func (b boundedBody) Unwrap() io.ReadCloser { return b.ReadCloser }

// Read implements io.Reader.
func (b boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // Only io.EOF itself is the end.
		err = b.call.end(b.ctx, b.limit, err)
	}
	return n, err
}

// Close implements io.Closer.
func (b boundedBody) Close() error {
	_ = b.limit.End(nil)
	return b.ReadCloser.Close()
}
