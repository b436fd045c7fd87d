package telegramfake

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send/sendtest"
)

// Faults returns Telegram's answers for the faults of sendtest.
func Faults() map[sendtest.Fault]http.HandlerFunc {
	return map[sendtest.Fault]http.HandlerFunc{
		sendtest.RateLimited: Refuses(http.StatusTooManyRequests, "Too Many Requests: retry after 3600",
			"retry_after", int64(sendtest.ComeAgain.Seconds())),
		sendtest.BadCredentials:   Refuses(http.StatusUnauthorized, "Unauthorized"),
		sendtest.UnknownRecipient: Refuses(http.StatusBadRequest, "Bad Request: chat not found"),
		sendtest.Blocked:          Refuses(http.StatusForbidden, "Forbidden: bot was blocked by the user"),
		sendtest.Broken:           Refuses(http.StatusBadGateway, "Bad Gateway"),
		sendtest.Rejected: func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			Refuses(http.StatusBadRequest, "Bad Request: "+sendtest.Repeated(r, body))(w, r)
		},
	}
}

// Refuses returns a handler that refuses every request. parameters are names and values for the answer's
// parameters.
func Refuses(status int, description string, parameters ...any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		answer := map[string]any{"ok": false, "error_code": status, "description": description}
		if len(parameters) > 0 {
			answer["parameters"] = document.O(parameters...)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer)
	}
}
