package connectortest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/send"
)

// Tickets returns the broadcast group "default", whose tickets go to recipients.
func Tickets(recipients ...string) []channel.BroadcastGroup {
	group := channel.BroadcastGroup{Label: "default"}
	for _, id := range recipients {
		group.Groups = append(group.Groups, channel.BroadcastGroupMember{ID: id})
	}
	return []channel.BroadcastGroup{group}
}

// Platform is a platform for one run of OrderOnce.
type Platform struct {
	// Connector sends messages to the platform.
	Connector send.Connector
	// Handler returns the connector's handler, which receives the platform's reports.
	Handler func(accept func(context.Context, botctx.Inbound) error) http.Handler
	// Reports returns the reports that the platform has made since the last call. The first is the order of a
	// member. OrderOnce repeats a report that is not accepted.
	Reports func() []Report
	// SendIDs returns, for each message that the platform received, the id that the bot gave it, or "" if the
	// platform takes none.
	SendIDs func() []string
}

// Report returns a request with a report.
type Report func(ctx context.Context) *http.Request

// OrderOnce requires that, whatever fails, an order that a platform reports is stored once, and that all its
// confirmations have the same id.
func OrderOnce(t *testing.T, in func() *channel.Channel, open func() Platform) {
	t.Helper()
	var platform Platform
	own := fakes.Config(func(c *botctx.Config) {
		platform = open()
		c.Connectors[in().Type] = platform.Connector
	})
	explore.Faults(t, 60, func(t *explore.T, p *fakes.Platform) {
		p.HandleFunc(storeOrder)
		p.AddData("orders")
		p.AddChannel(*in())
		handler := platform.Handler(func(ctx context.Context, in botctx.Inbound) error {
			return p.Runtime().Accept(ctx, in)
		})
		waiting := platform.Reports()
		for range 8 {
			reports := waiting
			waiting = nil
			for _, report := range reports {
				answer := httptest.NewRecorder()
				handler.ServeHTTP(answer, report(t.Context()))
				if answer.Code != http.StatusOK {
					waiting = append(waiting, report)
				}
			}
			t.Settle(time.Hour)
			waiting = append(waiting, platform.Reports()...)
		}
		require.Len(t, p.Data("orders"), 1)
		ids := map[string]bool{}
		for _, id := range platform.SendIDs() {
			ids[id] = true
		}
		require.Len(t, ids, 1)
	}, explore.PlatformOptions(fakes.WithInbox(), own))
}

// storeOrder stores an order under the id of its message, and confirms it.
func storeOrder(ctx context.Context, bot *botctx.Context) error {
	if bot.MessageEvent.Text() == "" {
		return nil // A receipt.
	}
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: "orders", Data: []document.Object{document.O("_id", bot.MessageEvent.MessageID)},
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Noted."))
}

// Once returns a function for Platform.Reports that returns one report at its first call.
func Once(report Report) func() []Report {
	reports := []Report{report}
	return func() []Report {
		made := reports
		reports = nil
		return made
	}
}
