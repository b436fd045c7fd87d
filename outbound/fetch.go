package outbound

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded"
)

// Request is a request for Fetch.
type Request struct {
	// URL is an absolute URL of the scheme http or https.
	URL string
	// Method is the method, as ParseMethod reads it. Empty means GET.
	Method string
	// Headers are the headers by name, in any case. Accept-Encoding may be omitted: gzip is requested and
	// decoded. A value that allows neither gzip nor identity is refused.
	Headers map[string]string
	// Body is sent unchanged; set its type in the header Content-Type.
	Body []byte
}

// Response is a response from Fetch.
type Response struct {
	// URL is the address that answered after redirects, or "" without redirects.
	URL string
	// Status is the status code, such as 200.
	Status int
	// Header contains the headers.
	Header http.Header
	// Body is the whole body, decoded.
	Body []byte
}

// Fetch sends a request through doer and reads the whole response. A response with an error status is not an
// error: see Response.OK. A gzip body is decoded; a body that remains encoded, for example in br, is
// Unavailable.
//
// The errors are the errors of Client.Do, and InvalidArgument with the field "url" or "method" for a value
// that is malformed or not allowed, Unsupported if doer is nil, and ResourceExhausted if other long responses
// used all memory until the time limit (see Config.MaxBufferedBytes). Checks and limits come from doer.
func Fetch(ctx context.Context, doer Doer, request Request) (*Response, error) {
	if doer == nil {
		return nil, boterr.New(boterr.Unsupported, "", "the host application provides no HTTP client")
	}
	req, err := request.build(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := doer.Do(req)
	if err != nil {
		return nil, failure(ctx, req.URL.Host, err)
	}
	defer resp.Body.Close() //nolint:errcheck // The body has been read; closing it tells nothing.
	body, err := readAll(resp)
	if err != nil {
		return nil, failure(ctx, req.URL.Host, err)
	}
	if err := checkEncoding(req.URL.Host, resp.Header); err != nil && len(body) > 0 {
		return nil, err
	}
	return &Response{URL: redirectedTo(resp), Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// redirectedTo returns the address of a response after redirects, or "" without redirects.
func redirectedTo(resp *http.Response) string {
	if resp.Request == nil || resp.Request.Response == nil {
		return ""
	}
	return resp.Request.URL.String()
}

// build returns the request to send.
func (r Request) build(ctx context.Context) (*http.Request, error) {
	target, err := ParseURL(r.URL)
	if err != nil {
		return nil, err
	}
	method, err := ParseMethod(r.Method)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, boterr.New(boterr.Internal, "", "making the request: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		req.Header.Add(name, r.Headers[name])
	}
	if err := setEncoding(req.Header); err != nil {
		return nil, err
	}
	return req, nil
}

// OK reports whether the status means success: 200 to 299.
func (r *Response) OK() bool { return r.Status >= 200 && r.Status <= 299 }

// Text returns the body as text, without a byte order mark.
func (r *Response) Text() string { return string(r.withoutMark()) }

// withoutMark returns the body without the byte order mark of UTF-8, which some servers put before JSON.
func (r *Response) withoutMark() []byte { return bytes.TrimPrefix(r.Body, []byte("\ufeff")) }

// Get returns the value at a path of a JSON body, such as "items.0.name", in gjson's syntax; "@this" is the whole
// body. If there is no value, or the body is not JSON, the result's Exists method returns false. A leading byte order
// mark is skipped. Each call parses the body again: to take many values, query the result of "@this".
func (r *Response) Get(path string) gjson.Result {
	body := r.withoutMark()
	// json.Valid limits the depth. gjson does not, and would overflow the stack.
	if !json.Valid(body) {
		return gjson.Result{}
	}
	return gjson.GetBytes(body, path)
}

// limited is a body with a maximum length.
type limited struct {
	*bounded.Reader
	io.Closer
}

// limit returns a body whose Read returns the error over after more than most bytes.
func limit(body io.ReadCloser, most int64, over error) limited {
	return limited{Reader: bounded.NewReader(body, most, over), Closer: body}
}

// limitRequest limits the request's body, also when it is sent again after a redirect. It modifies req.
func (c *Client) limitRequest(req *http.Request) *http.Request {
	if req.Body == nil || req.Body == http.NoBody {
		return req
	}
	over := boterr.New(boterr.ResourceExhausted, "body", "has more than %d bytes; send less", c.maxRequestBytes)
	req.Body = limit(req.Body, c.maxRequestBytes, over)
	if again := req.GetBody; again != nil {
		req.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			return limit(body, c.maxRequestBytes, over), nil
		}
	}
	return req
}

// responseBody is the body of a response. At its end, it also releases the request's context.
type responseBody struct {
	limited

	client *Client
	ctx    context.Context //nolint:containedctx // It belongs to the one exchange that the body is a part of.
	cancel context.CancelFunc
	host   string
	ended  error // the error that ended the body; later calls of Read return it again
}

// Read reads the body. It returns the same errors as Client.Do.
func (b *responseBody) Read(p []byte) (int, error) {
	if b.ended != nil {
		return 0, b.ended
	}
	n, err := b.limited.Read(p)
	if err == nil {
		return n, nil
	}
	if err != io.EOF { //nolint:errorlint // Only io.EOF itself is the end of a body; wrapped it is a failure.
		err = failure(b.ctx, b.host, err)
	}
	b.ended = err
	b.cancel()
	return n, err
}

func (b *responseBody) Close() error {
	b.cancel()
	return b.limited.Close()
}

// checkRedirect decides whether to follow a redirect to next; via holds the earlier requests, oldest first. The
// dialer checks the addresses of next.
func (c *Client) checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > c.maxRedirects {
		return boterr.New(boterr.ResourceExhausted, "url", "redirects more than %d times", c.maxRedirects)
	}
	if err := CheckURL(next.URL, c.allow); err != nil {
		return boterr.Invalid("url", "redirects to a URL that is refused: %w", errors.Unwrap(err))
	}
	if via[len(via)-1].URL.Scheme == "https" && next.URL.Scheme == "http" {
		return boterr.Invalid("url", "redirects from https to http; use a URL that stays encrypted")
	}
	if leavesHost(via, next) {
		keepHarmless(next.Header)
	}
	return nil
}

// leavesHost reports whether any request of the chain goes to a different host or port than the first. It also
// considers earlier requests, because http.Client copies the headers of the first request to each later one.
func leavesHost(via []*http.Request, next *http.Request) bool {
	home := via[0].URL.Host
	elsewhere := func(req *http.Request) bool { return req.URL.Host != home }
	return elsewhere(next) || slices.ContainsFunc(via, elsewhere)
}

// keepHarmless removes all headers that may hold credentials. This includes Referer, which http.Client sets
// to the whole earlier URL.
func keepHarmless(header http.Header) {
	for name := range header {
		if !IsHarmless(name) {
			delete(header, name)
		}
	}
}

// IsHarmless reports whether a request header is known to hold no credentials, so that other hosts and logs may see
// its value. header may be in any case. A list of secret headers instead would miss the key headers of unknown APIs.
func IsHarmless(header string) bool {
	switch http.CanonicalHeaderKey(header) {
	case "Accept", "Accept-Encoding", "Accept-Language", "Content-Encoding", "Content-Language", "Content-Type",
		"Range", "User-Agent":
		return true
	default:
		return false
	}
}

// redirectReader refuses a redirect to a malformed URL. http.Client would show the URL, with its query, in its error.
type redirectReader struct {
	next http.RoundTripper
}

// RoundTrip sends the request, and checks the target if the response is a redirect.
func (r redirectReader) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err != nil || resp == nil || !isRedirect(resp) {
		return resp, err
	}
	if _, err := resp.Location(); err != nil {
		if resp.Body != nil {
			_ = resp.Body.Close()
		}
		return nil, boterr.New(boterr.Unavailable, "", "%s redirects to an invalid URL", req.URL.Host)
	}
	return resp, nil
}

