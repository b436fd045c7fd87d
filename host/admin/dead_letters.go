package admin

import (
	"context"
	"net/http"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/redact"
)

// deadLetter is a dead letter as the page shows it.
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
	// Event is the event that failed. Lists leave it out.
	Event document.Object `json:"event,omitzero"`

	place string
}

// seen returns a dead letter without the member's message.
func seen(letter botctx.DeadLetter) deadLetter {
	return deadLetter{
		ID: letter.ID, App: letter.Event.App, Channel: letter.Event.Channel, From: letter.Event.From,
		AcceptedAt: document.TimestampOf(letter.AcceptedAt), DiedAt: document.TimestampOf(letter.DiedAt),
		Failures: letter.Failures, Code: letter.Code, Error: letter.Error,
		place: letter.Cursor(),
	}
}

// deadLetters lists dead letters in the order in which they were accepted.
func (v *view) deadLetters(r *http.Request) (any, error) {
	wanted, err := v.asked(r)
	if err != nil {
		return nil, err
	}
	found, err := v.runtime.DeadLetters(r.Context(), botctx.DeadLettersParams{
		App: wanted.app, ID: wanted.id, After: wanted.after, Before: wanted.before, Limit: wanted.limit + 1,
	})
	if err != nil {
		return nil, err
	}
	if wanted.before != "" { // tell expects the record nearest to before first.
		slices.Reverse(found)
	}
	shown := make([]deadLetter, len(found))
	for i, letter := range found {
		shown[i] = seen(letter)
	}
	return tell(wanted, shown, func(one deadLetter) string { return one.place })
}

// letter returns a dead letter if its app is in Config.Apps. For other apps it returns the same NotFound as
// for a missing id, so that the caller cannot find out that it exists.
func (v *view) letter(ctx context.Context, id string) (botctx.DeadLetter, error) {
	letter, err := v.runtime.DeadLetter(ctx, id)
	isOthers := err == nil && !slices.Contains(v.apps, letter.Event.App)
	if isOthers || boterr.CodeOf(err) == boterr.NotFound {
		return botctx.DeadLetter{}, boterr.New(boterr.NotFound, "id",
			"there is no dead letter %s in the apps on this page; it may have been retried or discarded", id)
	}
	return letter, err
}

// deadLetter returns one dead letter with its event.
func (v *view) deadLetter(r *http.Request) (any, error) {
	letter, err := v.letter(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	one := seen(letter)
	one.Event = redact.Object(document.Get(letter.Event.Body, "event", document.O()))
	return one, nil
}

// change returns a function that applies do to a dead letter and logs the change.
func (v *view) change(what string, do func(ctx context.Context, id string) error) func(r *http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		id := r.PathValue("id")
		if !v.mayWrite {
			return nil, boterr.New(boterr.FailedPrecondition, "",
				"the page is read-only; to retry or discard dead letters, set MayWrite in the host")
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
}
