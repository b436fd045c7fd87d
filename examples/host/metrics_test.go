package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMetrics_Count(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("m1", "hello")
	w.say("m2", "a table for 4 at 19:30")
	page := w.get("/metrics")
	require.Equal(t, http.StatusOK, page.status)
	for _, line := range []string{
		`messaging_process_duration_seconds_count{.*messaging_system="webchat".*} 2`,
		`messaging_client_sent_messages_total{.*messaging_system="webchat".*} 2`,
		`botctx_operation_duration_seconds_count{.*botctx_operation="newAgenda".*} 1`,
		`db_client_operation_duration_seconds_count{.*db_collection_name="agendas",.*db_system_name="bolt".*} `,
		`botctx_agenda_due({.*})? 0`,
	} {
		require.Regexp(t, "(?m)^"+line, page.body)
	}
	w.stop()
}
