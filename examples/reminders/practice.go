package main

import (
	"context"
	"regexp"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/send"
)

const helpText = `I keep the appointments of a physiotherapist. You can say:
  book - to choose a time, or move - to choose another
  cancel - to give it up
  stop - and I write no more unasked, start - and I do again`

// Practice is the bot. It keeps in the member's meta what was offered (the ids of the
// times in the last list) and the appointment.
type Practice struct {
	// Notice is how long before an appointment the bot reminds of it. Times that are
	// nearer cannot be booked.
	Notice time.Duration
	// Exercises is the CRON pattern by which the bot reminds of the exercises, until the
	// appointment. It fires at least once in a time of Notice.
	Exercises string
}

// The nodes that agendas run.
const (
	nodeReminder  = "reminder"
	nodeExercises = "exercises"
)

var numberForm = regexp.MustCompile(`^\s*[1-9]\s*$`)

// Nodes returns the bot: what patients may say, what that leads to, and what agendas run.
func (p Practice) Nodes() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "free times", Trigger: botctx.TextIs("book", "move"), Global: botctx.GlobalInTree,
			Pre: do(p.offer), SavesPosition: true,
		},
		{ID: "choice", Parent: "free times", Trigger: botctx.TextMatches(numberForm), Redirect: p.choose},
		{ID: "booked", Pre: do(p.setReminders), Responses: say(bookedText), SavesPosition: true},
		{
			ID: "moved", Pre: do(p.moveReminders, releaseBefore), Responses: say("Moved: {{meta.appointment.time}}."),
			SavesPosition: true,
		},
		{ID: "gone", Responses: say("Sorry, that time cannot be had any more."), Redirect: botctx.To("free times")},

		{ID: "cancel", Trigger: botctx.TextIs("cancel"), Global: botctx.GlobalInTree, Redirect: cancel},
		{
			ID: "cancelled", Pre: do(removeReminders, giveUp), Responses: say("Your appointment is cancelled."),
			SavesPosition: true,
		},
		{ID: "nothing booked", Responses: say("You have no appointment.")},

		{
			ID: "stop", Trigger: botctx.TextIs("stop"), Global: botctx.GlobalInTree,
			Pre: do(subscribe(false)), Responses: say("Fine, I write no more unasked."),
		},
		{
			ID: "start", Trigger: botctx.TextIs("start"), Global: botctx.GlobalInTree,
			Pre: do(subscribe(true)), Responses: say("Fine, I remind you again."),
		},
		{
			ID: "help", Trigger: botctx.AnyText(), Global: botctx.GlobalInTree, Priority: 1000,
			Responses: say(helpText),
		},

		{ID: nodeReminder, Pre: do(remind)},
		{ID: nodeExercises, Responses: say("Hello {{firstName}}, time for your exercises!")},
	}
}

const bookedText = "Booked: {{meta.appointment.time}}. I remind you before it, and of your exercises until then."

// do returns the actions of a node.
func do(actions ...botctx.Action) []botctx.Action { return actions }

// say returns the responses of a node: one text.
func say(text string) []send.Response { return []send.Response{send.Template(text)} }

// goTo goes on at a node.
func goTo(node string) (*botctx.Redirect, error) { return &botctx.Redirect{NodeCompositeID: node}, nil }

// subscribe returns the action that lets the bot write unasked, or not. Agendas go on, and
// send nothing to a member who does not want it.
func subscribe(wanted bool) botctx.Action {
	return func(_ context.Context, bot *botctx.Context) error {
		bot.Member.BotMeta.Set("subscribe", wanted)
		return nil
	}
}
