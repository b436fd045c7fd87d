// Package calls has the common parts of the connectors' clients of platforms' APIs: HTTP requests and their answers, and the
// errors for calls that a platform refused.
package calls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
)

// ErrUnreadable means that a platform's answer is malformed or incomplete.
var ErrUnreadable = errors.New("the platform's answer cannot be read")

// Request is an HTTP request.
type Request struct {
	// Method is the HTTP method. URL is the address without the Query.
	Method, URL string
	Query       url.Values
	Header      http.Header
	// JSON is the body, unless it is zero. Otherwise the body is Body, of the media type BodyType.
	JSON     document.Object
	Body     []byte
	BodyType string
	// Secrets are removed from errors.
	Secrets []string
}

// Answer is the answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Object returns the JSON object in the body, or the zero Object if the body is anything else.
func (a Answer) Object() document.Object {
	var object document.Object
	if object.UnmarshalJSON(a.Body) != nil {
		return document.Object{}
	}
	return object
}

// Do makes a request and reads its answer, at most the given number of bytes. Errors are as for Open.
func Do(ctx context.Context, client *http.Client, r Request, most int64) (Answer, error) {
	answer, err := Open(ctx, client, r)
	if err != nil {
		return Answer{}, err
	}
	defer answer.Body.Close() //nolint:errcheck // The body has been read.
	body, err := bounded.ReadAll(answer.Body, most)
	if err != nil {
		return Answer{}, Unanswered(ctx, err, r.Secrets...)
	}
	return Answer{answer.StatusCode, answer.Header, body}, nil
}

// Open makes a request. Callers must close the answer's body. If ctx ends, Open returns its error. Any other error without
// a code means that no answer came, so the request may have had an effect. Errors contain neither the address nor the secrets.
func Open(ctx context.Context, client *http.Client, r Request) (*http.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	body, kind := r.Body, r.BodyType
	if !r.JSON.IsZero() {
		var err error
		if body, err = document.AppendJSON(nil, r.JSON); err != nil {
			return nil, boterr.Invalid("", "cannot be written as JSON: %w", err)
		}
		kind = "application/json"
	}
	address := r.URL
	if len(r.Query) > 0 {
		address += "?" + r.Query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of a request is malformed; check the addresses in the connector's Config")
	}
	if r.Header != nil {
		request.Header = r.Header
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, Unanswered(ctx, err, r.Secrets...)
	}
	return answer, nil
}

// Unanswered returns the error of a request without an answer, as Open does. ctx is the caller's context. If only the
// request's own time limit has passed, the error does not wrap context.DeadlineExceeded.
func Unanswered(ctx context.Context, err error, secrets ...string) error {
	err = bounded.Unanswered(ctx, err, secrets...)
	switch {
	case ctx.Err() != nil, boterr.HasCode(err):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("the platform did not answer in time")
	default:
		return fmt.Errorf("the platform did not answer: %w", err)
	}
}

// Form returns a multipart form with fields and a file, and its media type. fileType is the media type of the file.
func Form(fields map[string]string, name, fileName, fileType string, file []byte) (body []byte, bodyType string) {
	var form bytes.Buffer
	writer := multipart.NewWriter(&form) // Writing to memory does not fail.
	for field, value := range fields {
		_ = writer.WriteField(field, value)
	}
	part, _ := writer.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {multipart.FileContentDisposition(name, fileName)}, "Content-Type": {fileType},
	})
	_, _ = part.Write(file)
	_ = writer.Close()
	return form.Bytes(), writer.FormDataContentType()
}

// Authorized returns a header with these credentials, such as "Bearer" and a token.
func Authorized(scheme, credentials string) http.Header {
	return http.Header{"Authorization": {scheme + " " + credentials}}
}
