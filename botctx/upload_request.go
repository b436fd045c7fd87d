package botctx

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

// newUploadRequest checks the URL of an upload and makes its request. That the host allows the
// address is for its client to check.
func newUploadRequest(ctx context.Context, address string, options uploadOptions) (*http.Request, error) {
	if address == "" {
		return nil, boterr.Missing("url", "the address of the file")
	}
	target, err := outbound.ParseURL(address)
	if err != nil {
		return nil, err
	}
	if err := outbound.CheckURL(target, anywhere()); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, options.method, withQuery(target, options.query), options.content())
	if err != nil {
		return nil, boterr.Invalid("options.method", "must be an HTTP method such as GET or POST")
	}
	request.Header = options.headers
	return request, nil
}

// withQuery returns a URL with more parameters behind those of its query.
func withQuery(target *url.URL, more string) string {
	extended := *target
	if extended.RawQuery != "" && more != "" {
		more = "&" + more
	}
	extended.RawQuery += more
	return extended.String()
}

// content returns the body to send, nil where there is none.
func (o uploadOptions) content() io.Reader {
	if !o.hasBody {
		return nil
	}
	return strings.NewReader(o.body)
}

// anywhere allows all addresses, so that only the form of a URL is checked.
func anywhere() outbound.AllowList {
	list, err := outbound.ParseAllowList("0.0.0.0/0", "::/0")
	if err != nil {
		panic(err) // The prefixes are constants.
	}
	return list
}
