package botctx

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/around"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Caller calls operations by name, with JSON in and JSON out. *Context implements it.
type Caller interface {
	// Call runs the operation of that name. args is a JSON object of its parameters. The result is JSON.
	Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error)
}

// Call runs the operation with a name of the specification, such as "getMember". args is a JSON object of
// parameters; empty args mean no parameters. The result is JSON, as the specification defines it. Hosts use
// Call to offer the operations in another language or over a network.
//
// Call returns InvalidArgument for an unknown operation. It ignores unknown parameters, or returns
// InvalidArgument for them if Config.Strict is set. If an operation returns results together with an error,
// Call returns both.
func (c *Context) Call(ctx context.Context, name string, args json.RawMessage) (result json.RawMessage, err error) {
	var given document.Object
	if len(args) > 0 {
		if err := given.UnmarshalJSON(args); err != nil {
			return nil, boterr.Wrap(name, err)
		}
	}
	value, failed := c.CallValue(ctx, name, given)
	if value == document.Missing {
		return nil, failed
	}
	result, err = document.EncodeLossyJSON(value) // The operation succeeded, so a number that JSON cannot represent is no error.
	return result, cmp.Or(failed, boterr.Wrap(name, err))
}

// CallValue is Call with document values instead of JSON, which keeps the types of times and 64-bit integers.
// args is an object of parameters; the zero Object means none. A time.Time may be given for a parameter in
// milliseconds. The result is document.Missing if the operation returns only an error.
func (c *Context) CallValue(ctx context.Context, name string, args document.Object) (result any, err error) {
	defer func() { err = boterr.Wrap(name, err) }()
	at, exists := positionOf[Op(name)]
	if !exists {
		return document.Missing, noOperation(Op(name))
	}
	return operations[at].call(ctx, c, args)
}

const noOperationOfThisName = "there is no operation with this name; use a name of the specification"

// noOperation returns the error for an unknown operation.
func noOperation(op Op) error {
	near := nearest.To(op, Ops())
	if near == "" {
		return boterr.Wrap(string(op), boterr.Invalid("", noOperationOfThisName))
	}
	return boterr.Wrap(string(op), boterr.Invalid("", noOperationOfThisName+"; did you mean %q?", near))
}

// operation is an operation with its name. call decodes args, calls the operation and encodes its result.
type operation struct {
	op   Op
	call func(ctx context.Context, c *Context, args document.Object) (any, error)
}

// Ops returns the names of all operations, in the order of the specification.
func Ops() []Op {
	ops := make([]Op, len(operations))
	for i := range operations {
		ops[i] = operations[i].op
	}
	return ops
}

var positionOf = func() map[Op]int {
	positions := make(map[Op]int, len(operations))
	for i := range operations {
		positions[operations[i].op] = i
	}
	return positions
}()

// Exists reports whether the specification has an operation of this name.
func (op Op) Exists() bool {
	_, exists := positionOf[op]
	return exists
}

// called returns the function operation.call for a method.
func called[P, R any](
	op Op, method func(c *Context, ctx context.Context, params P) (R, error),
) func(ctx context.Context, c *Context, args document.Object) (any, error) {
	return func(ctx context.Context, c *Context, args document.Object) (any, error) {
		var params P
		if err := c.runtime.decode(args, &params); err != nil {
			return document.Missing, boterr.Wrap(string(op), err)
		}
		result, failed := method(c, ctx, params)
		if failed != nil {
			if kept, ok := any(result).(outcomes); !ok || !kept.HasOutcomes() {
				return document.Missing, failed
			}
		}
		value, err := valueForCaller(result)
		if err != nil {
			value = document.Missing
			failed = cmp.Or(failed, boterr.Wrap(string(op), boterr.New(boterr.Internal, "", "the result cannot be encoded: %w", err)))
		}
		return value, failed
	}
}

// forCaller is a result that contains a credential for the caller. Other encodings of the result, such as in
// logs, transcripts and recordings, redact the credential.
type forCaller interface {
	// ForCaller returns the result with the credential.
	ForCaller() (document.Object, error)
}

// valueForCaller encodes a result for the caller of an operation.
func valueForCaller(result any) (any, error) {
	switch r := result.(type) {
	case forCaller:
		return r.ForCaller()
	case datasource.FetchResult: // Like the next two, encoded without MarshalJSON, which would turn times into text.
		return encoded(r)
	case datasource.FetchDistinctResult:
		return encoded(r)
	case datasource.FetchGeoNearResult:
		return encoded(r)
	default:
		return document.ValueOf(result)
	}
}

func encoded(r document.ValueEncoder) (any, error) {
	value, err := r.EncodeValue()
	if err != nil {
		return nil, err
	}
	return document.ValueOf(value)
}

// FromCaller returns typed operations that make JSON calls; it is the inverse of Call. The JSON result of a send
// does not name its platform: use send.Result.For to read the platform's own form.
func FromCaller(caller Caller) Operations { return fromCaller{caller} }

