package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMetrics_Count(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("m1", "hello")
	w.say("m2", "a table for 4 at 19:30")
	require.Eventually(t, func() bool { // The last run ends after its message.
		return strings.Contains(w.get("/metrics").body, "\nbotctx_inbox_handled_total 2\n")
	}, patience, time.Millisecond)
	page := w.get("/metrics")
	require.Equal(t, http.StatusOK, page.status)
	for _, line := range []string{
		`messaging_process_duration_seconds_count{.*messaging_system="inbox".*} 2`,
		`botctx_inbox_accepted_total 2`,
		`botctx_inbox_pending 0`,
		`messaging_client_sent_messages_total{.*messaging_system="custom".*} 2`,
		`botctx_operation_duration_seconds_count{.*botctx_operation="newAgenda".*} 1`,
		`db_client_operation_duration_seconds_count{.*db_collection_name="agendas",.*db_system_name="sqlite".*} `,
		`botctx_agenda_due({.*})? 0`,
	} {
		require.Regexp(t, "(?m)^"+line, page.body)
	}
	w.stop()
}

func TestMetrics_CountWhatIsDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, http.StatusBadRequest, (<-w.postOf("m1", `{"type":"TEXT","from":"ada","data":{}}`, secretOfTests)).status)
	require.Regexp(t, `(?m)^botctx_inbox_dropped_total{botctx_drop_kind="TEXT",botctx_drop_reason="invalid",messaging_system="custom"} 1`,
		w.get("/metrics").body)
	w.stop()
}
