package botctx

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/outbound"
)

// uploadOptions are the options of the request that an upload makes.
type uploadOptions struct {
	method  string
	headers http.Header
	body    string
	hasBody bool
}

// newUploadRequest checks URL and Options of an upload and makes the request of them. That
// the host allows the address is for its client to check.
func newUploadRequest(ctx context.Context, p UploadFileToObjectStoreParams) (*http.Request, error) {
	if p.URL == "" {
		return nil, boterr.Invalid("url", "is missing: give the address of the file")
	}
	target, err := outbound.ParseURL(p.URL)
	if err != nil {
		return nil, err
	}
	if err := outbound.CheckURL(target, anywhere()); err != nil {
		return nil, err
	}
	options, err := readUploadOptions(p.Options)
	if err != nil {
		return nil, boterr.In("options", err)
	}
	var body io.Reader
	if options.hasBody {
		body = strings.NewReader(options.body)
	}
	request, err := http.NewRequestWithContext(ctx, options.method, target.String(), body)
	if err != nil {
		return nil, boterr.Invalid("options.method", "must be an HTTP method such as GET or POST")
	}
	request.Header = options.headers
	return request, nil
}

// anywhere allows all addresses, so that only the form of a URL is checked.
func anywhere() outbound.AllowList {
	list, err := outbound.ParseAllowList("0.0.0.0/0", "::/0")
	if err != nil {
		panic(err) // The prefixes are constants.
	}
	return list
}

// readUploadOptions reads the options by their names.
func readUploadOptions(given document.Object) (uploadOptions, error) {
	read := uploadOptions{method: http.MethodGet, headers: http.Header{}}
	if err := given.Err(); err != nil {
		return read, err
	}
	for name, value := range given.All() {
		if err := read.set(name, value); err != nil {
			return read, boterr.In(name, err)
		}
	}
	if read.hasBody && read.headers.Get("Content-Type") == "" {
		if body, _ := given.Field("body"); !isText(body) {
			read.headers.Set("Content-Type", "application/json")
		}
	}
	return read, nil
}

// set reads one option. null is none.
func (o *uploadOptions) set(name string, value any) error {
	isKnown := slices.Contains([]string{"method", "headers", "body", "encoding"}, name)
	switch {
	case !isKnown:
		return boterr.Invalid("", "there is no such option; there are method, headers, body and encoding")
	case value == nil:
		return nil
	case name == "method":
		return o.setMethod(value)
	case name == "headers":
		return o.setHeaders(value)
	case name == "body":
		return o.setBody(value)
	default:
		return boterr.Invalid("", "must be null or left out: files are stored as the bytes that come")
	}
}

func (o *uploadOptions) setMethod(value any) error {
	if err := document.DecodeValue(value, &o.method); err != nil {
		return err
	}
	o.method = strings.ToUpper(o.method)
	switch o.method {
	case "":
		return boterr.Invalid("", "is empty: give a method such as GET, or leave it out")
	case http.MethodHead, http.MethodConnect, http.MethodTrace:
		return boterr.Invalid("", "%s brings no file: use GET or POST", o.method)
	}
	return nil
}

func (o *uploadOptions) setHeaders(value any) error {
	var headers document.Object
	if err := document.DecodeValue(value, &headers); err != nil {
		return err
	}
	for name, value := range headers.All() {
		text, err := headerText(value)
		if err != nil {
			return boterr.In(name, err)
		}
		if value != nil {
			o.headers.Add(name, text)
		}
	}
	return nil
}

// headerText returns the value of a header as text.
func headerText(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "", nil
	case string:
		if err := checkHeaderText(value); err != nil {
			return "", err
		}
		return value, nil
	case int64, float64:
		text, err := document.AppendJSON(nil, value)
		return string(text), err
	default:
		return "", boterr.Invalid("", "must be a string or a number, got %s", document.TypeName(value))
	}
}

func (o *uploadOptions) setBody(value any) error {
	o.hasBody = true
	switch value := value.(type) {
	case string:
		o.body = value
		return nil
	case document.Object, document.Array:
		text, err := document.AppendJSON(nil, value)
		o.body = string(text)
		return err
	default:
		return boterr.Invalid("", "must be a string, an object or an array, got %s", document.TypeName(value))
	}
}

// isText reports whether a value is text.
func isText(value any) bool {
	_, ok := value.(string)
	return ok
}
