package main

import (
	"context"
	"regexp"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// bistro is the bot of a restaurant: it holds a table, reminds who does not confirm it, and
// notes it when they do.
type bistro struct {
	remindAfter time.Duration
}

const (
	// bookings is the data source of the tables that were confirmed.
	bookings = "bookings"
	// nodeReminder is the node that the agenda runs, tagTable the agenda's tag: a member has
	// at most one.
	nodeReminder = "reminder"
	tagTable     = "table"
)

var wishForm = regexp.MustCompile(`(?i)\btable for ([1-9]\d?) at (\d\d?:\d\d)\b`)

// nodes returns the bot.
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
			Responses: botctx.Say("Booked: {{meta.table.people}} at {{meta.table.time}}. See you, {{firstName}}!"), SavesPosition: true,
		},
		{
			ID: "released", Parent: "hold", Trigger: botctx.TextIs("no"),
			Pre:       botctx.Do(forget),
			Responses: botctx.Say("Another time, then."), SavesPosition: true,
		},
		{
			ID: "help", Trigger: botctx.AnyText(), Global: botctx.GlobalInTree, Priority: botctx.FallbackPriority,
			Responses: botctx.Say(`Say when you come, such as "a table for 4 at 19:30".`),
		},
		{
			ID:        nodeReminder,
			Responses: botctx.Say("I still hold a table for {{meta.table.people}} at {{meta.table.time}}: yes or no?"),
		},
	}
}

// hold remembers the table, and when to remind of it. A later wish replaces it. The table is stored before the reminder
// is: after a crash, the reminder may come before the run is repeated.
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

// book notes the table. Repeating it after a failed run changes nothing.
func book(ctx context.Context, bot *botctx.Context) error {
	table := document.Get(bot.Member.Meta, "table", document.O())
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: bookings,
		Data:         []document.Object{table.With("_id", bot.Member.ID).With("name", bot.Member.FirstName)},
	})
	return err
}

// forget takes the reminder back.
func forget(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: bot.Member.ID, Tag: tagTable})
	return err
}
