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

import "net/http"

// Doer sends a request and returns the response. *Client is the one to use in
// production; *http.Client meets it as well, without any of the checks; package
// fakes/web has one that answers from registered replies.
type Doer interface {
	// Do sends the request. Where the error is nil, the caller closes the body
	// of the response.
	Do(req *http.Request) (*http.Response, error)
}

var (
	_ Doer = (*Client)(nil)
	_ Doer = (*http.Client)(nil)
)
