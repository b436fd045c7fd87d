package guides_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// reserve notes a reservation, and confirms it.
func reserve(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: "reservations",
		Data:         []document.Object{document.O("by", bot.Member.ID)},
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Reserved."))
}

// reserveOnce is reserve, but stores the reservation under the id of the message.
func reserveOnce(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: "reservations",
		Data:         []document.Object{document.O("_id", bot.MessageEvent.MessageID, "by", bot.Member.ID)},
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Reserved."))
}

// reservedOnce checks the rules that every reservation must keep, whatever goes wrong.
func reservedOnce(logic botctx.Action) explore.Property {
	return func(t *explore.T, p *fakes.Platform) {
		p.HandleFunc(logic)
		p.AddData("reservations")
		ada := p.AddMember(member.Member{FirstName: "Ada"})
		for failed := ada.TrySays("a table"); failed != nil; failed = ada.TrySaysAgain() {
			t.Settle(time.Hour) // The bot restarts, and retries what failed. Then the platform repeats the message.
		}
		require.Len(t, p.Data("reservations"), 1, "it is noted once")
		require.LessOrEqual(t, len(ada.Messages()), 1, "it is confirmed once, or the member takes no messages")
	}
}

func TestReserve_IsNotedOnce(t *testing.T) {
	t.Parallel()
	explore.Faults(t, 100, reservedOnce(reserveOnce), explore.PlatformOptions(fakes.WithInbox()))
}

// logged is a test that keeps the last text it logs.
type logged struct {
	found

	text string
}

func (l *logged) Logf(format string, args ...any) { l.text = fmt.Sprintf(format, args...) }

func TestReserve_FiguresInTheGuide(t *testing.T) {
	t.Parallel()
	var tried logged
	explore.Faults(&tried, 20, reservedOnce(reserveOnce), explore.PlatformOptions(fakes.WithInbox()))
	guide, err := os.ReadFile("faults-and-orders.md")
	require.NoError(t, err)
	for _, line := range strings.Split(tried.text, "\n")[:2] {
		require.Contains(t, string(guide), "\n    "+line+"\n")
	}
}

// found is a test that prints the findings of a search.
type found string

func (found) Helper() {}

func (found) Failed() bool { return false }

func (found) Cleanup(func()) {}

func (f found) Name() string { return string(f) }

func (found) Logf(string, ...any) {}

func (found) Fatalf(format string, args ...any) {
	for _, line := range regexp.MustCompile(`(?m)^\t(\d\. .*|p\..*|BOTCTX.*)$`).FindAllStringSubmatch(fmt.Sprintf(format, args...), -1) {
		_, _ = fmt.Fprintln(os.Stdout, line[1])
	}
}

func Example_faults() {
	explore.Faults(found("TestReserve_IsNotedOnce"), 100, reservedOnce(reserve), explore.PlatformOptions(fakes.WithInbox()))
	// Output:
	// p.Inject(fakes.TimesOut(botctx.OpSendResponse).At(1))
	// BOTCTX_EXPLORE='faults:sendResponse#1=timesOut' go test -run '^TestReserve_IsNotedOnce$'
}

func TestReserve_TheAnswerIsLost(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.WithInbox())
	p.Inject(fakes.TimesOut(botctx.OpSendResponse).At(1))
	p.HandleFunc(reserveOnce)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	require.Error(t, ada.TrySays("a table"))
	p.Advance(time.Hour)
	require.Len(t, p.Data("reservations"), 1)
}

// lastTable gives a member the last table, if the entry is free.
func lastTable(ctx context.Context, bot *botctx.Context) error {
	free, err := bot.CountDataSource(ctx, datasource.CountParams{
		DataSourceID: "tables", Filter: document.O("by", nil),
	})
	if err != nil || free == 0 {
		return err
	}
	_, err = bot.PatchDataToDataSource(ctx, datasource.PatchParams{
		DataSourceID: "tables", Patch: document.O("by", bot.Member.ID),
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("The table is yours."))
}

// lastTableOnce finds and takes the last table in one operation.
func lastTableOnce(ctx context.Context, bot *botctx.Context) error {
	taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: "tables", Filter: document.O("by", nil), Patch: document.Set("by", bot.Member.ID),
	})
	if err != nil || taken.Value == nil {
		return err
	}
	return bot.Reply(ctx, send.Text("The table is yours."))
}

// givenOnce states that one member has the last table.
func givenOnce(logic botctx.Action) explore.Property {
	return func(t *explore.T, p *fakes.Platform) {
		p.HandleFunc(logic)
		p.AddData("tables", document.O("_id", 1))
		ada, bob := p.AddMember(member.Member{FirstName: "Ada"}), p.AddMember(member.Member{FirstName: "Bob"})
		t.Go("Ada", func() { ada.Says("a table") })
		t.Go("Bob", func() { bob.Says("a table") })
		t.Wait()
		require.Len(t, p.Sent(), 1, "one member has the table")
	}
}

func TestLastTable_IsGivenOnce(t *testing.T) {
	t.Parallel()
	explore.Orders(t, 100, givenOnce(lastTableOnce))
}

func Example_orders() {
	explore.Orders(found("TestLastTable_IsGivenOnce"), 100, givenOnce(lastTable))
	// Output:
	// 1. Ada does countDataSource, up to patchDataToDataSource
	// 2. Bob does countDataSource, patchDataToDataSource, sendResponse, up to its end
	// 3. Ada does patchDataToDataSource, sendResponse, up to its end
	// BOTCTX_EXPLORE='orders:9>0' go test -run '^TestLastTable_IsGivenOnce$'
}
