package botctx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
)

// script is bot logic that knows operations by their names alone, and hands them the records
// of its context as they are.
func script(id, tree, command string, calls ...func(bot *botctx.Context) (name string, args document.Object)) *botctx.Node {
	return &botctx.Node{ID: id, Tree: tree, Trigger: botctx.TextIs(command), Pre: []botctx.Action{
		func(ctx context.Context, bot *botctx.Context) error {
			for _, call := range calls {
				name, args := call(bot)
				text, err := args.MarshalJSON()
				if err != nil {
					return err
				}
				if _, err := bot.Call(ctx, name, text); err != nil {
					return err
				}
			}
			return nil
		},
	}}
}

// scripts returns the logic of a desk: what the member says, and the commands of agents.
func scripts() []*botctx.Node {
	text := func(said string) document.Object { return document.O("type", "TEXT", "text", said) }
	onEvent := func(name string, more ...any) func(bot *botctx.Context) (string, document.Object) {
		return func(bot *botctx.Context) (string, document.Object) {
			return name, document.O(append([]any{"channel", bot.Channel, "messageEvent", bot.MessageEvent}, more...)...)
		}
	}
	return []*botctx.Node{
		script("person", "", "person", func(bot *botctx.Context) (string, document.Object) {
			return "createAssignment", document.O("member", bot.Member, "assignmentDetails", document.O("summary", "It leaks.", "groupName", "Kettle"))
		}),
		script("bye", "live chat", "bye", func(bot *botctx.Context) (string, document.Object) {
			return "sendMessageToOutletGroup", document.O("groupId", bot.Member.Group, "response", text("{{firstName}} left."))
		}, func(bot *botctx.Context) (string, document.Object) {
			defer func() { bot.Member.Group = "" }()
			return "inletEndLiveChat", document.O("channel", bot.Channel, "member", bot.Member, "options", document.O("recallRelayMessage", false))
		}),
		script("keep", "", "/keep", onEvent("saveGroupIdToMember")),
		script("sales", "", "/sales", onEvent("reassignAssignment", "label", "sales")),
		script("done", "", "/done", onEvent("sendMessageToInlet", "response", text("Goodbye!")), onEvent("endLiveChat")),
	}
}

func TestCall_Desk(t *testing.T) {
	t.Parallel()
	for _, platform := range []channel.Type{channel.Bravo, channel.Charlie, channel.Delta} {
		for name, options := range map[string][]fakes.Option{"lenient": nil, "strict": {strictly()}} {
			t.Run(string(platform)+" "+name, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, channel.Channel{
					Type: platform, Name: "Desk", Description: "Where Grace works", Metadata: document.O("hours", "all"),
				}, scripts(), append(options, withLiveChatTree())...)
				d.ada.Says("person")
				d.grace.Takes(d.grace.Ticket())
				require.Equal(t, "It leaks.", d.grace.Last())
				d.grace.Says("/keep")
				require.Equal(t, d.assignments(t)[0].Group, d.ada.Member().Group)
				d.ada.Says("bye")
				require.Equal(t, "Ada left.", d.grace.Last())
				require.False(t, d.ada.Member().BotMeta.LiveChat())
				require.Empty(t, d.ada.Member().Group)

				hedy := d.AddAgent("desk", "Hedy", "sales")
				d.ada.Says("person")
				d.grace.Takes(d.grace.Ticket())
				d.grace.Says("/sales")
				require.True(t, d.ada.Member().BotMeta.LiveChat())
				hedy.Takes(hedy.Ticket())
				hedy.Says("Hello.")
				require.Equal(t, "Hello.", d.ada.Last())
				hedy.Says("/done")
				require.Equal(t, "Goodbye!", d.ada.Last())
				require.False(t, d.ada.Member().BotMeta.LiveChat())
				require.Empty(t, d.ada.Agendas())
			})
		}
	}
}
