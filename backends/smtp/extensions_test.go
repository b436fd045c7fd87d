package smtp_test

import (
	"net/mail"
	"strings"
	"testing"

	gosmtp "github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/smtp"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/utility"
)

// What a server is asked for it has to ask the next one for, which may not have it: then the mail bounces.
func TestSend_AsksForNoMoreThanItNeeds(t *testing.T) {
	t.Parallel()
	plain := gosmtp.MailOptions{}
	international := gosmtp.MailOptions{UTF8: true, Body: gosmtp.Body8BitMIME}
	for name, c := range map[string]struct {
		from, to, text string
		takesUTF8      bool
		gets           string
		want           gosmtp.MailOptions
	}{
		"ASCII":                         {"no-reply@example.com", "ada@example.org", "hi", true, "ada@example.org", plain},
		"ASCII, from a name":            {"no-reply@example.com", "ada@example.org", "hi", false, "ada@example.org", plain},
		"a text beyond ASCII":           {"no-reply@example.com", "ada@example.org", "Žluťoučký kůň", true, "ada@example.org", plain},
		"a domain beyond ASCII":         {"no-reply@example.com", "ada@bücher.example", "hi", true, "ada@xn--bcher-kva.example", plain},
		"the same, and an old server":   {"no-reply@example.com", "ada@bücher.example", "hi", false, "ada@xn--bcher-kva.example", plain},
		"a domain in capitals":          {"no-reply@example.com", "ada@BÜCHER.example", "hi", false, "ada@xn--bcher-kva.example", plain},
		"the sender's domain":           {"no-reply@bücher.example", "ada@example.org", "hi", false, "ada@example.org", plain},
		"a mailbox beyond ASCII":        {"no-reply@example.com", "žofie@example.org", "hi", true, "žofie@example.org", international},
		"a mailbox and a domain beyond": {"no-reply@example.com", "žofie@bücher.example", "hi", true, "žofie@bücher.example", international},
		"the sender's mailbox":          {"žofie@example.com", "ada@example.org", "hi", true, "ada@example.org", international},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t, serverOptions{takesUTF8: c.takesUTF8})
			config := server.config()
			config.From = mail.Address{Name: "Žofie's Bücher", Address: c.from}
			sent := aMail()
			sent.To = []mail.Address{{Name: "Žofie", Address: c.to}}
			sent.Text = &utility.EmailText{Charset: "UTF-8", Data: c.text}
			require.NoError(t, newMailer(t, config).SendMail(t.Context(), sent))
			got := server.received()[0]
			require.Equal(t, []string{c.gets}, got.to)
			require.Equal(t, c.want, got.options)
			if !c.want.UTF8 {
				require.NotRegexp(t, `[^\x00-\x7f]`, string(got.text), "the whole mail is ASCII, as was promised")
			}
			require.Contains(t, string(got.text), c.gets, "the header has the same address")
		})
	}
}

func TestSend_NoDomain(t *testing.T) {
	t.Parallel()
	server := newServer(t, serverOptions{})
	sent := aMail()
	sent.To[0].Address = "ada@" + strings.Repeat("ü", 80) + ".example"
	err := newMailer(t, server.config()).SendMail(t.Context(), sent)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "destination.ToAddresses[0]")
	config := server.config()
	config.From.Address = sent.To[0].Address
	_, err = smtp.New(config)
	require.ErrorIs(t, err, boterr.InvalidArgument)
}
