package utilities

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/outbound"
)

// options are the decoded options of an upload.
type options struct {
	method  string
	headers http.Header
	body    string
	hasBody bool
	// query is the encoded text that is added to the URL's query.
	query string
	// timeout limits the upload. 0 means only the host's limit applies.
	timeout time.Duration
}

func readOptions(given document.Object) (options, error) {
	read := options{method: http.MethodGet, headers: http.Header{}}
	if err := given.Err(); err != nil {
		return read, err
	}
	for name, value := range given.All() {
		if err := read.set(name, value); err != nil {
			return read, boterr.PrefixField(name, err)
		}
	}
	err := read.setJSON(given)
	return read, err
}

// set decodes one option. null is ignored.
func (o *options) set(name string, value any) error {
	setters := map[string]func(any) error{
		"method": o.setMethod, "headers": o.setHeaders, "body": o.setBody, "qs": o.setQuery, "timeout": o.setTimeout,
		"encoding": func(any) error { return boterr.Invalid("", "must be null or absent; files are stored unchanged") },
		"json":     func(any) error { return nil }, // setJSON decodes it together with body.
	}
	setter, isKnown := setters[name]
	switch {
	case !isKnown:
		return boterr.Invalid("", "is not an option; the options are method, headers, body, json, qs, timeout and encoding")
	case value == nil:
		return nil
	default:
		return setter(value)
	}
}

func (o *options) setMethod(value any) error {
	if err := document.DecodeValue(value, &o.method); err != nil {
		return err
	}
	if o.method == "" {
		return boterr.Invalid("", "is empty; give a method such as GET, or leave it out")
	}
	var err error
	if o.method, err = outbound.ParseMethod(o.method); err != nil {
		return boterr.WithField("", err)
	}
	if o.method == http.MethodHead {
		return boterr.Invalid("", "%s returns no file; use GET or POST", o.method)
	}
	return nil
}

func (o *options) setHeaders(value any) error {
	var headers document.Object
	if err := document.DecodeValue(value, &headers); err != nil {
		return err
	}
	for name, value := range headers.All() {
		text, err := headerText(value)
		if err != nil {
			return boterr.PrefixField(name, err)
		}
		if value != nil {
			o.headers.Add(name, text)
		}
	}
	return nil
}

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
		return "", boterr.Invalid("", "must be a string or a number, got %s", document.JSONType(value))
	}
}

func (o *options) setBody(value any) error {
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
		return boterr.Invalid("", "must be a string, an object or an array, got %s", document.JSONType(value))
	}
}

// setJSON encodes the body as JSON if json is given or the body is not a string.
func (o *options) setJSON(given document.Object) error {
	body, _ := given.Field("body")
	asked, _ := given.Field("json")
	isJSON, isSwitch := asked.(bool)
	switch {
	case asked != nil && !isSwitch && body != nil:
		return boterr.Invalid("json", "cannot be combined with body; give one of them, or true to send the body as JSON")
	case asked != nil && !isSwitch:
		body, isJSON = asked, true
	case !isJSON:
		_, isText := body.(string)
		isJSON = !isText
	}
	if body == nil || !isJSON {
		return nil
	}
	text, err := document.AppendJSON(nil, body)
	o.body, o.hasBody = string(text), true
	if o.headers.Get("Content-Type") == "" {
		o.headers.Set("Content-Type", "application/json")
	}
	return boterr.PrefixField("json", err)
}

// setQuery decodes the parameters of qs in order, ignoring null.
func (o *options) setQuery(value any) error {
	var parameters document.Object
	if err := document.DecodeValue(value, &parameters); err != nil {
		return err
	}
	var query []string
	for name, value := range parameters.All() {
		text, isText := value.(string)
		switch value.(type) {
		case nil:
			continue
		case document.Object, document.Array:
			return boterr.Invalid(name, "must be a string, a number or a boolean, got %s", document.JSONType(value))
		}
		if !isText {
			encoded, err := document.AppendJSON(nil, value)
			if err != nil {
				return boterr.PrefixField(name, err)
			}
			text = string(encoded)
		}
		query = append(query, queryText(name)+"="+queryText(text))
	}
	o.query = strings.Join(query, "&")
	return nil
}

// queryText escapes a part of a query, with %20 for spaces.
func queryText(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// setTimeout decodes a number of milliseconds.
func (o *options) setTimeout(value any) error {
	var ms float64
	if err := document.DecodeValue(value, &ms); err != nil {
		return err
	}
	if !(ms > 0) {
		return boterr.Invalid("", "must be above 0; give milliseconds, or leave it out for the host's limit")
	}
	o.timeout = maxTimeout
	if limit := float64(maxTimeout.Milliseconds()); ms < limit {
		o.timeout = max(time.Duration(ms*float64(time.Millisecond)), 1)
	}
	return nil
}

// maxTimeout is higher than any host's limit.
const maxTimeout = 24 * time.Hour

// newRequest validates the URL and creates the request. The HTTP client checks whether the host allows the address.
func newRequest(ctx context.Context, address string, with options) (*http.Request, error) {
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
	if target.RawQuery != "" && with.query != "" {
		target.RawQuery += "&"
	}
	target.RawQuery += with.query
	var body io.Reader
	if with.hasBody {
		body = strings.NewReader(with.body)
	}
	request, err := http.NewRequestWithContext(ctx, with.method, target.String(), body)
	if err != nil {
		return nil, boterr.Invalid("options.method", "must be an HTTP method such as GET or POST")
	}
	request.Header = with.headers
	return request, nil
}

// anywhere allows all addresses, so only the syntax of a URL is checked.
func anywhere() outbound.AllowList {
	list, err := outbound.ParseAllowList("0.0.0.0/0", "::/0")
	if err != nil {
		panic(err) // Cannot happen: the prefixes are constants.
	}
	return list
}
