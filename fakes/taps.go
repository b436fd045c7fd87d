package fakes

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// TapsOn taps a button or a quick reply by its title, as the member sees it, and waits as Says
// does: its payload goes to the bot, with its value. Buttons stay, those of cards too, so that
// the newest message with one of that title counts. Quick replies are gone once another message
// follows, other than TYPING. It ends the test with what there is to tap if nothing has the title,
// or if several in one message have it and send different payloads: Taps says which.
func (a *Actor) TapsOn(title string) {
	a.platform.test.Helper()
	if err := a.TryTapsOn(title); err != nil {
		a.platform.test.Fatalf("fakes: %s tapped on %q: %v", a.name, title, err)
	}
}

// TryTapsOn is TapsOn, and returns the error of a run that fails. FailedPrecondition: nothing
// has the title, or several have it.
func (a *Actor) TryTapsOn(title string) error {
	var titles []string
	var meant []Tappable
	for _, one := range a.Tappables() {
		titles = append(titles, "["+one.Title+"]")
		if one.Title == title && (len(meant) == 0 || one.MessageID == meant[0].MessageID) {
			meant = append(meant, one)
		}
	}
	if len(meant) > 0 {
		if err := sendOne(meant); err != nil {
			return err
		}
		return a.TrySends(meant[0].Event())
	}
	if len(titles) == 0 {
		return boterr.New(boterr.FailedPrecondition, "", "%s is shown nothing that can be tapped", a.name)
	}
	return boterr.New(boterr.FailedPrecondition, "", "%s is shown nothing of that title to tap: there is %s",
		a.name, strings.Join(titles, ", "))
}

// sendOne refuses what sends different payloads.
func sendOne(meant []Tappable) error {
	var payloads []string
	for _, one := range meant {
		payload := document.O("payload", one.Payload)
		if text := strings.TrimSuffix(strings.TrimPrefix(payload.String(), `{"payload":`), "}"); !slices.Contains(payloads, text) {
			payloads = append(payloads, text)
		}
	}
	if len(payloads) == 1 {
		return nil
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"%d buttons of one message have that title, with the payloads %s: give one of them to Taps", len(meant), strings.Join(payloads, ", "))
}

// Tappables returns what the member can tap now, that of the newest message first.
func (a *Actor) Tappables() []Tappable {
	var all []Tappable
	isNewest := true
	for _, sent := range slices.Backward(a.platform.Sent()) {
		if !a.sees(sent) || sent.Shown.Type() == send.TypeTyping {
			continue
		}
		shown := buttonsOf(sent.Shown)
		if isNewest {
			shown = append(shown, quickRepliesOf(sent.Shown)...)
		}
		isNewest = false
		for _, one := range shown {
			one.MessageID = sent.MessageID
			all = append(all, one)
		}
	}
	return all
}

// Tappable is a button or a quick reply that sends a payload.
type Tappable struct {
	// Title is what the member sees.
	Title string
	// Payload is what goes to the bot: a text, as a rule, and where a value goes with it an object
	// of both.
	Payload any
	// MessageID is the platform's id of the message that shows it.
	MessageID string
}

// Event returns the event of a tap, for Actor.Sends.
func (t Tappable) Event() send.MessageEvent {
	return send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", t.Payload)}
}

// buttonsOf returns the buttons of a message that send a payload, those of its cards too.
func buttonsOf(message send.Response) []Tappable {
	all := tappablesOf(document.Get(message, "buttons", []document.Object(nil)))
	for _, card := range document.Get(message, "carousel", []document.Object(nil)) {
		all = append(all, tappablesOf(document.Get(card, "buttons", []document.Object(nil)))...)
	}
	return all
}

// quickRepliesOf returns the quick replies of a message that send a payload.
func quickRepliesOf(message send.Response) []Tappable {
	return tappablesOf(document.Get(message, "quickReplies", []document.Object(nil)))
}

// tappablesOf returns those that send a payload. A value that stands beside it goes with it.
func tappablesOf(shown []document.Object) []Tappable {
	var all []Tappable
	for _, one := range shown {
		payload, sends := one.Field("payload")
		if !sends {
			continue
		}
		if value, hasValue := one.Field("value"); hasValue {
			payload = document.O("payload", payload, "value", value)
		}
		all = append(all, Tappable{Title: document.Get(one, "title", ""), Payload: payload})
	}
	return all
}
