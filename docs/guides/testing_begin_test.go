package guides_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// sizes returns the nodes that ask for the size of a kettle.
func sizes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "size", Trigger: botctx.TextIs("kettle"), Responses: botctx.Say("Which size?"), SavesPosition: true},
		{ID: "large", Parent: "size", Trigger: botctx.TextIs("large"), Pre: botctx.Do(takeOne), Responses: []send.Response{
			send.Template("A large kettle, in {{meta.colour}}."),
		}},
		{ID: "none", Parent: "size", Trigger: botctx.TextIs("no, thanks"), Responses: botctx.Say("As you like.")},
		{ID: "reminder", Responses: botctx.Say("Is it the right one?")},
	}
}

// takeOne takes a kettle out of the stock.
func takeOne(ctx context.Context, bot *botctx.Context) error {
	_, err := take(ctx, bot, 1)
	return err
}

func TestSizes_BeginAtTheirNode(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
	p.Handle(sizes()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.SetPosition("size")                       // The children of this node may answer next.
	ada.Patch(document.Set("meta.colour", "red")) // As patchMembers does.
	ada.AddAgenda(agenda.NewParams{NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(p.Now().Add(time.Hour))})
	ada.Says("large")
	ada.Sees("A large kettle, in red.")
	p.Advance(time.Hour)
	ada.Sees("Is it the right one?")
}

func TestSizes_TakeOneOutOfTheStock(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(sizes()...)
	p.AddData("stock", document.O("_id", "kettle", "left", 2))
	ada := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("colour", "red")})
	ada.SetPosition("size")

	before := p.Snapshot()
	ada.Says("no, thanks")
	require.Empty(t, p.Since(before).Data)

	ada.Says("large")
	changes := p.Since(before)
	require.Equal(t, 1, document.Get(*changes.Data[0].After, "left", 0))
}

func Example_since() {
	p := fakes.New()
	p.Handle(sizes()...)
	p.AddData("stock", document.O("_id", "kettle", "left", 2))
	ada := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("colour", "red")})
	ada.SetPosition("size")

	before := p.Snapshot()
	ada.Says("large")
	fmt.Println(p.Since(before))
	// Output:
	// + Ada <- "A large kettle, in red."
	// ~ entry kettle of stock: left: 2 -> 1
}
