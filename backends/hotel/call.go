package hotel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/inbound"
)

// exchange is an HTTP request.
type exchange struct {
	method, url, token string
	body               []byte
	mediaType          string
}

// answer is the answer to an HTTP request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// object parses the body. It returns the zero Object if the body is not a JSON object.
func (a answer) object() document.Object {
	var object document.Object
	if object.UnmarshalJSON(a.body) != nil {
		return document.Object{}
	}
	return object
}

// exchange makes one request. Its errors have no code and do not contain the address.
func (c *Connector) exchange(ctx context.Context, x exchange) (answer, error) {
	resp, err := c.open(ctx, c.calls, x)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // The body has been read.
	body, err := bounded.ReadAll(resp.Body, maxReplyBytes)
	if err != nil {
		return answer{}, unanswered(ctx, err, x.token)
	}
	return answer{resp.StatusCode, resp.Header, body}, nil
}

// open makes a request. Callers must close the body of the response.
func (c *Connector) open(ctx context.Context, client *http.Client, x exchange) (*http.Response, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var body io.Reader
	if x.body != nil {
		body = bytes.NewReader(x.body)
	}
	req, err := http.NewRequestWithContext(ctx, x.method, x.url, body)
	if err != nil {
		return nil, errors.New("the address of a request is malformed; check the addresses in the connector's Config")
	}
	if x.mediaType != "" {
		req.Header.Set("Content-Type", x.mediaType)
	}
	if x.token != "" {
		req.Header.Set("Authorization", bearerPrefix+x.token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, unanswered(ctx, err, x.token)
	}
	return resp, nil
}

// unanswered returns the error for an unanswered request. It contains neither the address nor the token. If the
// caller's context has ended, the error is the context's error. If only the request's time limit has passed, the
// error has another text and does not wrap context.DeadlineExceeded.
func unanswered(ctx context.Context, err error, token string) error {
	err = bounded.Unanswered(ctx, err, token)
	switch {
	case ctx.Err() != nil, boterr.HasCode(err):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("the platform did not answer in time")
	default:
		return fmt.Errorf("the platform did not answer: %w", err)
	}
}

// plainGet fetches a JSON object without a token.
func (c *Connector) plainGet(ctx context.Context, address string) (document.Object, error) {
	answer, err := c.exchange(ctx, exchange{method: http.MethodGet, url: address})
	switch {
	case err != nil:
		return document.Object{}, err
	case answer.status != http.StatusOK:
		return document.Object{}, failed(answer.status)
	case answer.object().IsZero():
		return document.Object{}, inbound.ErrUnreadable
	}
	return answer.object(), nil
}

// request is a call to the platform's API for a bot.
type request struct {
	method string
	// part is the API. path has the segments after the API's address.
	part  scope
	path  []string
	query url.Values
	// body is sent as JSON, unless it is zero.
	body document.Object
}

// call makes a request with the bot's token. It returns the object in the answer, or the zero Object if there
// is none. If the platform refuses the token, call tries once more with a new one. This is safe because a
// refused request has no effect.
func (c *Connector) call(ctx context.Context, of bot, r request) (document.Object, error) {
	address, err := c.address(of, r)
	if err != nil {
		return document.Object{}, err
	}
	x := exchange{method: r.method, url: address}
	if !r.body.IsZero() {
		text, err := document.AppendJSON(nil, r.body)
		if err != nil {
			return document.Object{}, boterr.Invalid("", "cannot be written as JSON: %w", err)
		}
		x.body, x.mediaType = text, "application/json"
	}
	for attempt := 0; ; attempt++ {
		if x.token, err = c.tokens.of(ctx, of, r.part); err != nil {
			return document.Object{}, err
		}
		answer, err := c.exchange(ctx, x)
		switch {
		case err != nil:
			return document.Object{}, err
		case answer.status == http.StatusUnauthorized && attempt == 0:
			c.tokens.forget(of, r.part, x.token)
		case answer.status >= http.StatusOK && answer.status < http.StatusMultipleChoices:
			return answer.object(), nil
		default:
			return document.Object{}, c.problemOf(of, x.token, answer)
		}
	}
}

// problemOf returns the error for a refused request. It removes the bot's credentials and the token.
func (c *Connector) problemOf(of bot, token string, refused answer) error {
	return readProblem(refused.status, refused.body).err(refused.header, c.config.Now(), func(text string) string {
		return of.redact(text, token)
	})
}

// address returns the address of a request.
func (c *Connector) address(of bot, r request) (string, error) {
	base := of.service
	if r.part == scopeGraph {
		base = c.config.GraphURL
	}
	address, err := bounded.Address(base, r.path...)
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	return address, err
}

// fileHost is the domain of the files that members share. Their addresses are valid for a short time and need no
// token.
const fileHost = ".sharepoint.com"

// Open fetches a file that a member sent. The address is attachments[0].payload.url in the data of the event.
// The bot's token is only sent to the platform's service addresses. Callers must close the file; reading fails
// after Config.MaxFileBytes. InvalidArgument: the address does not belong to the platform. NotFound: the file no
// longer exists.
func (c *Connector) Open(ctx context.Context, in *channel.Channel, address string) (io.ReadCloser, error) {
	of, err := c.botOf(in)
	if err != nil {
		return nil, err
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.User != nil {
		return nil, errForeign
	}
	origin := parsed.Scheme + "://" + parsed.Host
	x := exchange{method: http.MethodGet, url: address}
	switch {
	case c.isService(origin):
		if x.token, err = c.tokens.of(ctx, of, scopeService); err != nil {
			return nil, err
		}
	case parsed.Scheme != "https" || !isUnder(strings.ToLower(parsed.Host), fileHost):
		return nil, errForeign
	}
	resp, err := c.open(ctx, c.files, x)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()                                //nolint:errcheck // The body is an error.
	body, _ := bounded.ReadAll(resp.Body, maxProblemBytes) // The start is enough for the error.
	return nil, c.problemOf(of, x.token, answer{resp.StatusCode, resp.Header, body})
}

var errForeign = boterr.Invalid("", "is not an address of the platform: give payload.url of an attachment in a member's event")
