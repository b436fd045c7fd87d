package chaostest

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// What an event asks for, beside what each one does.
const (
	plain = "plain"
	// amid waits amid the run until the platform says go.
	amid = "amid"
	// count counts up for its own member, and visit for the member Counted.
	count = "count"
	visit = "visit"
	// poison ends the process.
	poison = "poison"
)

// Where the bot keeps what it has handled: in a data source and in the member.
const (
	dataSource  = "handled"
	fieldMember = "member"
	fieldNumber = "numbers"
	pathSeen    = "seen"
)

// replies is how many messages a run sends.
const replies = 2

// answer is the bot: it notes the event in a data source, replies, and notes it in the member, which it
// reads and writes.
func (w *worker) answer(ctx context.Context, bot *botctx.Context) error {
	e, err := eventOf(bot.MessageEvent.Text(), bot.Member.ExternalID)
	if err != nil {
		return err
	}
	switch _, what, _ := strings.Cut(bot.MessageEvent.Text(), " "); what {
	case amid:
		return w.goOn(ctx, bot, e)
	case count:
		return countUp(ctx, bot)
	case poison:
		overflow()
		return nil
	case visit:
		_, err := bot.RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{MemberID: Counted, NodeCompositeID: nodeCount})
		return err
	default:
		return w.handle(ctx, bot, e, func(_ string, err error) error { return err })
	}
}

// goOn waits amid the run until the platform says go, and goes on whatever happened meanwhile, as a bot
// that pays no heed to its ctx and to errors.
func (w *worker) goOn(ctx context.Context, bot *botctx.Context, e event) error {
	w.say(wordAmid, e)
	<-w.gate(e)
	return w.handle(context.WithoutCancel(ctx), bot, e, func(of string, err error) error {
		if err != nil {
			w.note(refused, e, of)
		}
		return nil
	})
}

// handle does what is done for each event. heed says what an error of an operation is to the run.
func (w *worker) handle(ctx context.Context, bot *botctx.Context, e event, heed func(of string, err error) error) error {
	_, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
		DataSourceID: dataSource, Filter: document.O(fieldMember, e.member),
		Patch: document.O("$push", document.O(fieldNumber, e.number)), Option: datasource.FindAndModifyOption{Upsert: true},
	})
	if err := heed("data", err); err != nil {
		return err
	}
	for position := range replies {
		err := bot.Reply(ctx, send.Text(fmt.Sprint(e.number, " ", position)))
		if err := heed("send", err); err != nil {
			return err
		}
		if err == nil {
			w.note(replied, e, strconv.Itoa(position))
		}
	}
	seen := document.Get(bot.Member.Meta, pathSeen, document.A())
	bot.Member.Meta.Set(pathSeen, seen.Append(e.number))
	return nil
}

// connector sends to the platform.
type connector struct{ *worker }

// Send implements send.Connector.
func (c connector) Send(_ context.Context, m send.Message) (send.Delivery, error) {
	e, err := eventOf(m.Response.Text(), m.To)
	if err != nil {
		return send.Delivery{}, err
	}
	_, position, _ := strings.Cut(m.Response.Text(), " ")
	c.note(sent, e, position+"/"+m.ID)
	return send.Delivery{MessageID: m.ID}, nil
}
