package explore_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// printer is a test that prints its result, up to the message of the property.
type printer struct{}

func (printer) Helper() {}

func (printer) Name() string { return "TestShop" }

func (printer) Failed() bool { return false }

func (printer) Cleanup(func()) {}

func (printer) Logf(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format+"\n", args...) }

func (printer) Fatalf(format string, args ...any) {
	first, _, _ := strings.Cut(fmt.Sprintf(format, args...), "fakes: transcript")
	_, _ = fmt.Fprintln(os.Stdout, first)
}

// count records an order and then confirms it. If an answer is lost, the member repeats the message, and the order is
// recorded twice.
func count(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: "orders", Data: []document.Object{document.O("by", bot.Member.ID)},
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Noted."))
}

func ExampleFaults() {
	t := printer{} // In a test: its *testing.T.
	explore.Faults(t, 100, func(t *explore.T, p *fakes.Platform) {
		p.HandleFunc(count)
		p.AddData("orders")
		ada := p.AddMember(member.Member{FirstName: "Ada"})
		for ada.TrySays("a kettle") != nil {
			t.Settle(0)
		}
		if orders := len(p.Data("orders")); orders != 1 {
			t.Errorf("there are %d orders", orders)
		}
	})
	// Output:
	// explore: the property does not hold under these faults (reduced to 1 of 1; round 1, seed 1):
	//
	// 	p.Inject(fakes.TimesOut(botctx.OpSendResponse).At(1))
	//
	// there are 2 orders
}

func ExampleOrders() {
	t := printer{} // In a test: its *testing.T.
	explore.Orders(t, 100, func(t *explore.T, p *fakes.Platform) {
		p.HandleFunc(readAndWrite) // Two operations, between which another member may buy.
		p.AddData("stock", document.O("_id", "kettle", "left", 2))
		ada, bob := p.AddMember(member.Member{FirstName: "Ada"}), p.AddMember(member.Member{FirstName: "Bob"})
		t.Go("Ada", func() { ada.Says("buy") })
		t.Go("Bob", func() { bob.Says("buy") })
		t.Wait()
		if left := stockOf(p); left != 0 {
			t.Errorf("two were sold, and %d is left", left)
		}
	})
	// Output:
	// explore: the property does not hold under these changes of turns (reduced to 1 of 1; round 3, seed 1):
	//
	// 	1. Ada does fetchDataFromDataSource, up to findAndModifyDataFromDataSource
	// 	2. Bob does fetchDataFromDataSource, findAndModifyDataFromDataSource, sendResponse, up to its end
	// 	3. Ada does findAndModifyDataFromDataSource, sendResponse, up to its end
	//
	// two were sold, and 1 is left
}
