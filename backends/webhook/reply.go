package webhook

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
)

// reply is the answer to a request that arrived.
type reply struct {
	status int
	body   any
}

// acceptance is the body of a reply to a request that was taken.
type acceptance struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

// problem is the body of a reply to one that was not.
type problem struct {
	Error problemError `json:"error"`
}

type problemError struct {
	Code    boterr.Code `json:"code"`
	Field   string      `json:"field,omitzero"`
	Message string      `json:"message"`
}

// accept says that a request was taken.
func accept(id, status string) *reply {
	return &reply{status: http.StatusOK, body: acceptance{ID: id, Status: status}}
}

// refuse says what is wrong with a request.
func refuse(status int, err error) *reply {
	told := problemError{Code: boterr.CodeOf(err)}
	if coded, ok := boterr.AsError(err); ok {
		told.Field, told.Message = coded.Field, coded.Message()
	}
	return &reply{status: status, body: problem{told}}
}

// unauthorized is the answer to whatever is not signed as it should be.
func unauthorized() *reply {
	return refuse(http.StatusUnauthorized, boterr.New(boterr.FailedPrecondition, "",
		"sign the request with the channel's secret, with a present time; see the headers webhook-id, webhook-timestamp and webhook-signature"))
}

// failed says that a request could not be answered, by the code of the error alone.
func failed(err error) *reply {
	code := boterr.CodeOf(err)
	if _, isRun := errors.AsType[*botctx.RunError](err); isRun && !isTransient(code) {
		code = boterr.Internal
	}
	answers := map[boterr.Code]struct {
		status  int
		message string
	}{
		boterr.InvalidArgument:    {http.StatusBadRequest, "the event is not one that the bot takes"},
		boterr.NotFound:           {http.StatusNotFound, "what the event is about does not exist"},
		boterr.AlreadyExists:      {http.StatusConflict, "what the event makes exists already"},
		boterr.Conflict:           {http.StatusConflict, "another event was faster; try again"},
		boterr.FailedPrecondition: {http.StatusConflict, "the bot does not take events now"},
		boterr.ResourceExhausted:  {http.StatusTooManyRequests, "the bot takes no more for now; try again later"},
		boterr.Unsupported:        {http.StatusNotImplemented, "the bot does not take such events"},
		boterr.Unavailable:        {http.StatusServiceUnavailable, "the bot cannot answer for now; try again later"},
		boterr.Canceled:           {http.StatusServiceUnavailable, "the bot cannot answer for now; try again later"},
	}
	answer, ok := answers[code]
	if !ok {
		code, answer.status, answer.message = boterr.Internal, http.StatusInternalServerError, "the bot failed"
	}
	return &reply{status: answer.status, body: problem{problemError{Code: code, Message: answer.message}}}
}

// isTransient reports whether another attempt may succeed.
func isTransient(code boterr.Code) bool {
	switch code {
	case boterr.ResourceExhausted, boterr.Conflict, boterr.Unavailable, boterr.Canceled:
		return true
	default:
		return false
	}
}

// write sends the reply. The sender may be gone, which changes nothing.
func (r *reply) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(r.status)
	_ = json.NewEncoder(w).Encode(r.body) //nolint:errchkjson // These are strings.
}
