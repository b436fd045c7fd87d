package web

import (
	"net/url"
	"strings"

	"github.com/botctx/go-sdk/outbound"
)

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
