// Package graph has the common parts of the connectors to platforms with the Graph API: calls and their errors,
// downloads of files, and the webhook with its check and its signature.
package graph

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/outbound"
)

// DefaultURL is the public address of the API, with its version.
const DefaultURL = "https://graph.facebook.com/v23.0"

const (
	// maxReplySize is the maximum size of a response in bytes.
	maxReplySize = 4 << 20
	// fileTime is the time limit for fetching a file.
	fileTime = time.Minute
)

// Config configures a Client.
type Config struct {
	// URL is the address of the API with its version. "" means DefaultURL.
	URL string
	// HTTP sends the requests. nil means a client with its own connections. If a channel's info has the address, that
	// client reaches only public addresses.
	HTTP *http.Client
	// Timeout is the time limit of one call. 0 means 10 seconds.
	Timeout time.Duration
	// MaxFileBytes is the maximum size of a fetched file. 0 means 25 MiB.
	MaxFileBytes int64
	// FileHosts are the host names from which the platform serves files. Their subdomains are included.
	FileHosts []string
	// Meanings are the meanings of the platform's error codes, in addition to the API's own meanings.
	Meanings Meanings
}

// Client calls the API. It is safe for concurrent use. It never repeats a request, because the API has no
// idempotency keys.
type Client struct {
	base *url.URL
	// own sends the requests to base. others sends the requests to addresses in channels' info.
	own, others exchange
	hosts       []string
	meanings    Meanings
}

// exchange has the clients for calls and for files.
type exchange struct{ calls, files *http.Client }

// NewClient returns a client, or InvalidArgument if a field of c is invalid.
func NewClient(c Config) (*Client, error) {
	err := cmp.Or(
		bounded.Default("Timeout", &c.Timeout, 10*time.Second), bounded.Default("MaxFileBytes", &c.MaxFileBytes, 25<<20),
		bounded.DefaultURL("APIURL", &c.URL, DefaultURL),
	)
	if err != nil {
		return nil, err
	}
	base, _ := bounded.ParseBase(c.URL)
	own, others := c.HTTP, c.HTTP
	if c.HTTP == nil {
		own = &http.Client{Transport: outbound.HostTransport()}
		others = &http.Client{Transport: outbound.GuardedTransport(outbound.AllowList{})}
	}
	limited := func(given *http.Client) exchange {
		return exchange{
			calls: bounded.Client(given, bounded.Limits{Time: c.Timeout, MaxBytes: maxReplySize}),
			files: bounded.Client(given, bounded.Limits{Time: fileTime, MaxBytes: c.MaxFileBytes}),
		}
	}
	return &Client{base: base, own: limited(own), others: limited(others), hosts: c.FileHosts, meanings: c.Meanings}, nil
}

// Credentials authenticate the API calls of a channel.
type Credentials struct {
	// Token is the access token. Calls without a token are refused.
	Token channel.Secret
	// AppSecret is the secret of the token's application. If it is set, each call includes a proof of it, which
	// applications can require.
	AppSecret channel.Secret
	// URL is the address of the API for this channel. The default is the client's.
	URL string
}

// proof returns the proof that the caller knows the application's secret: an HMAC of the token.
func (c Credentials) proof() string {
	secret := c.AppSecret.Reveal()
	if secret == "" {
		return ""
	}
	return hex.EncodeToString(inbound.MAC(secret, c.Token.Reveal(), nil))
}

func (c Credentials) secrets() []string {
	return []string{c.Token.Reveal(), c.AppSecret.Reveal(), c.proof()}
}

// Request is a call of the API.
type Request struct {
	// Method is the HTTP method. Path has the segments of the path below the address of the API.
	Method string
	Path   []string
	Query  url.Values
	// Body is sent as JSON unless it is the zero Object.
	Body document.Object
	// Form is sent instead of Body, with its own Content-Type.
	Form            []byte
	FormContentType string
}

