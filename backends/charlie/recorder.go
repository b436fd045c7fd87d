package charlie

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/outbound"
)

// maxReplySize is the most bytes that an answer may have.
const maxReplySize = 4 << 20

// recorder sends requests and keeps the answer as it came: callers are given the tool's own
// words, fields included that the library does not know.
type recorder struct {
	client *http.Client
	now    func() time.Time
}

// recording is an answer as it came.
type recording struct {
	status int
	body   []byte
}

type recordingKey struct{}

// recorded returns a context whose request is kept in the recording.
func recorded(ctx context.Context, into *recording) context.Context {
	return context.WithValue(ctx, recordingKey{}, into)
}

// Do implements the library's HTTP client.
func (r recorder) Do(request *http.Request) (*http.Response, error) {
	answer, err := r.client.Do(request) //nolint:gosec // The address is that of the host's Config.
	if err != nil {
		return nil, err
	}
	body, err := bounded.ReadAll(answer.Body, maxReplySize)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return nil, err
	}
	if into, ok := request.Context().Value(recordingKey{}).(*recording); ok {
		*into = recording{status: answer.StatusCode, body: body}
	}
	if answer.StatusCode == http.StatusTooManyRequests {
		wait, asks := outbound.RetryAfter(answer.Header, r.now())
		if !asks {
			wait = defaultRetryAfter
		}
		answer.Header.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second))) // All that the library reads.
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}

// reply returns the object that was answered, the zero one where the answer is not an object.
func (r recording) reply() document.Object {
	var reply document.Object
	if reply.UnmarshalJSON(r.body) != nil {
		return document.Object{}
	}
	return reply
}
