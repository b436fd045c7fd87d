package webhook

import (
	"encoding/json"
	"net/http"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
)

// reply is the answer to a request that arrived: a status and a body, or what accept returned.
type reply struct {
	status int
	body   any
	err    error
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

// accepted says that a request was taken.
func accepted(id string) *reply {
	return &reply{status: http.StatusOK, body: acceptance{ID: id, Status: "accepted"}}
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

// failed says that a request could not be taken, by the code of the error alone.
func failed(err error) *reply { return &reply{err: err} }

// write sends the reply. The sender may be gone, which changes nothing.
func (r *reply) write(w http.ResponseWriter) {
	if r.err != nil {
		botctx.WriteHTTPError(w, r.err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(r.status)
	_ = json.NewEncoder(w).Encode(r.body) //nolint:errchkjson // These are strings.
}
