package foxtrot_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/foxtrot"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/internal/foxtrotfake"
	"github.com/botctx/go-sdk/send"
)

// order stores an order under the id of the member's message, and confirms it.
func order(ctx context.Context, bot *botctx.Context) error {
	if bot.MessageEvent.Text() == "" {
		return nil
	}
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: "orders", Data: []document.Object{document.O("_id", bot.MessageEvent.MessageID)},
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Noted."))
}

// An order is stored once and confirmed in spite of any fault. A repeated confirmation has the same ID.
func TestExplore_ReportsUnderFaults(t *testing.T) {
	t.Parallel()
	var platform *foxtrotfake.Platform
	var connector *foxtrot.Connector
	own := fakes.Config(func(c *botctx.Config) {
		platform = newPlatform()
		platform.AddConversation(deskApp, ada)
		connector = newConnector(t, foxtrot.Config{HTTPClient: &http.Client{Transport: directly{platform}}, FindChannel: find})
		c.Connectors[channel.Foxtrot] = connector
	})
	explore.Faults(t, 60, func(t *explore.T, p *fakes.Platform) {
		p.HandleFunc(order)
		p.AddData("orders")
		p.AddChannel(*desk())
		handler := http.NewServeMux()
		handler.Handle("/foxtrot/{account}", connector.Handler(func(ctx context.Context, in botctx.Inbound) error {
			return p.Runtime().Accept(ctx, in)
		}))
		platform.MemberSays(ada, "a kettle", "")
		waiting := platform.Reports()
		for range 8 { // The helpdesk repeats a report until it is accepted. Each message of the bot causes more reports.
			reports := waiting
			waiting = nil
			for _, report := range reports {
				answer := httptest.NewRecorder()
				handler.ServeHTTP(answer, foxtrotfake.Post(t.Context(), "/foxtrot/desk", webhookSecret, report.Body))
				if answer.Code != http.StatusOK {
					waiting = append(waiting, report)
				}
			}
			t.Settle(time.Hour)
			waiting = append(waiting, platform.Reports()...)
		}
		require.Len(t, p.Data("orders"), 1)
		ids := map[string]bool{}
		for _, sent := range platform.Sent() {
			ids[document.Get(sent.Body, "metadata.botMessageId", "")] = true
		}
		require.Len(t, ids, 1)
	}, explore.PlatformOptions(fakes.WithInbox(), own))
}
