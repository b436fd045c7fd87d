package botctx

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/botctx/go-sdk/boterr"
)

// HTTPStatus returns the status with which a handler answers a platform after Accept or Receive:
//
//	200  no error
//	400  InvalidArgument
//	404  NotFound
//	409  AlreadyExists, Conflict, FailedPrecondition
//	501  Unsupported
//	503  ResourceExhausted, Unavailable, Canceled: the platform is to send it again later
//	500  any other error
//
// Where bot logic itself failed, so that a *RunError is behind the error, only Conflict,
// ResourceExhausted, Unavailable and Canceled have their statuses, since another attempt may
// succeed; what else goes wrong there is no fault of the sender's, and is 500.
func HTTPStatus(err error) int { return httpAnswerTo(err).status }

// WriteHTTPError answers a platform with HTTPStatus of an error, a Retry-After where that is 503,
// and a body which tells the code and what it means to the sender, and nothing else of the error:
//
//	{"error": {"code": "ResourceExhausted", "message": "..."}}
//
// Where there is no error, it answers with 200 and an empty object.
func WriteHTTPError(w http.ResponseWriter, err error) {
	answer := httpAnswerTo(err)
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if answer.status == http.StatusServiceUnavailable {
		header.Set("Retry-After", retryAfter)
	}
	w.WriteHeader(answer.status)
	told := map[string]map[string]string{}
	if err != nil {
		told["error"] = map[string]string{"code": string(answer.code), "message": answer.message}
	}
	_ = json.NewEncoder(w).Encode(told) //nolint:errchkjson // These are strings; who is gone needs no answer.
}

// retryAfter is the number of seconds after which a platform may send again what was not taken.
const retryAfter = "1"

// httpAnswer is what a sender is told of an error.
type httpAnswer struct {
	code    boterr.Code
	status  int
	message string
}

// httpAnswerTo returns what a sender is told of an error.
func httpAnswerTo(err error) httpAnswer {
	if err == nil {
		return httpAnswer{status: http.StatusOK}
	}
	code := boterr.CodeOf(err)
	if _, isRun := errors.AsType[*RunError](err); isRun && !mayPass(code) {
		code = boterr.Internal
	}
	for _, answer := range httpAnswers() {
		if answer.code == code {
			return answer
		}
	}
	return httpAnswer{boterr.Internal, http.StatusInternalServerError, "the bot failed"}
}

// httpAnswers are what is told of each code but Internal.
func httpAnswers() []httpAnswer {
	return []httpAnswer{
		{boterr.InvalidArgument, http.StatusBadRequest, "the event is not one that the bot takes"},
		{boterr.NotFound, http.StatusNotFound, "what the event is about does not exist"},
		{boterr.AlreadyExists, http.StatusConflict, "what the event makes exists already"},
		{boterr.Conflict, http.StatusConflict, "another event was faster; try again"},
		{boterr.FailedPrecondition, http.StatusConflict, "the bot does not take events now"},
		{boterr.ResourceExhausted, http.StatusServiceUnavailable, "the bot takes no more for now; try again later"},
		{boterr.Unsupported, http.StatusNotImplemented, "the bot does not take such events"},
		{boterr.Unavailable, http.StatusServiceUnavailable, "the bot cannot answer for now; try again later"},
		{boterr.Canceled, http.StatusServiceUnavailable, "the bot cannot answer for now; try again later"},
	}
}

// mayPass reports whether another attempt at the same may succeed.
func mayPass(code boterr.Code) bool {
	switch code {
	case boterr.Conflict, boterr.ResourceExhausted, boterr.Unavailable, boterr.Canceled:
		return true
	default:
		return false
	}
}
