// Package outbound is the HTTP client for URLs that come from scripts: for requests of bot logic, uploaded
// files and group icons.
//
//   - To fetch a URL, use Fetch of botctx.Context in bot logic, and [Fetch] with a [Client] elsewhere.
//   - To read the answer, use [Response.OK], [Response.Get] and [Response.Text].
//   - To allow an address of your own network, add it to Allow of [Config].
//
// A script's URL must not give access to the host's own network. A Client refuses every address that is not public:
// loopback, private, link-local (where clouds keep their metadata), and all other special-purpose blocks, in every
// notation and embedding. There are three checks in sequence:
//
//   - CheckURL looks at the URL itself: its scheme, its form, and its host if that is an address.
//   - The dialer resolves a name once, checks every address in the answer, and connects only to those addresses.
//     It does not resolve the name again before it connects, so a changed DNS record cannot bypass the check.
//   - Redirects must pass both checks.
//
// A Client ignores proxy settings of the environment. Bodies, redirects and time have limits. A host application can
// allow other addresses by name, address or prefix in Config.Allow.
package outbound

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/fair"
)

// Doer sends a request and returns the response. In production, use a *Client. An *http.Client also
// implements Doer, without any of the checks; package fakes/web has one that answers from registered replies.
type Doer interface {
	// Do sends the request. If the error is nil, the caller closes the body of the response.
	Do(req *http.Request) (*http.Response, error)
}

var (
	_ Doer = (*Client)(nil)
	_ Doer = (*http.Client)(nil)
)

// The defaults of a zero Config.
const (
	DefaultMaxResponseBytes = 25 << 20
	DefaultMaxBufferedBytes = 256 << 20
	DefaultMaxRequestBytes  = 25 << 20
	DefaultMaxRedirects     = 5
	DefaultTimeout          = 30 * time.Second
	DefaultMaxConnsPerHost  = 256
)

// Config configures a Client. Its zero value is useful and safe: public addresses only, and the default
// limits.
type Config struct {
	// Allow lists hosts and addresses that may be reached although they are not public, in the notation of
	// ParseAllowList. Redirects from any host may also lead there.
	Allow []string
	// MaxResponseBytes limits the body of a response after decompression. 0 means DefaultMaxResponseBytes.
	MaxResponseBytes int64
	// MaxBufferedBytes limits the memory for concurrent responses of Fetch, over all apps. Responses up to 256 kB are
	// free. A longer response counts as MaxResponseBytes, whatever its length, until its Owner is released (in bot
	// logic, at the end of the run). While the memory is in use, it waits, but not longer than Timeout. An app gets
	// at most half of the memory that other apps leave, so that it cannot block them. The garbage collector may need
	// as much again. 0 means DefaultMaxBufferedBytes, or MaxResponseBytes if that is more. Responses of Do are
	// streamed and do not count.
	MaxBufferedBytes int64
	// MaxRequestBytes limits the body of a request. 0 means
	// DefaultMaxRequestBytes.
	MaxRequestBytes int64
	// MaxRedirects is the largest number of redirects that a request may follow. nil means
	// DefaultMaxRedirects, and new(0) none.
	MaxRedirects *int
	// Timeout limits the time from Do to the last byte of the response's body.
	// 0 means DefaultTimeout. The context of a request may end it earlier.
	Timeout time.Duration
	// MaxConnsPerHost limits the connections to one host. Connections are kept for later requests; requests
	// beyond the limit wait within their Timeout. 0 means DefaultMaxConnsPerHost. It does not apply to
	// Transport.
	MaxConnsPerHost int

	// Resolver looks names up. nil means net.DefaultResolver.
	Resolver Resolver
	// Dial connects to an address that has been checked. It gets no name, so that nothing is resolved after
	// the check. nil means a TCP connection.
	Dial func(ctx context.Context, address netip.AddrPort) (net.Conn, error)
	// Logger logs the names that are refused, with the kind of their address, which errors do not show. nil means
	// slog.Default.
	Logger *slog.Logger
	// TLS configures https, for example with a company's certificate authorities. nil means the defaults of
	// crypto/tls.
	TLS *tls.Config

	// Transport replaces the network, as package fakes/web does. URLs, redirects, headers and limits are still
	// checked, but the transport must check the addresses of names itself. Outside tests, use it only with a
	// filtering proxy. It excludes Resolver, Dial and TLS.
	Transport http.RoundTripper
}

// Client is an HTTP client for URLs that come from scripts. It is safe for concurrent use. New returns one;
// the zero Client refuses every request.
type Client struct {
	http  *http.Client
	allow AllowList
	// buffers is the memory for long responses, divided into places for one response each.
	buffers          *fair.Places
	maxResponseBytes int64
	maxRequestBytes  int64
	maxRedirects     int
	timeout          time.Duration
}

