package s3

import (
	"errors"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/outbound"
)

const (
	// requestTime is how long one request may take, with the part of a file that it sends.
	requestTime = time.Minute
	// maxAnswerBytes is the most that a bucket may answer. It answers a file that is stored with a few lines.
	maxAnswerBytes = 1 << 20
	// maxWait is the longest wait for a bucket that says when to come again. If it asks for more, the file is not
	// sent again.
	maxWait = 20 * time.Second
)

// boundedClient returns the client of a configuration within bounds. Its transport is kept, with the authorities and
// the proxy that the environment names.
func boundedClient(given aws.HTTPClient) *http.Client {
	buildable, isBuildable := given.(*awshttp.BuildableClient)
	if !isBuildable {
		buildable = awshttp.NewBuildableClient()
	}
	return bounded.Client(&http.Client{Transport: buildable.GetTransport()},
		bounded.Limits{Time: requestTime, MaxBytes: maxAnswerBytes})
}

// patient is a retryer that waits at least as long as the bucket asks for in its header Retry-After, which the
// library does not read.
type patient struct{ aws.RetryerV2 }

// RetryDelay implements aws.Retryer.
func (p patient) RetryDelay(attempt int, failure error) (time.Duration, error) {
	delay, err := p.RetryerV2.RetryDelay(attempt, failure)
	return max(delay, asked(failure)), err
}

// IsErrorRetryable implements aws.Retryer.
func (p patient) IsErrorRetryable(failure error) bool {
	_, isRedirect := errors.AsType[*bounded.RedirectError](failure)
	_, isTooLong := errors.AsType[*bounded.TooLongError](failure)
	return !isRedirect && !isTooLong && asked(failure) <= maxWait && p.RetryerV2.IsErrorRetryable(failure)
}

// asked returns how long an answer asks to wait.
func asked(failure error) time.Duration {
	answer, isAnswer := errors.AsType[*awshttp.ResponseError](failure)
	if !isAnswer || answer.Response == nil || answer.Response.Response == nil {
		return 0
	}
	wait, _ := outbound.RetryAfter(answer.Response.Header, time.Now()) //nolint:forbidigo // The bucket's dates are of this clock.
	return wait
}
