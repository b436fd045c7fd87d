// Package web is a fake of the web for tests: it answers requests with replies registered by method and URL,
// and records the requests.
//
//   - To answer a request, register [JSON], [Text] or [Redirect] with [Replies.Add].
//   - To make a request fail, register [Fail].
//   - To inspect the requests, use [Replies.Requests].
//
// A reply, and the request that gets it:
//
//	var site web.Replies
//	site.Add("GET", "https://api.example.com/weather?city=Oslo", web.JSON(200, `{"celsius": 3}`))
//	response, err := outbound.Fetch(ctx, &site, outbound.Request{URL: "https://api.example.com/weather?city=Oslo"})
//
// Requests go through an outbound.Client, so URLs, redirects, headers and limits are checked as in
// production. Host names are not resolved, and are always accepted.
package web

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

// Replies answers with registered replies. Its zero value has none and is ready for use. It is safe for
// concurrent use.
//
// It is an outbound.Doer with the default limits. For other limits, or allowed hosts, use it as the transport
// of another client:
//
//	client, err := outbound.New(outbound.Config{Transport: &web, Allow: []string{"files.internal"}})
type Replies struct {
	mu       sync.Mutex
	routes   []route
	requests []Request
}

var (
	_ outbound.Doer     = (*Replies)(nil)
	_ http.RoundTripper = (*Replies)(nil)
)

// Request is a request that arrived. Requests refused by the checks do not arrive.
type Request struct {
	// Method is the method, such as "GET".
	Method string
	// URL is the whole URL, without a fragment.
	URL string
	// Header holds the headers of the request.
	Header http.Header
	// Body is the whole body.
	Body string
	// Pattern is the matching pattern, as passed to Add. It is empty if none was registered for the request.
	Pattern string
}

// Add registers replies for a method (empty means GET) and a pattern. The pattern is a URL with its query, or
// a prefix of one if it ends in "*". An exact pattern takes precedence over a prefix, a longer prefix over a
// shorter one. Several replies are given one after the other; the last one is then repeated. Adding the same
// method and pattern again replaces its replies.
func (r *Replies) Add(method, pattern string, first Reply, later ...Reply) {
	added := newRoute(method, pattern, append([]Reply{first}, later...))
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.routes {
		if r.routes[i].same(added) {
			r.routes[i] = added
			return
		}
	}
	r.routes = append(r.routes, added)
}

// Do sends a request through the checks of an outbound.Client to the replies. A request without a registered
// reply is Unavailable; the error lists the registered patterns.
func (r *Replies) Do(req *http.Request) (*http.Response, error) {
	client, err := outbound.New(outbound.Config{Transport: r})
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

// RoundTrip records a request and answers it, without following redirects or checking anything: this is the
// job of the outbound.Client around it.
func (r *Replies) RoundTrip(req *http.Request) (*http.Response, error) {
	arrived, err := receive(req)
	if err != nil {
		return nil, err
	}
	reply, err := r.answer(&arrived)
	if err != nil {
		return nil, err
	}
	return reply.response(req)
}

// receive reads a request as a server would.
func receive(req *http.Request) (Request, error) {
	arrived := Request{Method: methodOf(req.Method), URL: addressOf(req.URL), Header: req.Header.Clone()}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return Request{}, err
		}
		arrived.Body = string(body)
	}
	return arrived, req.Context().Err()
}

// answer records the request and takes the next reply for it.
func (r *Replies) answer(arrived *Request) (Reply, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	best := r.find(arrived.Method, arrived.URL)
	if best != nil {
		arrived.Pattern = best.pattern
	}
	r.requests = append(r.requests, *arrived)
	if best == nil {
		return Reply{}, boterr.New(boterr.Unavailable, "", "no reply is registered for %q: add one; registered are: %s",
			arrived.Method+" "+arrived.URL, r.registered())
	}
	return best.next(), nil
}

// find returns the best route, or nil if none matches.
func (r *Replies) find(method, url string) *route {
	var best *route
	for i := range r.routes {
		candidate := &r.routes[i]
		if candidate.matches(method, url) && (best == nil || candidate.beats(best)) {
			best = candidate
		}
	}
	return best
}

// registered lists the methods and patterns, in order of registration.
func (r *Replies) registered() string {
	if len(r.routes) == 0 {
		return "none"
	}
	list := make([]string, len(r.routes))
	for i, known := range r.routes {
		list[i] = strconv.Quote(known.method + " " + known.pattern)
	}
	return strings.Join(list, ", ")
}

