package page

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// policy is the Content-Security-Policy of every page. The page can only load its own content and cannot be framed.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Guard decides which requests a page accepts.
type Guard struct {
	// IsHost reports whether the page may be served under a host name, without the port. Pages on this machine must
	// refuse unknown names, so that a site whose name resolves to this machine gets no access. nil accepts any name.
	IsHost func(name string) bool
}

// Around returns a handler that passes on a request if its host is one of the page's names and it does
// not come from another site. It sets the headers of every response.
func (g Guard) Around(next http.Handler) http.Handler {
	sites := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		if name := hostName(r.Host); g.IsHost != nil && !g.IsHost(name) {
			Fail(w, http.StatusForbidden, boterr.New(boterr.FailedPrecondition, "Host",
				"is %q, which is not a name of this page; open it by its own name", name))
			return
		}
		if err := fromHere(sites, r); err != nil {
			Fail(w, http.StatusForbidden, boterr.New(boterr.FailedPrecondition, "Origin", "the request comes from another site: %w", err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fromHere returns an error for a request from another site. Any site may link to the page. But a request with an
// Origin comes from a script or form, so it must be the page's own even if it only reads.
func fromHere(sites *http.CrossOriginProtection, r *http.Request) error {
	if r.Header.Get("Origin") != "" {
		// Check allows reads, so check a POST. It trusts Sec-Fetch-Site more than a comparison of Origin with Host,
		// which a proxy may have changed.
		asWrite := *r
		asWrite.Method = http.MethodPost
		r = &asWrite
	}
	return sites.Check(r)
}

func setHeaders(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cache-Control", "no-store")
}

// LocalOr returns a Guard.IsHost for a page on this machine. It accepts the given names, localhost, and
// any IP address, because DNS rebinding needs a name.
func LocalOr(names []string) func(name string) bool {
	return func(name string) bool {
		_, err := netip.ParseAddr(name)
		return err == nil || strings.EqualFold(name, "localhost") ||
			slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(known, name) })
	}
}

func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}
