// Package graphtest is shared by the fake platforms that package graph calls. It provides responses, faults,
// signed reports and a record of exchanges.
package graphtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/graph"
	"github.com/botctx/go-sdk/send/sendtest"
)

// Exchange is an API call with its response.
type Exchange struct {
	Method string
	// Path is the path without the version, such as "1900/messages".
	Path string
	// Escaped is the whole path as it was sent.
	Escaped string
	// Request and Reply are the bodies. Kind is the request's media type.
	Request, Reply []byte
	Kind           string
	Status         int
}

// Watched returns a handler that passes each exchange to observe after the response.
func Watched(handler http.Handler, observe func(Exchange)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
		observe(Exchange{
			Method: r.Method, Path: strings.Join(Segments(r), "/"), Escaped: r.URL.EscapedPath(), Kind: r.Header.Get("Content-Type"),
			Request: body, Reply: answer.Body.Bytes(), Status: answer.Code,
		})
	})
}

// Segments returns the segments of a request's path, without the API's version.
func Segments(r *http.Request) []string {
	segments := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(segments) > 1 && strings.HasPrefix(segments[0], "v") && strings.Contains(segments[0], ".") {
		return segments[1:]
	}
	return segments
}

// TokenOf returns the access token of a request.
func TokenOf(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

// Answer writes a JSON response.
func Answer(w http.ResponseWriter, reply document.Object) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, reply.String())
}

// Refusal is an error of the API.
type Refusal struct {
	Status        int
	Code, Subcode int64
	Message       string
	// Minutes, if not 0, are the minutes until calls are allowed again. They are sent in a header.
	Minutes int
}

// ServeHTTP answers every request with the refusal.
func (f Refusal) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	told := document.O("message", f.Message, "type", "OAuthException", "code", f.Code, "fbtrace_id", "AbCdEf123")
	if f.Subcode != 0 {
		told = told.With("error_subcode", f.Subcode)
	}
	if f.Minutes > 0 {
		w.Header().Set("X-Business-Use-Case-Usage", fmt.Sprintf(
			`{"1900":[{"type":"messenger","call_count":100,"total_cputime":1,"total_time":1,"estimated_time_to_regain_access":%d}]}`, f.Minutes))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_, _ = io.WriteString(w, document.O("error", told).String())
}

// Faults returns handlers for faults of sendtest that answer as the API does. Their messages repeat the
// request, including its credentials.
func Faults(refusals map[sendtest.Fault]Refusal) map[sendtest.Fault]http.HandlerFunc {
	faults := map[sendtest.Fault]http.HandlerFunc{}
	for fault, refusal := range refusals {
		faults[fault] = func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			told := refusal
			told.Message = fmt.Sprintf("(#%d) ", refusal.Code) + sendtest.Repeated(r, body)
			told.ServeHTTP(w, r)
		}
	}
	return faults
}

// Report returns a request that carries a signed report.
func Report(ctx context.Context, address, secret string, body []byte) *http.Request {
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	request.RequestURI = "" // A client refuses requests with a RequestURI.
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(graph.SignatureHeader, graph.Sign(channel.NewSecret(secret), body))
	return request
}

// Check returns the request with which the platform verifies a webhook's address.
func Check(ctx context.Context, address, token, challenge string) *http.Request {
	query := "hub.mode=subscribe&hub.verify_token=" + token + "&hub.challenge=" + challenge
	if strings.Contains(address, "?") {
		address += "&" + query
	} else {
		address += "?" + query
	}
	return httptest.NewRequestWithContext(ctx, http.MethodGet, address, nil)
}