// Call makes a call and returns the object in the response. The error of a refusal has the code of its Meaning.
// An error without a code means that there was no readable response, so the call may have had an effect. No
// error contains credentials. If ctx ends, Call returns its error.
func (c *Client) Call(ctx context.Context, as Credentials, r Request) (document.Object, error) {
	base, err := c.baseOf(as)
	if err != nil {
		return document.Object{}, err
	}
	address, err := bounded.Address(base.String(), r.Path...)
	if err != nil {
		return document.Object{}, err
	}
	query := url.Values{}
	maps.Copy(query, r.Query)
	if proof := as.proof(); proof != "" {
		query.Set("appsecret_proof", proof)
	}
	answer, err := calls.Do(ctx, c.exchangeFor(as).calls, calls.Request{
		Method: r.Method, URL: address, Query: query, Header: calls.Authorized("Bearer", as.Token.Reveal()),
		JSON: r.Body, Body: r.Form, BodyType: r.FormContentType, Secrets: as.secrets(),
	}, maxReplySize)
	if err != nil {
		return document.Object{}, err
	}
	if refused := readProblem(answer.Status, answer.Header, answer.Body); refused != nil {
		return document.Object{}, c.meanings.errorOf(refused, as)
	}
	if reply := answer.Object(); !reply.IsZero() {
		return reply, nil
	}
	return document.Object{}, calls.ErrUnreadable
}

// baseOf returns the address of the API for a channel.
func (c *Client) baseOf(as Credentials) (*url.URL, error) {
	if as.URL == "" {
		return c.base, nil
	}
	base, isBase := bounded.ParseBase(as.URL)
	if !isBase {
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"the address of the API in the channel's info is not an HTTP or HTTPS address; give one such as %s", DefaultURL)
	}
	return base, nil
}

func (c *Client) exchangeFor(as Credentials) exchange {
	if as.URL == "" {
		return c.own
	}
	return c.others
}

// Open fetches a file of the platform, with the token if there is one. It returns InvalidArgument, without sending a
// request, if the address is not the platform's, and NotFound if the file does not exist or no longer exists. Callers
// must close the file. Reading beyond the maximum size fails.
func (c *Client) Open(ctx context.Context, as Credentials, address string) (io.ReadCloser, error) {
	base, err := c.baseOf(as)
	if err != nil {
		return nil, err
	}
	parsed, err := url.Parse(address)
	if err != nil || !c.isOwn(parsed, base) {
		return nil, boterr.Invalid("url", "is not an address of the platform's files; fetch it as any other address")
	}
	var header http.Header
	if token := as.Token.Reveal(); token != "" {
		header = calls.Authorized("Bearer", token)
	}
	answer, err := calls.Open(ctx, c.exchangeFor(as).files, calls.Request{
		Method: http.MethodGet, URL: parsed.String(), Header: header, Secrets: as.secrets(),
	})
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode == http.StatusOK:
		return answer.Body, nil
	}
	_ = answer.Body.Close() // The body is not needed.
	switch {
	case answer.StatusCode == http.StatusNotFound, answer.StatusCode == http.StatusGone:
		return nil, boterr.New(boterr.NotFound, "url", "the platform does not have the file, or no longer has it")
	case answer.StatusCode >= http.StatusInternalServerError:
		return nil, errors.New("the platform could not return the file")
	default:
		return nil, boterr.New(boterr.FailedPrecondition, "url",
			"the platform does not give the file (status %d); its address may have expired", answer.StatusCode)
	}
}

// isOwn reports whether an address belongs to the API or to the platform's file hosts.
func (c *Client) isOwn(address, base *url.URL) bool {
	if address.User != nil {
		return false
	}
	if address.Scheme == base.Scheme && strings.EqualFold(address.Host, base.Host) {
		return true
	}
	if address.Scheme != "https" || address.Port() != "" && address.Port() != "443" {
		return false
	}
	name := "." + strings.ToLower(address.Hostname())
	for _, host := range c.hosts {
		if strings.HasSuffix(name, "."+host) {
			return true
		}
	}
	return false
}
