// Package outbound is the HTTP client for URLs that scripts supply: what bot
// logic fetches, the files it uploads, the icons it sets.
//
//   - To fetch a URL, use Fetch of botctx.Context in bot logic, and [Fetch] with a [Client]
//     elsewhere.
//   - To read the answer, use [Response.OK], [Response.Get] and [Response.Text].
//   - To allow an address of your own network, name it in Allow of [Config].
//
// Such a URL must not become a way into the host's own network. A Client
// refuses every address that is not public: loopback, private, link-local (where
// clouds keep their metadata), and all other special-purpose blocks, however
// they are written or embedded. Three checks stand behind each other:
//
//   - CheckURL looks at the URL itself: its scheme, its form, and the address
//     where the host is one.
//   - The dialer resolves a name once, checks every address of the answer, and
//     connects to one of those very addresses. No second resolution stands
//     between the check and the connection, so a name that changes its answer
//     gains nothing.
//   - Redirects pass both checks again.
//
// Proxies of the environment are not used. Bodies, redirects and time have
// limits. What a host application wants to be reached nevertheless, it allows by
// name, address or prefix in Config.Allow.
package outbound

import (
	"context"
	"crypto/tls"
	"errors"
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

// Doer sends a request and returns the response. *Client is the one to use in
// production; *http.Client meets it as well, without any of the checks; package
// fakes/web has one that answers from registered replies.
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
	// Allow lists what may be reached although its address is not public, in the
	// notation of ParseAllowList. Redirects of any host may lead there as well.
	Allow []string
	// MaxResponseBytes limits the body of a response, as it is after
	// decompression. 0 means DefaultMaxResponseBytes.
	MaxResponseBytes int64
	// MaxBufferedBytes limits what Fetch holds of responses at once, over all apps. Up to 256 kB of a response
	// are free; a longer one counts as MaxResponseBytes, whatever its length, until its Owner is released: in
	// bot logic until the run ends. While others have the memory, it waits within Timeout. An app gets at most
	// half of what other apps leave, so that long responses of one app do not hold up another. The garbage
	// collector may take as much again. 0 means DefaultMaxBufferedBytes, or MaxResponseBytes if that is more.
	// What Do returns is streamed, and does not count.
	MaxBufferedBytes int64
	// MaxRequestBytes limits the body of a request. 0 means
	// DefaultMaxRequestBytes.
	MaxRequestBytes int64
	// MaxRedirects bounds the redirects that a request may follow. nil means DefaultMaxRedirects, and new(0)
	// none.
	MaxRedirects *int
	// Timeout limits the time from Do to the last byte of the response's body.
	// 0 means DefaultTimeout. The context of a request may end it earlier.
	Timeout time.Duration
	// MaxConnsPerHost limits the connections to one host. Connections are kept for later requests; requests
	// beyond the limit wait for one within their Timeout. 0 means DefaultMaxConnsPerHost. A Transport has
	// separate limits.
	MaxConnsPerHost int

	// Resolver looks names up. nil means net.DefaultResolver.
	Resolver Resolver
	// Dial connects to an address that has been checked. It takes no name, so
	// that nothing is resolved after the check. nil means a TCP connection.
	Dial func(ctx context.Context, address netip.AddrPort) (net.Conn, error)
	// TLS configures https, such as the authorities of a company. nil means the
	// defaults of crypto/tls.
	TLS *tls.Config

	// Transport answers requests in the place of the network, as package fakes/web
	// does. URLs, redirects, headers and limits are checked as ever, but what
	// names resolve to is the transport's own affair: apart from tests it suits
	// hosts whose transport leads through a filtering proxy. It excludes
	// Resolver, Dial and TLS.
	Transport http.RoundTripper
}

// Client is an HTTP client for URLs that scripts supply. It is safe for
// concurrent use. New makes one; the zero Client refuses every request.
type Client struct {
	http             *http.Client
	allow            AllowList
	buffers          *buffers
	maxResponseBytes int64
	maxRequestBytes  int64
	maxRedirects     int
	timeout          time.Duration
}

// New returns a client. A negative limit, an entry of Allow that cannot be read, a Resolver or Transport that
// is a nil pointer, and a Transport together with fields that it excludes are InvalidArgument.
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
		maxResponseBytes: orDefault(config.MaxResponseBytes, DefaultMaxResponseBytes),
		maxRequestBytes:  orDefault(config.MaxRequestBytes, DefaultMaxRequestBytes),
		maxRedirects:     DefaultMaxRedirects,
		timeout:          orDefault(config.Timeout, DefaultTimeout),
	}
	buffered := orDefault(config.MaxBufferedBytes, max(DefaultMaxBufferedBytes, c.maxResponseBytes))
	c.buffers = &buffers{shares: fair.NewShares(int(min(buffered/c.maxResponseBytes, math.MaxInt32)))}
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
	case c.MaxBufferedBytes != 0 && c.MaxBufferedBytes < orDefault(c.MaxResponseBytes, DefaultMaxResponseBytes):
		return boterr.Invalid("maxBufferedBytes", "is %d, and must be at least maxResponseBytes, %d",
			c.MaxBufferedBytes, orDefault(c.MaxResponseBytes, DefaultMaxResponseBytes))
	case c.MaxRequestBytes < 0:
		return boterr.Invalid("maxRequestBytes", "must not be negative")
	case c.MaxRedirects != nil && *c.MaxRedirects < 0:
		return boterr.Invalid("maxRedirects", "must not be negative")
	case c.Timeout < 0:
		return boterr.Invalid("timeout", "must not be negative")
	case c.MaxConnsPerHost < 0:
		return boterr.Invalid("maxConnsPerHost", "must not be negative")
	case c.Transport != nil && (c.Resolver != nil || c.Dial != nil || c.TLS != nil):
		return boterr.Invalid("transport", "excludes resolver, dial and tls, which it would not use")
	}
	return nil
}

