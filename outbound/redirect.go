package outbound

import (
	"errors"
	"net/http"
	"slices"

	"github.com/botctx/go-sdk/boterr"
)

// checkRedirect decides on the next request of a chain; via holds the earlier
// ones, oldest first. The dialer checks the addresses of the next host as it does
// those of the first.
func (c *Client) checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > c.maxRedirects {
		return boterr.New(boterr.ResourceExhausted, "url", "leads through more than %d redirects", c.maxRedirects)
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

// leavesHost reports whether a request of the chain went, or now goes, to another
// host or port than the first did. http.Client copies the headers of the first
// request to each later one, so a chain that comes back counts as well.
func leavesHost(via []*http.Request, next *http.Request) bool {
	home := via[0].URL.Host
	elsewhere := func(req *http.Request) bool { return req.URL.Host != home }
	return elsewhere(next) || slices.ContainsFunc(via, elsewhere)
}

// keepHarmless removes all headers but those that hold no credentials. Referer, which
// http.Client sets to the whole earlier URL, goes as well.
func keepHarmless(header http.Header) {
	for name := range header {
		if !IsHarmless(name) {
			delete(header, name)
		}
	}
}

// IsHarmless reports whether a header of a request, by its name in any case, is known to hold no
// credentials, so that other hosts and logs may see its value. A list of what they must not see
// would miss the keys that APIs take in headers of their own.
func IsHarmless(header string) bool {
	switch http.CanonicalHeaderKey(header) {
	case "Accept", "Accept-Encoding", "Accept-Language", "Content-Encoding", "Content-Language", "Content-Type",
		"Range", "User-Agent":
		return true
	default:
		return false
	}
}

// redirectReader refuses a redirect whose target cannot be read, because the
// error of http.Client would show the target with its query.
type redirectReader struct {
	next http.RoundTripper
}

// RoundTrip sends the request and looks at the redirect in its response.
func (r redirectReader) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err != nil || resp == nil || !isRedirect(resp) {
		return resp, err
	}
	if _, err := resp.Location(); err != nil {
		if resp.Body != nil {
			_ = resp.Body.Close()
		}
		return nil, boterr.New(boterr.Unavailable, "", "%s redirects to what is no URL", req.URL.Host)
	}
	return resp, nil
}

// isRedirect reports whether a response sends the client elsewhere.
func isRedirect(resp *http.Response) bool {
	return resp.StatusCode >= 300 && resp.StatusCode <= 399 && resp.Header.Get("Location") != ""
}

// CloseIdleConnections passes the call on, as http.Client expects of a transport.
func (r redirectReader) CloseIdleConnections() {
	if idle, ok := r.next.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}
