package main

import (
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// bistro is the bot of a restaurant: it holds a table, reminds guests to confirm it, and records their
// confirmation.
type bistro struct {
	remindAfter time.Duration
}

const (
	// bookings is the data source of the tables that were confirmed.
	bookings = "bookings"
	// nodeReminder is the node that the agenda runs. tagTable is the agenda's tag: a member has at most one.
	nodeReminder = "reminder"
	tagTable     = "table"
	// treeAgents is the tree of the agents' channel, which has no nodes: what agents write goes to the guest.
	treeAgents = "agents"
)

// personForm matches a request for a person.
var personForm = regexp.MustCompile(`(?i)\b(person|human|somebody|someone|agent)\b`)

var wishForm = regexp.MustCompile(`(?i)\btable for ([1-9]\d?) at (\d\d?:\d\d)\b`)

func callPerson(ctx context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: "The guest wrote: " + bot.MessageEvent.Text()},
	})
	switch {
	case errors.Is(err, boterr.FailedPrecondition): // No desk is paired with the channel.
		return botctx.GoTo("away")
	case err != nil:
		return nil, err
	}
	return botctx.GoTo("called")
}

func (b bistro) nodes() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "hold", Trigger: botctx.TextMatches(wishForm), Global: botctx.GlobalInTree,
			Pre:           botctx.Do(b.hold),
			Responses:     botctx.Say("I hold a table for {{meta.table.people}} at {{meta.table.time}}. Shall I book it, yes or no?"),
			SavesPosition: true, Schedules: botctx.Nodes(nodeReminder),
		},
		{
			ID: "booked", Parent: "hold", Trigger: botctx.TextIs("yes"),
			Pre:       botctx.Do(book, forget),
			Responses: botctx.Say("Booked: {{meta.table.people}} at {{meta.table.time}}. See you then!"), SavesPosition: true,
		},
		{
			ID: "released", Parent: "hold", Trigger: botctx.TextIs("no"),
			Pre:       botctx.Do(forget),
			Responses: botctx.Say("Another time, then."), SavesPosition: true,
		},
		{
			ID: "person", Trigger: botctx.TextMatches(personForm), Global: botctx.GlobalInTree,
			Redirect: botctx.ToOneOf(callPerson, "called", "away"),
		},
		{ID: "called", Responses: botctx.Say("Someone will be with you soon.")},
		{ID: "away", Responses: botctx.Say("No one is there now.")},
		{
			ID: "help", Trigger: botctx.AnyText(), Global: botctx.GlobalInTree, Priority: botctx.FallbackPriority,
			Responses: botctx.Say(`Say when you come, such as "a table for 4 at 19:30", or ask for a person.`),
		},
		{
			ID:        nodeReminder,
			Responses: botctx.Say("I still hold a table for {{meta.table.people}} at {{meta.table.time}}: yes or no?"),
		},
	}
}

// hold stores the table, and schedules a reminder. A later request replaces both. The table is stored first, because
// after a crash the reminder may run before this run is repeated.
func (b bistro) hold(ctx context.Context, bot *botctx.Context) error {
	wish := wishForm.FindStringSubmatch(bot.MessageEvent.Text())
	table := document.O("people", wish[1], "time", wish[2])
	bot.Member.Meta.Set("table", table)
	_, err := bot.PatchMembers(ctx, member.PatchParams{
		MemberID: bot.Member.ID, Patch: document.Set("meta.table", table), WithModifier: true,
	})
	if err != nil {
		return err
	}
	_, err = bot.NewAgenda(ctx, agenda.NewParams{
		MemberID:        bot.Member.ID,
		NodeCompositeID: nodeReminder,
		NextRunAt:       document.TimestampOf(bot.Now().Add(b.remindAfter)),
		Tag:             tagTable,
		Replace:         true,
	})
	return err
}

// book stores the table. Repeating it after a failed run changes nothing.
func book(ctx context.Context, bot *botctx.Context) error {
	table := document.Get(bot.Member.Meta, "table", document.O())
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: bookings,
		Data:         []document.Object{table.With("_id", bot.Member.ID).With("name", bot.Member.FirstName)},
	})
	return err
}

// forget removes the reminder.
func forget(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: bot.Member.ID, Tag: tagTable})
	return err
}
