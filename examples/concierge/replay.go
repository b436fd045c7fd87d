package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// columnBookedBy is where an entry has the members who booked it.
const columnBookedBy = "bookedBy"

// Replay is the bot of recorded conversations. It stands where a bot with a language
// model would: the meaning of what a user says comes with the message, and the
// recording knows what to look up then and what to say.
type Replay struct {
	// Answers are the SYSTEM turns that follow a message, by the message's id.
	Answers map[string][]Turn
}

// NewReplay returns the bot for recorded conversations.
func NewReplay(dialogues []Dialogue) Replay {
	answers := map[string][]Turn{}
	for _, dialogue := range dialogues {
		id := ""
		for i, turn := range dialogue.Turns {
			if turn.Speaker == speakerUser {
				id = messageID(dialogue, i)
			} else {
				answers[id] = append(answers[id], turn)
			}
		}
	}
	return Replay{Answers: answers}
}

// Message returns what the user says in a turn of a conversation, with its meaning.
func Message(dialogue Dialogue, turn int) send.MessageEvent {
	said := dialogue.Turns[turn]
	return send.MessageEvent{
		From:      dialogue.ID,
		Type:      send.TypeText,
		Data:      document.O("text", said.Utterance, "acts", said.Acts),
		MessageID: messageID(dialogue, turn),
	}
}

func messageID(dialogue Dialogue, turn int) string { return fmt.Sprintf("%s/%d", dialogue.ID, turn) }

// Answer is the action that answers a message of the user.
func (r Replay) Answer(ctx context.Context, bot *botctx.Context) error {
	if err := saveAnswers(ctx, bot); err != nil {
		return err
	}
	for _, turn := range r.Answers[bot.MessageEvent.MessageID] {
		for _, call := range turn.Calls {
			if err := perform(ctx, bot, call); err != nil {
				return err
			}
		}
		if err := reply(ctx, bot, "%s", turn.Utterance); err != nil {
			return err
		}
	}
	return nil
}

// saveAnswers saves on the member what the user's message tells: the intent and the
// values of slots.
func saveAnswers(ctx context.Context, bot *botctx.Context) error {
	told := document.O()
	for _, act := range document.Get(bot.MessageEvent.Data, "acts", []Act(nil)) {
		switch {
		case len(act.Values) == 0:
		case act.Act == "INFORM_INTENT":
			told = told.With("meta.intent", act.Values[0])
		case act.Act == "INFORM" && act.Slot != "":
			told = told.With("meta.slots."+act.Slot, act.Values[0])
		}
	}
	if told.Len() == 0 {
		return nil
	}
	return remember(ctx, bot, document.O("$set", told))
}

// perform carries out what a call asks for: a booking or a look-up.
func perform(ctx context.Context, bot *botctx.Context, call ServiceCall) error {
	found, err := lookUp(ctx, bot, call)
	if err != nil || len(found) == 0 || !call.IsBooking() {
		return err
	}
	return bookEntry(ctx, bot, call.DataSource(), found[0])
}

// lookUp returns the entries that satisfy a call's parameters.
func lookUp(ctx context.Context, data datasource.Operations, call ServiceCall) ([]document.Object, error) {
	found, err := data.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{
		DataSourceID: call.DataSource(),
		Filter:       call.Filter(),
	})
	return found.Entries, err
}

// bookEntry books an entry for the member, once: an entry that the member has booked
// does not match again.
func bookEntry(ctx context.Context, bot *botctx.Context, source string, entry document.Object) error {
	id, _ := entry.Field("_id")
	_, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
		DataSourceID: source,
		Filter:       document.O("_id", id, columnBookedBy, document.O("$ne", bot.Member.ID)),
		Patch:        document.Push(columnBookedBy, bot.Member.ID),
	})
	return err
}

// IsBooking reports whether the call changes something for the user, and does not
// look something up alone. The services name their methods for it.
func (c ServiceCall) IsBooking() bool {
	verbs := []string{
		"Add", "Book", "Buy", "Make", "Order", "Play", "Purchase", "Rent", "Request",
		"Reserve", "Schedule", "Send", "Share", "Transfer",
	}
	for _, verb := range verbs {
		if strings.HasPrefix(c.Method, verb) {
			return true
		}
	}
	return c.Method == "GetRide"
}

// Narrate returns an interceptor that prints what was looked up and booked, and what the bot says.
func Narrate(out io.Writer) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		result, err := next(ctx)
		line := ""
		switch p := call.Params.(type) {
		case datasource.FetchDataFromDataSourceParams:
			line = fmt.Sprintf("           - looked in %s: %d found", p.DataSourceID, entriesIn(result))
		case datasource.FindAndModifyDataFromDataSourceParams:
			line = fmt.Sprintf("           - booked in %s: %d", p.DataSourceID, entriesIn(result))
		case send.SendResponseParams:
			line = "Concierge: " + strings.ReplaceAll(p.Response.Text(), "\n", "\n           ")
		}
		if line != "" && err == nil {
			_, err = fmt.Fprintln(out, boterr.Visible(line))
		}
		return result, err
	}
}

// ReplayAll lets the bot answer all conversations, and prints a transcript of each.
func ReplayAll(ctx context.Context, platform *fakes.Platform, out io.Writer, dialogues []Dialogue) error {
	if err := SaveRows(ctx, platform.Operations(botctx.Scope{}), dialogues); err != nil {
		return err
	}
	platform.HandleFunc(NewReplay(dialogues).Answer)
	guests := map[string]*fakes.Actor{}
	for _, dialogue := range dialogues {
		if guests[dialogue.ID] == nil {
			guests[dialogue.ID] = platform.AddMember(member.Member{ExternalID: dialogue.ID})
		}
		if err := replayOne(guests[dialogue.ID], out, dialogue); err != nil {
			return fmt.Errorf("conversation %s: %w", dialogue.ID, err)
		}
	}
	return nil
}

// replayOne lets the bot answer one conversation.
func replayOne(guest *fakes.Actor, out io.Writer, dialogue Dialogue) error {
	if _, err := fmt.Fprintf(out, "\n== %s (%s)\n", dialogue.ID, strings.Join(dialogue.Services, ", ")); err != nil {
		return err
	}
	for i, turn := range dialogue.Turns {
		if turn.Speaker != speakerUser {
			continue
		}
		if _, err := fmt.Fprintln(out, "Guest:     "+boterr.Visible(turn.Utterance)); err != nil {
			return err
		}
		if err := guest.TrySends(Message(dialogue, i)); err != nil {
			return err
		}
	}
	return nil
}