// New returns a client. It returns InvalidArgument if a limit is negative, an entry of Allow is malformed, Resolver
// or Transport is a nil pointer, or Transport is combined with a field that it excludes.
func New(config Config) (*Client, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	if err := absent.Check("resolver", config.Resolver); err != nil {
		return nil, err
	}
	if err := absent.Check("transport", config.Transport); err != nil {
		return nil, err
	}
	allow, err := ParseAllowList(config.Allow...)
	if err != nil {
		return nil, err
	}
	c := &Client{
		allow:            allow,
		maxResponseBytes: min(cmp.Or(config.MaxResponseBytes, DefaultMaxResponseBytes), math.MaxInt64-1), // One more byte is read.
		maxRequestBytes:  cmp.Or(config.MaxRequestBytes, DefaultMaxRequestBytes),
		maxRedirects:     DefaultMaxRedirects,
		timeout:          cmp.Or(config.Timeout, DefaultTimeout),
	}
	buffered := cmp.Or(config.MaxBufferedBytes, max(DefaultMaxBufferedBytes, c.maxResponseBytes))
	c.buffers = fair.NewPlaces(fair.NewShares(int(min(buffered/c.maxResponseBytes, math.MaxInt32))))
	if config.MaxRedirects != nil {
		c.maxRedirects = *config.MaxRedirects
	}
	c.http = &http.Client{
		Transport:     redirectReader{config.transport(allow)},
		CheckRedirect: c.checkRedirect,
	}
	return c, nil
}

// check returns an error if a limit is negative or two fields exclude each other.
func (c Config) check() error {
	switch {
	case c.MaxResponseBytes < 0:
		return boterr.Invalid("maxResponseBytes", "must not be negative")
	case c.MaxBufferedBytes < 0:
		return boterr.Invalid("maxBufferedBytes", "must not be negative")
	case c.MaxBufferedBytes != 0 && c.MaxBufferedBytes < cmp.Or(c.MaxResponseBytes, DefaultMaxResponseBytes):
		return boterr.Invalid("maxBufferedBytes", "is %d, and must be at least maxResponseBytes, %d",
			c.MaxBufferedBytes, cmp.Or(c.MaxResponseBytes, DefaultMaxResponseBytes))
	case c.MaxRequestBytes < 0:
		return boterr.Invalid("maxRequestBytes", "must not be negative")
	case c.MaxRedirects != nil && *c.MaxRedirects < 0:
		return boterr.Invalid("maxRedirects", "must not be negative")
	case c.Timeout < 0:
		return boterr.Invalid("timeout", "must not be negative")
	case c.MaxConnsPerHost < 0:
		return boterr.Invalid("maxConnsPerHost", "must not be negative")
	case c.Transport != nil && (c.Resolver != nil || c.Dial != nil || c.TLS != nil):
		return boterr.Invalid("transport", "cannot be combined with resolver, dial or tls, which it does not use")
	}
	return nil
}

// Do sends a request, follows its redirects and returns the response. If the error is nil, the caller closes
// the response's body.
//
// The errors are:
//   - InvalidArgument with the field "url" for a URL that is refused (see CheckURL), a name that resolves to
//     an address that is not public, and a redirect to either, or from https to http;
//   - InvalidArgument with the field "method" for a method that ParseMethod refuses;
//   - InvalidArgument with the field "headers.Name" for a header that is malformed or not the caller's to
//     set;
//   - ResourceExhausted for too long a body and too many redirects;
//   - Unavailable if the network or the server fails, or Config.Timeout has passed;
//   - Canceled if the context of the request ended.
//
// Reading the response's body may return the same errors. A body longer than the limit ends in an error,
// never in io.EOF.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if err := c.check(req); err != nil {
		if req != nil && req.Body != nil {
			_ = req.Body.Close() // As http.Client does.
		}
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), c.timeout, timeLimitError(c.timeout))
	host := req.URL.Host
	resp, err := c.http.Do(c.limitRequest(req.WithContext(ctx)))
	if err != nil {
		err = failure(ctx, host, err)
		cancel()
		return nil, err
	}
	resp.Body = &responseBody{
		limited: limit(resp.Body, c.maxResponseBytes, boterr.New(boterr.ResourceExhausted, "",
			"the response of %s has more than %d bytes", host, c.maxResponseBytes)),
		client: c,
		ctx:    ctx,
		cancel: cancel,
		host:   host,
	}
	return resp, nil
}

