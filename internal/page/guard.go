package page

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// policy is the Content-Security-Policy of every page: what it runs, shows and asks for is its own, and nobody
// frames it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Guard decides which requests a page gets.
type Guard struct {
	// IsHost reports whether a name, without a port, is one that the page is asked for by. A page on this
	// machine takes no other, so that a site whose name leads to this machine does not get in. nil takes any.
	IsHost func(name string) bool
}

// Around returns a handler that hands on what may pass: what is asked for by a name of the page's, and not
// from another site. It sets the headers that hold for every page.
func (g Guard) Around(next http.Handler) http.Handler {
	sites := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		if name := hostName(r.Host); g.IsHost != nil && !g.IsHost(name) {
			Fail(w, http.StatusForbidden, boterr.New(boterr.FailedPrecondition, "Host", "is %q, which is no name of this page", name))
			return
		}
		if err := fromHere(sites, r); err != nil {
			Fail(w, http.StatusForbidden, boterr.New(boterr.FailedPrecondition, "Origin", "another site asks for this: %w", err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fromHere returns an error for a request that another site makes. A page may be opened from anywhere, but a
// request with an Origin comes from a script or a form, and has to be the page's own, even if it only reads.
func fromHere(sites *http.CrossOriginProtection, r *http.Request) error {
	if r.Header.Get("Origin") != "" {
		// Check passes what only reads. It trusts Sec-Fetch-Site before it compares Origin with Host, which
		// a proxy may have rewritten.
		asWrite := *r
		asWrite.Method = http.MethodPost
		r = &asWrite
	}
	return sites.Check(r)
}

// setHeaders sets the headers of every answer.
func setHeaders(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cache-Control", "no-store")
}

// LocalOr returns what Guard.IsHost is for a page on this machine that has these names besides: any address
// in numbers, which no site can have as its name, and localhost.
func LocalOr(names []string) func(name string) bool {
	return func(name string) bool {
		_, err := netip.ParseAddr(name)
		return err == nil || strings.EqualFold(name, "localhost") ||
			slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(known, name) })
	}
}

// hostName returns a Host without its port and brackets.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}