type fromCaller struct{ caller Caller }

// callByName encodes the params, calls an operation and decodes its result.
func callByName[R any](ctx context.Context, caller Caller, op Op, params any) (R, error) {
	var result R
	args, err := document.EncodeJSON(params)
	if err != nil {
		return result, boterr.Wrap(string(op), err)
	}
	text, failed := caller.Call(ctx, string(op), args)
	if len(text) > 0 {
		if err := document.DecodeJSON(text, &result); err != nil && failed == nil {
			failed = boterr.New(boterr.Internal, "", "the result cannot be read: %w", err)
		}
	}
	return result, boterr.Wrap(string(op), failed)
}

// callLimit limits each call of an external service to Config.MaxSend.
type callLimit struct{ rule *timelimit.Rule }

// callLimit returns the time limit for calls of a service, such as "the mail service".
func (c Config) callLimit(service string) callLimit {
	over := boterr.New(boterr.Unavailable, "",
		"%s took longer than Config.MaxSend (%v), so the request may or may not have succeeded: "+
			"find out why it is slow, or raise the limit", service, c.MaxSend)
	return callLimit{&timelimit.Rule{Most: c.MaxSend, Over: over, IsPausable: true}}
}

// begin returns the ctx of a call. Callers must call end.
func (c callLimit) begin(ctx context.Context) (context.Context, *timelimit.Limit) {
	l := c.rule.Begin(ctx)
	return l, l
}

// end ends the limit of a call made for ctx, and returns the call's error. If the call took too long, end returns the
// limit's error, unless ctx ended or the service returned an error with a code that excludes a time-out.
func (c callLimit) end(ctx context.Context, limit *timelimit.Limit, err error) error {
	late := limit.End(err)
	if ctx.Err() != nil || boterr.HasCode(err) && !mayBeLate(err) {
		return err
	}
	return late
}

// mayBeLate reports whether an error has a code that services return for time-outs.
func mayBeLate(err error) bool {
	code := boterr.CodeOf(err)
	return code == boterr.Canceled || code == boterr.Unavailable
}

// call calls do within the limit.
func (c callLimit) call(ctx context.Context, do func(ctx context.Context) error) (err error) {
	within, limit := c.begin(ctx)
	defer func() { err = c.end(ctx, limit, err) }()
	return do(within)
}

// boundedConnector is a connector with a time limit for each call.
type boundedConnector struct {
	send.Connector

	limit callLimit
}

var _ send.PortWrapper = boundedConnector{}

// boundedConnectors returns the connectors with Config.MaxSend as the time limit of each call.
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

func (b boundedConnector) Unwrap() send.Connector { return b.Connector }

func (b boundedConnector) WrapPort(wanted, inner any) any {
	return around.Port(wanted, inner, func(
		ctx context.Context, _ string, _ *channel.Channel, do func(ctx context.Context) error,
	) error {
		return b.limit.call(ctx, do)
	})
}

func (b boundedConnector) Send(ctx context.Context, message send.Message) (delivery send.Delivery, err error) {
	within, limit := b.limit.begin(ctx)
	defer func() { err = b.limit.end(ctx, limit, err) }()
	return b.Connector.Send(within, message)
}

// boundedMailer is a mailer with a time limit for each mail.
type boundedMailer struct {
	utility.Mailer

	limit callLimit
}

func (b boundedMailer) SendMail(ctx context.Context, mail utility.Mail) error {
	return b.limit.call(ctx, func(ctx context.Context) error { return b.Mailer.SendMail(ctx, mail) })
}

// boundedPayments is a payment client with a time limit for each request.
type boundedPayments struct {
	utility.PaymentClient

	limit callLimit
}

// bounded returns a payment client with Config.MaxSend as the time limit of each request.
func (c Config) bounded(client utility.PaymentClient) utility.PaymentClient {
	if c.MaxSend < 0 {
		return client
	}
	return boundedPayments{client, c.callLimit("the payment account")}
}

func (b boundedPayments) Charge(ctx context.Context, charge utility.Charge) (*utility.Payment, error) {
	return b.ask(ctx, func(ctx context.Context) (*utility.Payment, error) { return b.PaymentClient.Charge(ctx, charge) })
}

func (b boundedPayments) Refund(ctx context.Context, refund utility.Refund) (*utility.Payment, error) {
	return b.ask(ctx, func(ctx context.Context) (*utility.Payment, error) { return b.PaymentClient.Refund(ctx, refund) })
}

func (b boundedPayments) Payment(ctx context.Context, id string) (*utility.Payment, error) {
	return b.ask(ctx, func(ctx context.Context) (*utility.Payment, error) { return b.PaymentClient.Payment(ctx, id) })
}

