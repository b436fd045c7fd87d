package charlie

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/botctx/go-sdk/document"
)

// The limits of what is read of an answer.
const (
	maxReplySize = 4 << 20
	// maxRetryAfter is the number of seconds that a longer one counts as.
	maxRetryAfter = 24 * 60 * 60
)

// recorder sends requests and keeps the answer as it came: callers are given the tool's own
// words, fields included that the library does not know.
type recorder struct{ client *http.Client }

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
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxReplySize+1))
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return nil, err
	}
	if len(body) > maxReplySize {
		return nil, errors.New("the answer of the workspace chat tool is too long")
	}
	if into, ok := request.Context().Value(recordingKey{}).(*recording); ok {
		*into = recording{status: answer.StatusCode, body: body}
	}
	if answer.StatusCode == http.StatusTooManyRequests {
		answer.Header.Set(headerRetryAfter, seconds(answer.Header.Get(headerRetryAfter)))
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}

const headerRetryAfter = "Retry-After"

// seconds returns a number of seconds that can be waited for: 1 for what is no number.
func seconds(given string) string {
	n, err := strconv.Atoi(given)
	switch {
	case err != nil || n < 0:
		return "1"
	case n > maxRetryAfter:
		return strconv.Itoa(maxRetryAfter)
	default:
		return given
	}
}

// reply returns the object that was answered, the zero one where the answer is not an object.
func (r recording) reply() document.Object {
	var reply document.Object
	if reply.UnmarshalJSON(r.body) != nil {
		return document.Object{}
	}
	return reply
}