// isRedirect reports whether a response redirects to another URL.
func isRedirect(resp *http.Response) bool {
	return resp.StatusCode >= 300 && resp.StatusCode <= 399 && resp.Header.Get("Location") != ""
}

// CloseIdleConnections passes the call to the inner transport: http.Client looks for this method.
func (r redirectReader) CloseIdleConnections() {
	if idle, ok := r.next.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// checkHeader returns InvalidArgument with a field such as "headers.Accept" for the first header, in
// alphabetical order, that cannot be sent unchanged.
func checkHeader(header http.Header) error {
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if !isToken(name) {
			return boterr.Invalid("headers", "the name of a header must consist of letters, digits and hyphens")
		}
		field := "headers." + name
		if isFraming(http.CanonicalHeaderKey(name)) {
			return boterr.Invalid(field, "is set by the client; leave it out")
		}
		if slices.ContainsFunc(header[name], hasControl) {
			return boterr.Invalid(field, "must not contain control characters such as line breaks")
		}
	}
	return nil
}

// isToken reports whether the text is a token of RFC 9110, as names of headers
// must be.
func isToken(text string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	for i := range len(text) {
		c := text[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		digit := '0' <= c && c <= '9'
		if !letter && !digit && !strings.Contains(marks, string(rune(c))) {
			return false
		}
	}
	return text != ""
}

// isFraming reports whether a header names the target or delimits the message. net/http sets these headers from the
// request itself; if they were also given in another spelling, it would send them twice.
func isFraming(canonical string) bool {
	switch canonical {
	case "Host", "Content-Length", "Transfer-Encoding", "Trailer":
		return true
	}
	return false
}

// hasControl reports whether a value contains a control character other than the tab.
func hasControl(value string) bool {
	return strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// timeLimitError is the cause of a context that ended because of the client's own time limit.
type timeLimitError time.Duration

// Error includes the time limit.
func (t timeLimitError) Error() string { return "no answer within " + time.Duration(t).String() }

// failure returns the error of an exchange with a host. Its code is Canceled if ctx ended, Unavailable if the
// client's own time limit passed, and otherwise the code of err, or Unavailable if err has none.
func failure(ctx context.Context, host string, err error) error {
	cause := context.Cause(ctx)
	if limit, ok := errors.AsType[timeLimitError](cause); ok {
		return boterr.New(boterr.Unavailable, "", "the exchange with %s failed: %w", host, limit)
	}
	if cause != nil {
		return boterr.New(boterr.Canceled, "", "the exchange with %s was stopped: %w", host, cause)
	}
	if coded, ok := boterr.AsError(err); ok {
		return coded
	}
	code := boterr.Unavailable
	if boterr.HasCode(err) {
		code = boterr.CodeOf(err)
	}
	return boterr.New(code, "", "the exchange with %s failed: %w", host, withoutAddresses(err))
}

// withoutAddresses returns the error without the URL, which bot logic knows, and without the addresses or ports of
// the host's network or resolver, which bot logic must not learn.
func withoutAddresses(err error) error {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return withoutServer(lookup)
	}
	if exchange, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s: %w", exchange.Op, exchange.Err)
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}

// withoutServer returns a look-up error without the resolver's address, which its text may contain twice.
func withoutServer(lookup *net.DNSError) error {
	told := &net.DNSError{
		Err: "the resolver did not answer", Name: lookup.Name,
		IsTimeout: lookup.IsTimeout, IsTemporary: lookup.IsTemporary, IsNotFound: lookup.IsNotFound,
	}
	if lookup.IsNotFound {
		told.Err = "no such host"
	}
	return told
}
