package fakes

import (
	"net/http"

	"github.com/botctx/go-sdk/boterr"
)

// recordedWeb is the platform's HTTP with a line in the transcript for each request.
type recordedWeb struct{ platform *Platform }

// Do implements outbound.Doer.
func (w recordedWeb) Do(request *http.Request) (*http.Response, error) {
	target := *request.URL
	target.Fragment, target.RawFragment = "", "" // No request has it.
	url := boterr.Redact(target.String())
	response, err := w.platform.HTTP.Do(request)
	if err != nil {
		w.platform.notef("%s %s ! %v", request.Method, url, err)
		return nil, err
	}
	w.platform.notef("%s %s -> %d", request.Method, url, response.StatusCode)
	return response, nil
}
