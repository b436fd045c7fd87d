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
// the newest message with one of that title counts, and of several in it the first. Quick
// replies are gone once another message follows, other than TYPING. It ends the test with what
// there is to tap where nothing has the title.
func (a *Actor) TapsOn(title string) {
	a.platform.test.Helper()
	if err := a.TryTapsOn(title); err != nil {
		a.platform.test.Fatalf("fakes: %s tapped on %q: %v", a.name, title, err)
	}
}

// TryTapsOn is TapsOn, and returns the error of a run that fails. FailedPrecondition: nothing
// has the title.
func (a *Actor) TryTapsOn(title string) error {
	var titles []string
	for _, one := range a.tappables() {
		if one.title == title {
			return a.TrySends(one.event())
		}
		titles = append(titles, "["+one.title+"]")
	}
	if len(titles) == 0 {
		return boterr.New(boterr.FailedPrecondition, "", "%s is shown nothing that can be tapped", a.name)
	}
	return boterr.New(boterr.FailedPrecondition, "", "%s is shown nothing of that title to tap: there is %s",
		a.name, strings.Join(titles, ", "))
}

// tappables returns what the member can tap now, that of the newest message first.
func (a *Actor) tappables() []tappable {
	var all []tappable
	isNewest := true
	for _, sent := range slices.Backward(a.platform.Sent()) {
		if !a.sees(sent) || sent.Shown.Type() == send.TypeTyping {
			continue
		}
		all = append(all, buttonsOf(sent.Shown)...)
		if isNewest {
			all = append(all, quickRepliesOf(sent.Shown)...)
		}
		isNewest = false
	}
	return all
}

// tappable is a button or a quick reply that sends a payload.
type tappable struct {
	title   string
	payload any
}

// event returns the event of a tap.
func (t tappable) event() send.MessageEvent {
	return send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", t.payload)}
}

// buttonsOf returns the buttons of a message that send a payload, those of its cards too.
func buttonsOf(message send.Response) []tappable {
	all := tappablesOf(document.Get(message, "buttons", []document.Object(nil)))
	for _, card := range document.Get(message, "carousel", []document.Object(nil)) {
		all = append(all, tappablesOf(document.Get(card, "buttons", []document.Object(nil)))...)
	}
	return all
}

// quickRepliesOf returns the quick replies of a message that send a payload.
func quickRepliesOf(message send.Response) []tappable {
	return tappablesOf(document.Get(message, "quickReplies", []document.Object(nil)))
}

// tappablesOf returns those that send a payload. A value that stands beside it goes with it.
func tappablesOf(shown []document.Object) []tappable {
	var all []tappable
	for _, one := range shown {
		payload, sends := one.Field("payload")
		if !sends {
			continue
		}
		if value, hasValue := one.Field("value"); hasValue {
			payload = document.O("payload", payload, "value", value)
		}
		all = append(all, tappable{title: document.Get(one, "title", ""), payload: payload})
	}
	return all
}
