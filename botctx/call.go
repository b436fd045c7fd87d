package botctx

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
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
	// Call runs the operation of that name with a JSON object of its parameters, and
	// returns the JSON of its result.
	Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error)
}

// Call runs any operation by its name in the specification, such as "getMember", with a JSON object of its
// parameters, and returns the JSON in the specification's form. Empty args mean an object without fields. A
// host uses it to serve another language or a network protocol.
//
// An unknown operation is InvalidArgument. An unknown parameter is ignored, or InvalidArgument if the Runtime
// is strict. If an operation returns results together with an error, so does Call.
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
	result, err = document.AppendJSON(nil, value)
	if err != nil { // The operation has done its work, so its result must not be lost.
		result, err = document.AppendJSON(nil, asJSON(value))
	}
	return result, cmp.Or(failed, boterr.Wrap(name, err))
}

// CallValue is Call with document values instead of JSON, so that times and 64-bit integers keep their types.
// args is the object of parameters; the zero Object means none. A parameter that is a time in milliseconds
// may be a time.Time.
//
// The result is the value that Call returns as JSON, or document.Missing if there is none.
func (c *Context) CallValue(ctx context.Context, name string, args document.Object) (result any, err error) {
	defer func() { err = boterr.Wrap(name, err) }()
	at, exists := positionOf[Op(name)]
	if !exists {
		return document.Missing, noOperation(Op(name))
	}
	return operations[at].call(ctx, c, args)
}

const noOperationOfThisName = "there is no operation of this name; names are those of the specification"

// noOperation returns the error for an unknown operation.
func noOperation(op Op) error {
	near := nearest.To(string(op), opNames())
	if near == "" {
		return boterr.Wrap(string(op), boterr.Invalid("", noOperationOfThisName))
	}
	return boterr.Wrap(string(op), boterr.Invalid("", noOperationOfThisName+"; did you mean %q?", near))
}

func opNames() []string {
	var names []string
	for _, op := range Ops() {
		names = append(names, string(op))
	}
	return names
}

// operation is an operation by its name, called with the fields of its params.
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

// called returns a function that decodes the arguments, calls an operation and encodes its result.
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

// forCaller is a result with a credential that the caller asked for. Logs, transcripts and
// recordings show it redacted.
type forCaller interface {
	// ForCaller returns the result with the credential.
	ForCaller() (document.Object, error)
}

// valueForCaller returns a result as a document value, in the form for callers of the operation.
func valueForCaller(result any) (any, error) {
	switch r := result.(type) {
	case forCaller:
		return r.ForCaller()
	case datasource.FetchResult: // The JSON form of these three results writes times as text.
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

// asJSON replaces numbers that JSON cannot represent with null, as JSON.stringify does.
func asJSON(value any) any {
	switch v := value.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case document.Object:
		return v.Shape().Object(func(i int) any { return asJSON(v.At(i)) })
	case document.Array:
		items := make([]any, 0, v.Len())
		for _, item := range v.All() {
			items = append(items, asJSON(item))
		}
		return document.ArrayOf(items)
	}
	return value
}

// FromCaller returns typed operations over a function that takes JSON; it is the reverse of Call. Errors come
// from that function. The JSON result of a send does not name its platform: to read a platform's own form,
// use send.Result.For.
func FromCaller(caller Caller) Operations { return fromCaller{caller} }

// fromCaller calls every operation by its name.
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
		"%s took longer than Config.MaxSend (%v), and whether it did what was asked is not known: "+
			"find out why it is slow, or raise the limit", service, c.MaxSend)
	return callLimit{&timelimit.Rule{Most: c.MaxSend, Over: over, IsPausable: true}}
}

// begin returns the ctx of a call. Callers must call end.
func (c callLimit) begin(ctx context.Context) (context.Context, *timelimit.Limit) {
	l := c.rule.Begin(ctx)
	return l, l
}

// end ends the limit of a call made for ctx, and returns the call's error. An error of the service itself, or
// the end of ctx, takes precedence over the time limit.
func (c callLimit) end(ctx context.Context, limit *timelimit.Limit, err error) error {
	late := limit.End(err)
	if ctx.Err() != nil || boterr.HasCode(err) && !mayBeLate(err) {
		return err
	}
	return late
}

// mayBeLate reports whether an error's code is one that services and their clients use for time-outs.
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

// boundedConnector is a connector whose calls have a time limit.
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

// boundedDoer sends the HTTP requests of live chats, each with a time limit that runs from Do to the end of
// the response body.
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
	return boundedDoer{c.HTTP, c.callLimit("the address that live chats ask")}
}

// boundedBody is a response body whose reading has a time limit.
type boundedBody struct {
	io.ReadCloser

	call  callLimit
	ctx   context.Context //nolint:containedctx // That of the request, whose answer this is.
	limit *timelimit.Limit
}

// Unwrap returns the inner body. Package outbound looks for it, because that body counts towards a memory
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

// HTTPStatus returns the status with which a handler answers a platform after Accept or Receive:
//
//	200  no error
//	400  InvalidArgument
//	404  NotFound
//	409  AlreadyExists, Conflict, FailedPrecondition
//	501  Unsupported
//	503  ResourceExhausted, Unavailable, Canceled: the platform should send it again later
//	500  any other error
//
// If bot logic itself failed, so that err has a *RunError as its cause, only Conflict, ResourceExhausted,
// Unavailable and Canceled have the statuses above, because another attempt may succeed. Other failures of
// bot logic are not the sender's fault, and are 500.
func HTTPStatus(err error) int { return httpAnswerTo(err).status }

// WriteHTTPError answers a platform with HTTPStatus of an error, a Retry-After header if that is 503, and a
// body with the code and its meaning to the sender. The body has no other part of the error:
//
//	{"error": {"code": "ResourceExhausted", "message": "..."}}
//
// Without an error, it answers with 200 and an empty object.
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

// retryAfter is the number of seconds after which a platform may send a refused event again.
const retryAfter = "1"

// httpAnswer is the answer to the sender for an error.
type httpAnswer struct {
	code    boterr.Code
	status  int
	message string
}

// httpAnswerTo returns the answer to the sender for an error.
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

// httpAnswers are the answers for each code but Internal.
func httpAnswers() []httpAnswer {
	return []httpAnswer{
		{boterr.InvalidArgument, http.StatusBadRequest, "the event is not one that the bot takes"},
		{boterr.NotFound, http.StatusNotFound, "what the event is about does not exist"},
		{boterr.AlreadyExists, http.StatusConflict, "what the event makes exists already"},
		{boterr.Conflict, http.StatusConflict, "another event was faster; try again"},
		{boterr.FailedPrecondition, http.StatusConflict, "the bot does not take events now"},
		{boterr.ResourceExhausted, http.StatusServiceUnavailable, "the bot takes no more for now; try again later"},
		{boterr.Unsupported, http.StatusNotImplemented, "the bot does not take such events"},
		{boterr.Unavailable, http.StatusServiceUnavailable, "the bot cannot answer for now; try again later"},
		{boterr.Canceled, http.StatusServiceUnavailable, "the bot cannot answer for now; try again later"},
	}
}

// mayPass reports whether another attempt may succeed after an error with this code.
func mayPass(code boterr.Code) bool {
	switch code {
	case boterr.Conflict, boterr.ResourceExhausted, boterr.Unavailable, boterr.Canceled:
		return true
	default:
		return false
	}
}
