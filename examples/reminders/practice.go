package main

import (
	"context"
	"regexp"
	"time"

	"github.com/botctx/go-sdk/botctx"
)

const helpText = `I keep the appointments of a physiotherapist. You can say:
  book - to choose a time, or move - to choose another
  cancel - to give it up
  stop - and I write no more unasked, start - and I do again`

// Practice is the bot. It keeps in the member's meta the offered times (the ids in the last list) and the
// appointment.
type Practice struct {
	// Notice is the time before an appointment at which the bot sends a reminder. Nearer times cannot be
	// booked.
	Notice time.Duration
	// Exercises is the CRON pattern of the reminders of exercises, until the appointment. It must fire at
	// least once per Notice.
	Exercises string
}

// The nodes that agendas run.
const (
	nodeReminder  = "reminder"
	nodeExercises = "exercises"
)

var numberForm = regexp.MustCompile(`^\s*[1-9]\s*$`)

// Nodes returns the bot's nodes: for patients' messages, their next steps, and agendas.
func (p Practice) Nodes() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "free times", Trigger: botctx.TextIs("book", "move"), Global: botctx.GlobalInTree,
			Pre: botctx.Do(p.offer), SavesPosition: true,
		},
		{
			ID: "choice", Parent: "free times", Trigger: botctx.TextMatches(numberForm),
			Redirect: botctx.ToOneOf(p.choose, "free times", "gone", "moved", "booked"),
		},
		{
			ID: "booked", Pre: botctx.Do(p.setReminders), Responses: botctx.Say(bookedText), SavesPosition: true,
			Schedules: botctx.Nodes(nodeReminder, nodeExercises),
		},
		{
			ID: "moved", Pre: botctx.Do(p.moveReminders, releaseBefore), Responses: botctx.Say("Moved: {{meta.appointment.time}}."),
			SavesPosition: true, Schedules: botctx.Nodes(nodeReminder, nodeExercises),
		},
		{ID: "gone", Responses: botctx.Say("Sorry, that time cannot be had any more."), Redirect: botctx.To("free times")},

		{
			ID: "cancel", Trigger: botctx.TextIs("cancel"), Global: botctx.GlobalInTree,
			Redirect: botctx.ToOneOf(cancel, "nothing booked", "cancelled"),
		},
		{
			ID: "cancelled", Pre: botctx.Do(removeReminders, giveUp), Responses: botctx.Say("Your appointment is cancelled."),
			SavesPosition: true,
		},
		{ID: "nothing booked", Responses: botctx.Say("You have no appointment.")},

		{
			ID: "stop", Trigger: botctx.TextIs("stop"), Global: botctx.GlobalInTree,
			Pre: botctx.Do(subscribe(false)), Responses: botctx.Say("Fine, I write no more unasked."),
		},
		{
			ID: "start", Trigger: botctx.TextIs("start"), Global: botctx.GlobalInTree,
			Pre: botctx.Do(subscribe(true)), Responses: botctx.Say("Fine, I remind you again."),
		},
		{
			ID: "help", Trigger: botctx.AnyText(), Global: botctx.GlobalInTree, Priority: 1000,
			Responses: botctx.Say(helpText),
		},

		{ID: nodeReminder, Pre: botctx.Do(remind)},
		{ID: nodeExercises, Responses: botctx.Say("Hello {{firstName}}, time for your exercises!")},
	}
}

const bookedText = "Booked: {{meta.appointment.time}}. I remind you before it, and of your exercises until then."

// subscribe returns an action that allows or forbids the bot to send unrequested messages. Agendas continue,
// but send nothing to a member who forbids them.
func subscribe(wanted bool) botctx.Action {
	return func(_ context.Context, bot *botctx.Context) error {
		bot.Member.BotMeta.Set("subscribe", wanted)
		return nil
	}
}