// Requests returns the requests that arrived, oldest first. Each redirect is a separate request.
func (r *Replies) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cloneRequests(r.requests)
}

// Clone returns a copy with the same remaining replies and the same requests. After that the two are
// independent.
func (r *Replies) Clone() *Replies {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Replies{routes: slices.Clone(r.routes), requests: cloneRequests(r.requests)}
}

func cloneRequests(requests []Request) []Request {
	copies := slices.Clone(requests)
	for i := range copies {
		copies[i].Header = copies[i].Header.Clone()
	}
	return copies
}

// route is a pattern and its replies. A copy of it is independent: the slice of replies is never written to.
type route struct {
	method  string
	pattern string // The pattern as passed to Add.
	url     string // The pattern as addressOf returns it, or without its final *.
	prefix  bool   // url is a prefix.
	replies []Reply
}

func newRoute(method, pattern string, replies []Reply) route {
	made := route{method: methodOf(method), pattern: pattern, url: pattern, replies: replies}
	if beginning, ok := strings.CutSuffix(pattern, "*"); ok {
		made.url, made.prefix = beginning, true
	} else if parsed, err := outbound.ParseURL(pattern); err == nil {
		made.url = addressOf(parsed)
	}
	for i := range replies {
		replies[i].Header = replies[i].Header.Clone()
	}
	return made
}

// methodOf returns a method as a client sends it. An invalid method is returned unchanged.
func methodOf(method string) string {
	if sent, err := outbound.ParseMethod(method); err == nil {
		return sent
	}
	return method
}

// addressOf returns the URL that a server sees: with a path, without a fragment,
// the host in lower case.
func addressOf(u *url.URL) string {
	seen := *u
	seen.Host = strings.ToLower(u.Host)
	seen.Fragment, seen.RawFragment = "", ""
	if seen.Path == "" {
		seen.Path = "/"
	}
	return seen.String()
}

// same reports whether the routes answer the same method and pattern.
func (r *route) same(other route) bool {
	return r.method == other.method && r.url == other.url && r.prefix == other.prefix
}

func (r *route) matches(method, url string) bool {
	if r.method != method {
		return false
	}
	return r.url == url || r.prefix && strings.HasPrefix(url, r.url)
}

// beats reports whether the route takes precedence over another match.
func (r *route) beats(other *route) bool {
	if r.prefix != other.prefix {
		return other.prefix
	}
	return len(r.url) > len(other.url)
}

// next takes a reply; the last one is repeated.
func (r *route) next() Reply {
	reply := r.replies[0]
	if len(r.replies) > 1 {
		r.replies = r.replies[1:]
	}
	return reply
}

// Reply is one answer.
type Reply struct {
	// Status is the status code. 0 means 200.
	Status int
	// Header holds the headers of the answer.
	Header http.Header
	// Body is the whole body.
	Body string
	// Err is a network failure, which replaces everything else.
	Err error
}

// JSON returns a reply with a JSON body, which is sent unchanged.
func JSON(status int, body string) Reply {
	return Reply{Status: status, Header: contentType("application/json"), Body: body}
}

// Text returns a reply with a plain text.
func Text(status int, body string) Reply {
	return Reply{Status: status, Header: contentType("text/plain; charset=utf-8"), Body: body}
}

// Redirect returns a reply that redirects the client to another URL, absolute or relative.
func Redirect(status int, location string) Reply {
	return Reply{Status: status, Header: http.Header{"Location": {location}}}
}

// Fail returns a reply that is a network failure. The caller gets Unavailable, or the code of the error if it
// has one; an err of nil is InvalidArgument.
func Fail(err error) Reply {
	if err == nil {
		err = boterr.Invalid("", "web.Fail got a nil error; give the error with which the request fails")
	}
	return Reply{Err: err}
}

func contentType(value string) http.Header { return http.Header{"Content-Type": {value}} }

func (r Reply) response(req *http.Request) (*http.Response, error) {
	if r.Err != nil {
		return nil, r.Err
	}
	status, body := r.Status, r.Body
	if status == 0 {
		status = http.StatusOK
	}
	if req.Method == http.MethodHead {
		body = ""
	}
	header := r.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		Status:        fmt.Sprintf("%d %s", status, http.StatusText(status)),
		StatusCode:    status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       req,
	}, nil
}
