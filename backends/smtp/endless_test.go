package smtp_test

import (
	"net"
	"net/mail"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/smtp"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
)

// A server that never ends what it says costs no more than a bound, wherever it does so.
func TestSend_EndlessAnswer(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]struct{ head, filler string }{
		"a greeting of one line":    {"220 ", "welcome "},
		"a greeting of many lines":  {"220-", "welcome\r\n220-"},
		"an offer of one line":      {"220 ready\r\n250-", "AUTH "},
		"an offer of many lines":    {"220 ready\r\n250-", "AUTH PLAIN\r\n250-"},
		"a line that is no answer":  {"", "welcome "},
		"lines that are no answers": {"", "welcome\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := boundedtest.Serve(t, false, said.head, said.filler)
			host, port, err := net.SplitHostPort(server.Address)
			require.NoError(t, err)
			number, err := strconv.Atoi(port)
			require.NoError(t, err)
			mailer := newMailer(t, smtp.Config{
				Host: host, Port: number, TLS: smtp.NoTLS, From: mail.Address{Address: "no-reply@example.com"},
				Now: func() time.Time { return now },
			})
			require.ErrorIs(t, mailer.SendMail(t.Context(), aMail()), boterr.Unavailable)
			server.RequireHungUp(t, 1)
		})
	}
}