// ask makes a request to the account within the limit.
func (b boundedPayments) ask(
	ctx context.Context, do func(ctx context.Context) (*utility.Payment, error),
) (payment *utility.Payment, err error) {
	within, limit := b.limit.begin(ctx)
	defer func() { err = b.limit.end(ctx, limit, err) }()
	return do(within)
}

// boundedDoer is an HTTP client with a time limit for each request, from Do to the end of the response body.
type boundedDoer struct {
	outbound.Doer

	limit callLimit
}

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

// chatHTTP returns the HTTP client for live chats.
func (c Config) chatHTTP() outbound.Doer {
	if c.MaxSend < 0 {
		return c.HTTP
	}
	return boundedDoer{c.HTTP, c.callLimit("the live-chat API")}
}

// boundedBody is a response body with a time limit for reading it.
type boundedBody struct {
	io.ReadCloser

	call  callLimit
	ctx   context.Context //nolint:containedctx // The context of the request.
	limit *timelimit.Limit
}

// Unwrap returns the inner body. Package outbound uses it to find its own body, which counts towards a memory
// limit.
func (b boundedBody) Unwrap() io.ReadCloser { return b.ReadCloser }

func (b boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // Only io.EOF itself is the end.
		err = b.call.end(b.ctx, b.limit, err)
	}
	return n, err
}

func (b boundedBody) Close() error {
	_ = b.limit.End(nil)
	return b.ReadCloser.Close()
}

// HTTPStatus returns the HTTP status for a platform after Accept or Receive returned err:
//
//	200  no error
//	400  InvalidArgument
//	404  NotFound
//	409  AlreadyExists, Conflict, FailedPrecondition
//	501  Unsupported
//	503  ResourceExhausted, Unavailable, Canceled: the platform should send it again later
//	500  any other error
//
// If bot logic failed, so that err wraps a *RunError, only Conflict, ResourceExhausted, Unavailable and Canceled
// have these statuses, because another attempt may succeed. Other failures of bot logic are not the sender's
// fault and give 500.
func HTTPStatus(err error) int { return httpAnswerTo(err).status }

// WriteHTTPError writes a response with the HTTPStatus of err. If the status is 503, it adds a Retry-After header.
// The body contains the code of err and a general message, and no other details of err:
//
//	{"error": {"code": "ResourceExhausted", "message": "..."}}
//
// If err is nil, the status is 200 and the body is an empty object.
func WriteHTTPError(w http.ResponseWriter, err error) {
	answer := httpAnswerTo(err)
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if answer.status == http.StatusServiceUnavailable {
		header.Set("Retry-After", retryAfter)
	}
	w.WriteHeader(answer.status)
	told := map[string]map[string]string{}
	if err != nil {
		told["error"] = map[string]string{"code": string(answer.code), "message": answer.message}
	}
	_ = json.NewEncoder(w).Encode(told) //nolint:errchkjson // These are strings; a client that is gone needs no answer.
}

// retryAfter is the value of the Retry-After header, in seconds.
const retryAfter = "1"

// httpAnswer is the HTTP response for errors with a code.
type httpAnswer struct {
	code    boterr.Code
	status  int
	message string
}

func httpAnswerTo(err error) httpAnswer {
	if err == nil {
		return httpAnswer{status: http.StatusOK}
	}
	code := boterr.CodeOf(err)
	if _, isRun := errors.AsType[*RunError](err); isRun && !mayPass(code) {
		code = boterr.Internal
	}
	for _, answer := range httpAnswers() {
		if answer.code == code {
			return answer
		}
	}
	return httpAnswer{boterr.Internal, http.StatusInternalServerError, "the bot failed"}
}

// httpAnswers returns the responses for all codes except Internal.
func httpAnswers() []httpAnswer {
	return []httpAnswer{
		{boterr.InvalidArgument, http.StatusBadRequest, "the event is invalid"},
		{boterr.NotFound, http.StatusNotFound, "the event refers to a record that does not exist"},
		{boterr.AlreadyExists, http.StatusConflict, "the event would create a record that already exists"},
		{boterr.Conflict, http.StatusConflict, "another event changed the same record; try again"},
		{boterr.FailedPrecondition, http.StatusConflict, "the bot cannot handle the event in its current state"},
		{boterr.ResourceExhausted, http.StatusServiceUnavailable, "the bot is overloaded; try again later"},
		{boterr.Unsupported, http.StatusNotImplemented, "the bot does not support the event"},
		{boterr.Unavailable, http.StatusServiceUnavailable, "the bot is temporarily unavailable; try again later"},
		{boterr.Canceled, http.StatusServiceUnavailable, "the bot is temporarily unavailable; try again later"},
	}
}

// mayPass reports whether a later attempt may succeed after an error with this code.
func mayPass(code boterr.Code) bool {
	switch code {
	case boterr.Conflict, boterr.ResourceExhausted, boterr.Unavailable, boterr.Canceled:
		return true
	default:
		return false
	}
}
