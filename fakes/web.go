package fakes

import (
	"net/http"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/outbound"
)

// ReplyHTTP sets what answers requests of a method and a URL, as Add of HTTP does: a pattern that
// ends in "*" is the beginning of one, and several replies come one after the other, the last one
// from then on.
//
//	p.ReplyHTTP("GET", "https://api.example.com/weather?city=Oslo", web.JSON(200, `{"celsius": 3}`))
//	p.ReplyHTTP("POST", "https://api.example.com/orders", web.Fail(boterr.Unavailable), web.Text(201, "ok"))
//
// It ends the test where that is no method and no URL that can be asked for.
func (p *Platform) ReplyHTTP(method, url string, first web.Reply, later ...web.Reply) {
	p.test.Helper()
	if err := checkRoute(method, url); err != nil {
		p.test.Fatalf("fakes: ReplyHTTP: %v", err)
		return
	}
	p.HTTP.Add(method, url, first, later...)
}

// checkRoute refuses what no request can have.
func checkRoute(method, url string) error {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	if !slices.Contains(methods, strings.ToUpper(method)) {
		return boterr.Invalid("method", "is %q: give one of %s", method, strings.Join(methods, ", "))
	}
	if lower := strings.ToLower(url); !strings.HasPrefix(lower, "https://") && !strings.HasPrefix(lower, "http://") {
		return boterr.Invalid("url", "is %q: begin with https:// or http://", url)
	}
	return nil
}

// recordedWeb is the platform's HTTP with a line in the transcript for each request.
type recordedWeb struct{ platform *Platform }

// Do implements outbound.Doer.
func (w recordedWeb) Do(request *http.Request) (*http.Response, error) {
	target := *request.URL
	target.Fragment, target.RawFragment = "", "" // No request has it.
	url := display.Redact(target.String())
	response, err := requested(request.Context(), w.platform, asking{ServiceHTTP, request.Method, url},
		func() (*http.Response, error) { return w.send(request) })
	if err != nil {
		w.platform.notef("%s %s ! %v", request.Method, url, err)
		return nil, err
	}
	w.platform.notef("%s %s -> %d", request.Method, url, response.StatusCode)
	return response, nil
}

// send sends a request to what answers, or to a web that is out of service, with the same checks.
func (w recordedWeb) send(request *http.Request) (*http.Response, error) {
	down := w.platform.outages.err(outage{service: ServiceHTTP})
	if down == nil {
		return w.platform.HTTP.Do(request)
	}
	client, err := outbound.New(outbound.Config{Transport: downWeb{down}})
	if err != nil {
		return nil, err
	}
	return client.Do(request)
}

// downWeb is a web that does not answer.
type downWeb struct{ err error }

// RoundTrip implements http.RoundTripper.
func (d downWeb) RoundTrip(*http.Request) (*http.Response, error) { return nil, d.err }
