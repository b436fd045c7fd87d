package outbound

import (
	"net/http"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

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
