package admin

import (
	"context"
	"net/http"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// deadLetter is a message that was given up, as the page shows it.
type deadLetter struct {
	ID         string             `json:"id"`
	App        string             `json:"app"`
	Channel    string             `json:"channel"`
	From       string             `json:"from"`
	AcceptedAt document.Timestamp `json:"acceptedAt"`
	DiedAt     document.Timestamp `json:"diedAt"`
	Failures   int                `json:"failures"`
	Code       boterr.Code        `json:"code"`
	Error      string             `json:"error"`
	// Event is what arrived, in the answer for one alone.
	Event document.Object `json:"event,omitzero"`

	place string
}

// seen returns a dead letter without what the member wrote.
func seen(letter botctx.DeadLetter) deadLetter {
	return deadLetter{
		ID: letter.ID, App: letter.Event.App, Channel: letter.Event.Channel, From: letter.Event.From,
		AcceptedAt: document.TimestampOf(letter.AcceptedAt), DiedAt: document.TimestampOf(letter.DiedAt),
		Failures: letter.Failures, Code: letter.Code, Error: letter.Error,
		place: letter.Cursor(),
	}
}

// deadLetters lists the messages that were given up, the first accepted first.
func (v *view) deadLetters(r *http.Request) (any, error) {
	wanted, err := v.asked(r)
	if err != nil {
		return nil, err
	}
	var found []botctx.DeadLetter
	if wanted.id == "" {
		found, err = v.runtime.DeadLetters(r.Context(), botctx.DeadLettersParams{
			App: wanted.app, After: wanted.after, Before: wanted.before, Limit: wanted.limit + 1,
		})
	} else {
		found, err = v.oneOrNone(r.Context(), wanted.id)
	}
	if err != nil {
		return nil, err
	}
	if wanted.before != "" { // As tell takes them.
		slices.Reverse(found)
	}
	shown := make([]deadLetter, len(found))
	for i, letter := range found {
		shown[i] = seen(letter)
	}
	return tell(wanted, shown, func(one deadLetter) string { return one.place })
}

func (v *view) oneOrNone(ctx context.Context, id string) ([]botctx.DeadLetter, error) {
	letter, err := v.letter(ctx, id)
	if boterr.CodeOf(err) == boterr.NotFound {
		return nil, nil
	}
	return []botctx.DeadLetter{letter}, err
}

// letter returns the dead letter of an id, if its app is one of those that may be looked at. One of another
// app is NotFound as one that is not there, so that nobody learns of it.
func (v *view) letter(ctx context.Context, id string) (botctx.DeadLetter, error) {
	letter, err := v.runtime.DeadLetter(ctx, id)
	isOthers := err == nil && !slices.Contains(v.apps, letter.Event.App)
	if isOthers || boterr.CodeOf(err) == boterr.NotFound {
		return botctx.DeadLetter{}, boterr.New(boterr.NotFound, "id",
			"there is no dead letter %s of the apps that are shown: it was retried or discarded, or never was one", id)
	}
	return letter, err
}

// deadLetter shows one, with what arrived.
func (v *view) deadLetter(r *http.Request) (any, error) {
	letter, err := v.letter(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	one := seen(letter)
	one.Event = redacted(document.Get(letter.Event.Body, "event", document.O()))
	return one, nil
}

func (v *view) retry(r *http.Request) (any, error) {
	return v.change(r, "retried", v.runtime.RetryDeadLetter)
}

func (v *view) discard(r *http.Request) (any, error) {
	return v.change(r, "discarded", v.runtime.DiscardDeadLetter)
}

// change changes a dead letter, and notes in the log what was done with it.
func (v *view) change(r *http.Request, what string, do func(ctx context.Context, id string) error) (any, error) {
	id := r.PathValue("id")
	if !v.mayWrite {
		return nil, boterr.New(boterr.FailedPrecondition, "", "this page only reads: the host has not set MayWrite")
	}
	if _, err := v.letter(r.Context(), id); err != nil {
		return nil, err
	}
	if err := do(r.Context(), id); err != nil {
		return nil, err
	}
	v.log.InfoContext(r.Context(), "dead letter "+what, "event", id)
	return map[string]string{"id": id, "status": what}, nil
}