// orDefault returns value, or the default if value is 0.
func orDefault[T int | int64 | time.Duration](value, standard T) T {
	if value == 0 {
		return standard
	}
	return value
}

// Do sends a request, follows its redirects and returns the response. If the error is nil, the caller closes
// the response's body.
//
// The errors are:
//   - InvalidArgument with the field "url" for a URL that is refused (see
//     CheckURL), a name that resolves to an address that is not public, and a
//     redirect to either, or from https to http;
//   - InvalidArgument with the field "method" for a method that ParseMethod refuses;
//   - InvalidArgument with the field "headers.Name" for a header that is
//     malformed or not the caller's to set;
//   - ResourceExhausted for too long a body and too many redirects;
//   - Unavailable if the network or the other side fails, or Config.Timeout
//     is over;
//   - Canceled if the context of the request ended.
//
// Reading the response's body returns them as well. A body that is longer than
// the limit ends in an error, never in io.EOF.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if err := c.check(req); err != nil {
		closeBody(req)
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
		limited: limit(resp.Body, c.maxResponseBytes, responseTooLong(host, c.maxResponseBytes)),
		client:  c,
		ctx:     ctx,
		cancel:  cancel,
		host:    host,
	}
	return resp, nil
}

// check returns an error if the request must not be sent.
func (c *Client) check(req *http.Request) error {
	if c == nil || c.http == nil {
		return boterr.New(boterr.FailedPrecondition, "", "the HTTP client was not made by outbound.New")
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

// Timeout returns how long a request may take, see Config.Timeout.
func (c *Client) Timeout() time.Duration {
	if c == nil {
		return 0
	}
	return c.timeout
}

// CloseIdleConnections closes the connections that are kept for later requests.
func (c *Client) CloseIdleConnections() {
	if c != nil && c.http != nil {
		c.http.CloseIdleConnections()
	}
}

// ParseMethod reads the method of a request as browsers do, by the Fetch standard. DELETE, GET, HEAD, OPTIONS,
// POST and PUT may be in any case and come back in upper case. Every other one stays as it is: "patch" is not
// PATCH, and most servers refuse it. Empty means GET.
//
// InvalidArgument with the field "method": the text is no token of RFC 9110, or it is CONNECT, TRACE or TRACK
// in any case. The first opens a tunnel, and the others return the request with its credentials.
func ParseMethod(text string) (string, error) {
	if text == "" {
		return http.MethodGet, nil
	}
	if !isToken(text) {
		return "", boterr.Invalid("method", "must be an HTTP method such as GET or POST")
	}
	switch upper := strings.ToUpper(text); upper {
	case http.MethodConnect, http.MethodTrace, "TRACK":
		return "", boterr.Invalid("method", "is %s, which browsers do not send either: use a method such as GET or POST", upper)
	case http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPost, http.MethodPut:
		return upper, nil
	}
	return text, nil
}

// RetryAfter returns how long an answer asks to wait before the next request: its header Retry-After, a number of
// seconds or a date, which is compared with now. The wait is at most boterr.MaxRetryAfter, and 0 for a date that is past.
// asks is false if there is no such header, or if it cannot be read; the wait is 0 then. A connector passes the wait
// on in a *send.RetryAfterError.
func RetryAfter(header http.Header, now time.Time) (wait time.Duration, asks bool) {
	value := header.Get("Retry-After")
	seconds, err := strconv.ParseUint(value, 10, 32)
	if err == nil || errors.Is(err, strconv.ErrRange) { // ParseUint returns the largest number for a larger one.
		return min(time.Duration(seconds)*time.Second, boterr.MaxRetryAfter), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), boterr.MaxRetryAfter), true
	}
	return 0, false
}

// setEncoding makes a request ask only for encodings that are decoded. The transport asks for gzip, and
// decodes it, as long as the header Accept-Encoding is not set. InvalidArgument: the header allows neither
// gzip nor identity.
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
		return boterr.Invalid("headers.Accept-Encoding", "must allow gzip or identity; leave it out, and gzip is asked for and decoded")
	}
	header.Set("Accept-Encoding", "identity")
	return nil
}

// encodings returns the encodings of a header in lower case. Those that it excludes by q=0 are left out; a
// header that only excludes gives an encoding without a name.
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

// checkEncoding returns an error for a body that is still encoded. Names that are no encoding are ignored, as
// browsers do: servers say utf-8 or aws-chunked of plain bodies.
func checkEncoding(host string, header http.Header) error {
	for _, name := range encodings(header["Content-Encoding"]) {
		switch name {
		case "gzip", "x-gzip", "deflate", "br", "zstd", "compress", "x-compress", "dcb", "dcz":
			return boterr.New(boterr.Unavailable, "", "the response of %s is encoded as %s, which was not asked for", host, name)
		}
	}
	return nil
}
