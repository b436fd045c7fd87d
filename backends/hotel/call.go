package hotel

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/calls"
)

// plainGet fetches a JSON object without a token.
func (c *Connector) plainGet(ctx context.Context, address string) (document.Object, error) {
	answer, err := calls.Do(ctx, c.calls, calls.Request{Method: http.MethodGet, URL: address}, maxReplyBytes)
	switch object := answer.Object(); {
	case err != nil:
		return document.Object{}, err
	case answer.Status != http.StatusOK:
		return document.Object{}, failed(answer.Status)
	case object.IsZero():
		return document.Object{}, calls.ErrUnreadable
	default:
		return object, nil
	}
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
	sent := calls.Request{Method: r.method, URL: address, Query: r.query, JSON: r.body}
	for attempt := 0; ; attempt++ {
		token, err := c.tokens.of(ctx, of, r.part)
		if err != nil {
			return document.Object{}, err
		}
		sent.Header, sent.Secrets = calls.Authorized(bearer, token), []string{token}
		answer, err := calls.Do(ctx, c.calls, sent, maxReplyBytes)
		switch {
		case err != nil:
			return document.Object{}, err
		case answer.Status == http.StatusUnauthorized && attempt == 0:
			c.tokens.forget(of, r.part, token)
		case answer.Status >= http.StatusOK && answer.Status < http.StatusMultipleChoices:
			return answer.Object(), nil
		default:
			return document.Object{}, c.problemOf(of, token, answer)
		}
	}
}

// problemOf returns the error for a refused request. It removes the bot's credentials and the token.
func (c *Connector) problemOf(of bot, token string, refused calls.Answer) error {
	return readProblem(refused).err(refused.Header, c.config.Now(), func(text string) string { return of.redact(text, token) })
}

// address returns the address of a request.
func (c *Connector) address(of bot, r request) (string, error) {
	base := of.service
	if r.part == scopeGraph {
		base = c.config.GraphURL
	}
	return bounded.Address(base, r.path...)
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
	token, sent := "", calls.Request{Method: http.MethodGet, URL: address}
	switch {
	case c.isService(origin):
		if token, err = c.tokens.of(ctx, of, scopeService); err != nil {
			return nil, err
		}
		sent.Header, sent.Secrets = calls.Authorized(bearer, token), []string{token}
	case parsed.Scheme != "https" || !isUnder(strings.ToLower(parsed.Host), fileHost):
		return nil, errForeign
	}
	resp, err := calls.Open(ctx, c.files, sent)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()                                //nolint:errcheck // The body is an error.
	body, _ := bounded.ReadAll(resp.Body, maxProblemBytes) // The start is enough for the error.
	return nil, c.problemOf(of, token, calls.Answer{Status: resp.StatusCode, Header: resp.Header, Body: body})
}

var errForeign = boterr.Invalid("", "is not an address of the platform: give payload.url of an attachment in a member's event")