// check returns an error if the request must not be sent.
func (c *Client) check(req *http.Request) error {
	if c == nil || c.http == nil {
		return boterr.New(boterr.FailedPrecondition, "", "the HTTP client was not created by outbound.New")
	}
	if req == nil {
		return boterr.Invalid("url", "the request is missing")
	}
	if err := CheckURL(req.URL, c.allow); err != nil {
		return err
	}
	if _, err := ParseMethod(req.Method); err != nil {
		return err
	}
	if req.Host != "" && req.Host != req.URL.Host {
		return boterr.Invalid("headers.Host", "must be the host of the URL")
	}
	return checkHeader(req.Header)
}

// Timeout returns the time limit of a request, see Config.Timeout.
func (c *Client) Timeout() time.Duration {
	if c == nil {
		return 0
	}
	return c.timeout
}

// CloseIdleConnections closes connections kept for later requests.
func (c *Client) CloseIdleConnections() {
	if c != nil && c.http != nil {
		c.http.CloseIdleConnections()
	}
}

// ParseMethod reads the method of a request as browsers do, by the Fetch standard. DELETE, GET, HEAD,
// OPTIONS, POST and PUT may be in any case and are returned in upper case. Other methods are returned
// unchanged: "patch" is not PATCH, and most servers refuse it. Empty means GET.
//
// InvalidArgument with the field "method": the text is not a token of RFC 9110, or it is CONNECT, TRACE or
// TRACK in any case. CONNECT opens a tunnel, and the others return the request with its credentials.
func ParseMethod(text string) (string, error) {
	if text == "" {
		return http.MethodGet, nil
	}
	if !isToken(text) {
		return "", boterr.Invalid("method", "must be an HTTP method such as GET or POST")
	}
	switch upper := strings.ToUpper(text); upper {
	case http.MethodConnect, http.MethodTrace, "TRACK":
		return "", boterr.Invalid("method", "is %s, which is not allowed; use a method such as GET or POST", upper)
	case http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPost, http.MethodPut:
		return upper, nil
	}
	return text, nil
}

// RetryAfter reads the header Retry-After: a number of seconds, or a date that is compared with now. wait is at most
// boterr.MaxRetryAfter, and 0 for a date in the past. If the header is missing or malformed, asks is false and wait
// is 0. Connectors pass the wait on in a *send.RetryAfterError.
func RetryAfter(header http.Header, now time.Time) (wait time.Duration, asks bool) {
	value := header.Get("Retry-After")
	seconds, err := strconv.ParseUint(value, 10, 32)
	if err == nil || errors.Is(err, strconv.ErrRange) { // ParseUint returns the largest number if the value is out of range.
		return min(time.Duration(seconds)*time.Second, boterr.MaxRetryAfter), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), boterr.MaxRetryAfter), true
	}
	return 0, false
}

// setEncoding makes a request accept only encodings that can be decoded. If Accept-Encoding is not set, the transport
// asks for gzip and decodes it. If the header allows neither gzip nor identity, setEncoding returns InvalidArgument.
func setEncoding(header http.Header) error {
	asked, isSet := header["Accept-Encoding"]
	header.Del("Accept-Encoding")
	if !isSet {
		return nil
	}
	allowed := encodings(asked)
	if len(allowed) == 0 || slices.ContainsFunc(allowed, func(name string) bool { return name == "gzip" || name == "x-gzip" || name == "*" }) {
		return nil
	}
	if !slices.Contains(allowed, "identity") {
		return boterr.Invalid("headers.Accept-Encoding", "must allow gzip or identity; leave it out for gzip, which is decoded")
	}
	header.Set("Accept-Encoding", "identity")
	return nil
}

// encodings returns the encodings in a header, in lower case. An encoding excluded by q=0 becomes an empty name, so
// that a header with only exclusions does not look absent.
func encodings(values []string) []string {
	var names []string
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, weight, _ := strings.Cut(strings.ToLower(part), ";")
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
		if err == nil && q == 0 {
			name = ""
		}
		names = append(names, name)
	}
	return names
}

// checkEncoding returns an error for a body that is still encoded. Like browsers, it ignores names that are
// not encodings: servers send utf-8 or aws-chunked for plain bodies.
func checkEncoding(host string, header http.Header) error {
	for _, name := range encodings(header["Content-Encoding"]) {
		switch name {
		case "gzip", "x-gzip", "deflate", "br", "zstd", "compress", "x-compress", "dcb", "dcz":
			return boterr.New(boterr.Unavailable, "", "the response of %s is encoded as %s, which the request did not accept", host, name)
		}
	}
	return nil
}
