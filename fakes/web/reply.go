package web

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Reply is one answer.
type Reply struct {
	// Status is the status code. 0 means 200.
	Status int
	// Header holds the headers of the answer.
	Header http.Header
	// Body is the whole body.
	Body string
	// Err is a network failure, which replaces everything else.
	Err error
}

// JSON returns a reply with a JSON body, which is sent unchanged.
func JSON(status int, body string) Reply {
	return Reply{Status: status, Header: contentType("application/json"), Body: body}
}

// Text returns a reply with a plain text.
func Text(status int, body string) Reply {
	return Reply{Status: status, Header: contentType("text/plain; charset=utf-8"), Body: body}
}

// Redirect returns a reply that redirects the client to another URL, absolute or relative.
func Redirect(status int, location string) Reply {
	return Reply{Status: status, Header: http.Header{"Location": {location}}}
}

// Fail returns a reply that is a network failure. The caller gets Unavailable, or the code of the error if it
// has one.
func Fail(err error) Reply { return Reply{Err: err} }

func contentType(value string) http.Header { return http.Header{"Content-Type": {value}} }

func (r Reply) response(req *http.Request) (*http.Response, error) {
	if r.Err != nil {
		return nil, r.Err
	}
	status, body := r.Status, r.Body
	if status == 0 {
		status = http.StatusOK
	}
	if req.Method == http.MethodHead {
		body = ""
	}
	header := r.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		Status:        fmt.Sprintf("%d %s", status, http.StatusText(status)),
		StatusCode:    status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       req,
	}, nil
}
