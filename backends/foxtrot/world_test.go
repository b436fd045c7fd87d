package foxtrot_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/botctx/go-sdk/backends/foxtrot"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/foxtrotfake"
)

func TestExplore_ReportsUnderFaults(t *testing.T) {
	t.Parallel()
	connectortest.OrderOnce(t, desk, func() connectortest.Platform {
		platform := newPlatform()
		platform.AddConversation(deskApp, ada)
		platform.MemberSays(ada, "a kettle", "")
		connector := newConnector(t, foxtrot.Config{HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: platform}}, FindChannel: find})
		return connectortest.Platform{
			Connector: connector,
			Handler: func(accept func(context.Context, botctx.Inbound) error) http.Handler {
				mux := http.NewServeMux()
				mux.Handle("/foxtrot/{account}", connector.Handler(accept))
				return mux
			},
			Reports: func() (made []connectortest.Report) {
				for _, report := range platform.Reports() {
					made = append(made, func(ctx context.Context) *http.Request {
						return foxtrotfake.Post(ctx, "/foxtrot/desk", webhookSecret, report.Body)
					})
				}
				return made
			},
			SendIDs: func() (ids []string) {
				for _, sent := range platform.Sent() {
					ids = append(ids, document.Get(sent.Body, "metadata.botMessageId", ""))
				}
				return ids
			},
		}
	})
}
