package outbound

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/boterr"
)

// Request is what Fetch sends.
type Request struct {
	// URL is an absolute URL of the scheme http or https.
	URL string
	// Method is the method, as ParseMethod reads it. Empty means GET.
	Method string
	// Headers are the headers by name, in any case. Accept-Encoding can be left out: gzip is asked for, and
	// decoded. One that allows neither gzip nor identity is refused.
	Headers map[string]string
	// Body is sent as it is; its type belongs into the header Content-Type.
	Body []byte
}

// Response is what Fetch received.
type Response struct {
	// Status is the status code, such as 200.
	Status int
	// Header has the headers.
	Header http.Header
	// Body is the whole body, decoded.
	Body []byte
}

// Fetch sends a request through doer and reads the whole response. A response
// with an error status is a response, no error: see Response.OK. A body in gzip is
// decoded; one that is still encoded, such as in br, is Unavailable.
//
// The errors are those of Client.Do, and InvalidArgument with the field "url" or
// "method" for what cannot be read as one or is not allowed, Unsupported if doer is nil,
// and ResourceExhausted if the long answers of others took all memory until the time
// limit (see Config.MaxBufferedBytes). Checks and limits are those of doer.
func Fetch(ctx context.Context, doer Doer, request Request) (*Response, error) {
	if doer == nil {
		return nil, boterr.New(boterr.Unsupported, "", "the host application gives no HTTP client")
	}
	req, err := request.build(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := doer.Do(req)
	if err != nil {
		return nil, failure(ctx, req.URL.Host, err)
	}
	defer resp.Body.Close() //nolint:errcheck // The body has been read; closing it tells nothing.
	body, err := readAll(resp)
	if err != nil {
		return nil, failure(ctx, req.URL.Host, err)
	}
	if err := checkEncoding(req.URL.Host, resp.Header); err != nil && len(body) > 0 {
		return nil, err
	}
	return &Response{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// build makes the request that is sent.
func (r Request) build(ctx context.Context) (*http.Request, error) {
	target, err := ParseURL(r.URL)
	if err != nil {
		return nil, err
	}
	method, err := ParseMethod(r.Method)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, boterr.New(boterr.Internal, "", "making the request: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		req.Header.Add(name, r.Headers[name])
	}
	if err := setEncoding(req.Header); err != nil {
		return nil, err
	}
	return req, nil
}

// OK reports whether the status is one of success, 200 to 299.
func (r *Response) OK() bool { return r.Status >= 200 && r.Status <= 299 }

// Text returns the body as text, without a byte order mark.
func (r *Response) Text() string { return string(r.withoutMark()) }

// withoutMark returns the body behind the byte order mark of UTF-8, which some servers put in front of JSON.
func (r *Response) withoutMark() []byte { return bytes.TrimPrefix(r.Body, []byte("\ufeff")) }

// Get returns the value at a path of a JSON body, such as "items.0.name"; the
// syntax is that of gjson, and "@this" is the whole. Nothing there, and a body
// that is no JSON, give a result whose Exists is false. A byte order mark in front
// is skipped. Each call reads the body again: to take many values, ask the result
// of "@this".
func (r *Response) Get(path string) gjson.Result {
	body := r.withoutMark()
	// json.Valid stops at a depth that gjson would follow until the stack ends.
	if !json.Valid(body) {
		return gjson.Result{}
	}
	return gjson.GetBytes(body, path)
}
