package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/inbox"
)

// adminVariable holds the token of operators.
const (
	adminVariable = "HOST_ADMIN_TOKEN"
	minTokenBytes = 16
)

// deadLetters lets operators see the messages that were given up, and try them again or discard
// them.
type deadLetters struct {
	inbox *inbox.Inbox
	log   *slog.Logger
	token channel.Secret
}

// addTo adds the paths.
func (d deadLetters) addTo(mux *http.ServeMux) {
	mux.Handle("GET /dead-letters", d.forOperators(d.list))
	mux.Handle("GET /dead-letters/{id}", d.forOperators(d.show))
	mux.Handle("POST /dead-letters/{id}/retry", d.forOperators(d.retry))
	mux.Handle("DELETE /dead-letters/{id}", d.forOperators(d.discard))
}

// forOperators answers by a function, which returns what is told, where the request has the token.
func (d deadLetters) forOperators(answer func(r *http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if !d.isOperator(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			tell(w, http.StatusUnauthorized, problem{"say authorization: Bearer and the token of " + adminVariable})
			return
		}
		told, err := answer(r)
		if err != nil {
			tell(w, botctx.HTTPStatus(err), problem{err.Error()}) // Credentials are hidden in it.
			return
		}
		tell(w, http.StatusOK, told)
	})
}

// isOperator compares the token in a time that tells nothing of it.
func (d deadLetters) isOperator(r *http.Request) bool {
	given, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	got, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(d.token.Reveal()))
	return isBearer && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// problem is the body of an answer that says what is wrong.
type problem struct {
	Error string `json:"error"`
}

func tell(w http.ResponseWriter, status int, body any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // All that is told has a JSON; who is gone needs no answer.
}

// deadLetter is a message that was given up, as operators see it.
type deadLetter struct {
	ID         string      `json:"id"`
	App        string      `json:"app"`
	Channel    string      `json:"channel"`
	From       string      `json:"from"`
	AcceptedAt time.Time   `json:"acceptedAt"`
	DiedAt     time.Time   `json:"diedAt"`
	Failures   int         `json:"failures"`
	Code       boterr.Code `json:"code"`
	Error      string      `json:"error"`
	// Event is what arrived, in the answer for one alone.
	Event document.Object `json:"event,omitzero"`
}

// seen returns a dead letter without what the member wrote.
func seen(letter inbox.DeadLetter) deadLetter {
	return deadLetter{
		ID: letter.ID, App: letter.Event.App, Channel: letter.Event.Channel, From: letter.Event.From,
		AcceptedAt: letter.AcceptedAt.UTC(), DiedAt: letter.DiedAt.UTC(),
		Failures: letter.Failures, Code: letter.Code, Error: letter.Error,
	}
}

// mostListed is how many are listed where a request names no limit.
const mostListed = 100

// list tells the dead letters, the first accepted first: of ?app= and &channel=, behind &skip=, &limit=
// at the most.
func (d deadLetters) list(r *http.Request) (any, error) {
	which := inbox.DeadLettersParams{App: r.FormValue("app"), Channel: r.FormValue("channel"), Limit: mostListed}
	for name, number := range map[string]*int{"skip": &which.Skip, "limit": &which.Limit} {
		text := r.FormValue(name)
		if text == "" {
			continue
		}
		var err error
		if *number, err = strconv.Atoi(text); err != nil {
			return nil, boterr.Invalid(name, "is %q: give a number", text)
		}
	}
	letters, err := d.inbox.DeadLetters(r.Context(), which)
	if err != nil {
		return nil, err
	}
	listed := make([]deadLetter, len(letters))
	for i, letter := range letters {
		listed[i] = seen(letter)
	}
	return map[string][]deadLetter{"deadLetters": listed}, nil
}

// show tells one, with what arrived.
func (d deadLetters) show(r *http.Request) (any, error) {
	letter, err := d.inbox.DeadLetter(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	told := seen(letter)
	told.Event = document.Get(letter.Event.Body, "event", document.O())
	return told, nil
}

// retry has one run again, as the next of its member.
func (d deadLetters) retry(r *http.Request) (any, error) {
	return d.change(r, "retried", d.inbox.Retry(r.Context(), r.PathValue("id")))
}

// discard takes one away.
func (d deadLetters) discard(r *http.Request) (any, error) {
	return d.change(r, "discarded", d.inbox.Discard(r.Context(), r.PathValue("id")))
}

// change notes in the log what was done with one.
func (d deadLetters) change(r *http.Request, what string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	d.log.InfoContext(r.Context(), "dead letter "+what, "event", id)
	return map[string]string{"id": id, "status": what}, nil
}
