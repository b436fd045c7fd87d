package fakes

import (
	"net/http"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

// recordedWeb is the platform's HTTP with a line in the transcript for each request.
type recordedWeb struct{ platform *Platform }

// Do implements outbound.Doer.
func (w recordedWeb) Do(request *http.Request) (*http.Response, error) {
	target := *request.URL
	target.Fragment, target.RawFragment = "", "" // No request has it.
	url := boterr.Redact(target.String())
	response, err := w.send(request)
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
