package utilities_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/utility"
)

// text returns a text without a character set.
func text(data string) utility.EmailText { return utility.EmailText{Data: data} }

// newEmail returns the params of a valid mail, altered by change.
func newEmail(change ...func(*utility.SendEmailParams)) utility.SendEmailParams {
	p := utility.SendEmailParams{
		Destination: utility.EmailDestination{ToAddresses: []string{"ada@example.com"}},
		Message:     utility.EmailMessage{Subject: text("Hello"), Body: utility.EmailBody{Text: new(text("It works."))}},
	}
	for _, alter := range change {
		alter(&p)
	}
	return p
}

func TestSendEmail_ID(t *testing.T) {
	t.Parallel()
	utilities := fakes.NewUtilities(fakes.For(t))
	for range 2 {
		_, err := utilities.SendEmail(t.Context(), newEmail())
		require.NoError(t, err)
	}
	mails := utilities.Platform.Mails()
	require.NotEqual(t, mails[0].ID, mails[1].ID)
}

func TestSendEmail_Spellings(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"mixed": `{"destination": {"ToAddresses": ["ada@example.com"], "ccAddresses": ["bob@example.com"]}, "message": {
			"Subject": {"charset": "UTF-8", "Data": "Hello"},
			"body": {"Html": {"Data": "<p>"}, "text": {"data": "p"}}}}`,
		"both, with the same": `{"destination": {"ToAddresses": ["ada@example.com"], "toAddresses": ["ada@example.com"],
			"CcAddresses": null, "ccAddresses": ["bob@example.com"]}, "message": {
			"subject": {"data": "Hello"}, "body": {"html": {"data": "<p>"}, "text": {"data": "p"}, "Text": null}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			utilities := fakes.NewUtilities(fakes.For(t), strictly())
			result, err := utilities.Member.Context().Call(t.Context(), "sendEmail", json.RawMessage(args))
			require.NoError(t, err)
			require.JSONEq(t, `null`, string(result))
			sent := utilities.Platform.Mails()
			require.Len(t, sent, 1)
			require.Equal(t, []mail.Address{{Address: "ada@example.com"}}, sent[0].To)
			require.Equal(t, []mail.Address{{Address: "bob@example.com"}}, sent[0].CC)
			require.Equal(t, "Hello", sent[0].Subject.Data)
			require.Equal(t, "<p>", sent[0].HTML.Data)
			require.Equal(t, "p", sent[0].Text.Data)
		})
	}
}

func TestSendEmail_SpellingsDiffer(t *testing.T) {
	t.Parallel()
	const body = `"Body": {"Text": {"Data": "p"}}`
	for field, args := range map[string]string{
		"destination": `{"destination": {"ToAddresses": ["a@b.example"]}, "Destination": {}, "message": {}}`,
		"destination.ToAddresses": `{"destination": {"ToAddresses": ["a@b.example"], "toAddresses": ["c@b.example"]},
			"message": {"Subject": {"Data": "s"}, ` + body + `}}`,
		"message.Subject": `{"destination": {"ToAddresses": ["a@b.example"]},
			"message": {"Subject": {"Data": "s"}, "subject": {"Data": "t"}, ` + body + `}}`,
		"message.Subject.Data": `{"destination": {"ToAddresses": ["a@b.example"]},
			"message": {"subject": {"Data": "s", "data": ""}, ` + body + `}}`,
		"message.Body.Html.Charset": `{"destination": {"ToAddresses": ["a@b.example"]},
			"message": {"subject": {"Data": "s"}, "body": {"html": {"data": "p", "charset": "utf-8", "Charset": "UTF-8"}}}}`,
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			utilities := fakes.NewUtilities(fakes.For(t))
			_, err := utilities.Member.Context().Call(t.Context(), "sendEmail", json.RawMessage(args))
			requireField(t, err, "sendEmail", boterr.InvalidArgument, field)
			require.Empty(t, utilities.Platform.Mails())
		})
	}
}

func requireField(t *testing.T, err error, op string, code boterr.Code, field string) {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok, "%s gives no *boterr.Error: %v", op, err)
	require.Equal(t, []string{op, string(code), field}, []string{e.Op, string(e.Code), e.Field}, "%v", err)
}

func strictly() fakes.Option {
	return fakes.Config(func(c *botctx.Config) { c.Strict = true })
}

func newRuntime(t *testing.T, config botctx.Config) *botctx.Runtime {
	t.Helper()
	config.Store = memstore.New()
	runtime, err := botctx.New(config)
	require.NoError(t, err)
	return runtime
}

func TestSendEmail_BadInput(t *testing.T) {
	t.Parallel()
	to := func(addresses ...string) func(*utility.SendEmailParams) {
		return func(p *utility.SendEmailParams) { p.Destination.ToAddresses = addresses }
	}
	cc := func(addresses ...string) func(*utility.SendEmailParams) {
		return func(p *utility.SendEmailParams) { p.Destination.CcAddresses = addresses }
	}
	subject := func(charset, data string) func(*utility.SendEmailParams) {
		return func(p *utility.SendEmailParams) { p.Message.Subject = utility.EmailText{Charset: charset, Data: data} }
	}
	body := func(html, text *utility.EmailText) func(*utility.SendEmailParams) {
		return func(p *utility.SendEmailParams) { p.Message.Body = utility.EmailBody{HTML: html, Text: text} }
	}
	for name, c := range map[string]struct {
		field  string
		change func(*utility.SendEmailParams)
	}{
		"a folded line":              {"destination.ToAddresses[0]", to("Ada\r\n <a@b.example>")},
		"an encoded line separator":  {"destination.ToAddresses[0]", to("=?utf-8?q?Ada=E2=80=A8?= <a@b.example>")},
		"a tab":                      {"destination.ToAddresses[0]", to("a@b.example\t")},
		"a quoted part":              {"destination.ToAddresses[0]", to(`"a> RCPT TO:<c"@b.example`)},
		"a quoted bracket":           {"destination.ToAddresses[0]", to(`"a>"@b.example`)},
		"a machine":                  {"destination.ToAddresses[0]", to("a@[10.0.0.1]")},
		"no UTF-8":                   {"destination.ToAddresses[0]", to("a\xff@b.example")},
		"a long address":             {"destination.ToAddresses[0]", to("a@" + strings.Repeat("b.", 130) + "example")},
		"a long local part":          {"destination.ToAddresses[0]", to(strings.Repeat("a", 65) + "@b.example")},
		"a long name":                {"destination.ToAddresses[0]", to(strings.Repeat("a", 999) + " <a@b.example>")},
		"too many with copies":       {"destination.CcAddresses[49]", cc(addresses(50)...)},
		"a subject with a C1":        {"message.Subject.Data", subject("", "Hello\u0085")},
		"a subject that is no UTF-8": {"message.Subject.Data", subject("", "Hello\xff")},
		"a character set of marks":   {"message.Subject.Charset", subject("-", "Hello")},
		"a quoted character set":     {"message.Subject.Charset", subject(`"utf-8"`, "Hello")},
		"a parameter more":           {"message.Subject.Charset", subject("utf-8; name=x", "Hello")},
		"a character set like ours":  {"message.Subject.Charset", subject("utf‐8", "Hello")},
		"a long character set":       {"message.Subject.Charset", subject(strings.Repeat("a", 41), "Hello")},
		"an unknown character set":   {"message.Subject.Charset", subject("klingon", "Hello")},
		"beyond the character set":   {"message.Subject.Data", subject("us-ascii", "Grüße")},
		"a text that is no UTF-8":    {"message.Body.Text.Data", body(nil, new(text("\xff")))},
		"a bad set of the text":      {"message.Body.Text.Charset", body(nil, &utility.EmailText{Charset: "a b", Data: "x"})},
		"a body that is too large":   {"message.Body", body(new(text(strings.Repeat("x", 6<<20))), new(text(strings.Repeat("x", 6<<20))))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			utilities := fakes.NewUtilities(fakes.For(t))
			result, err := utilities.SendEmail(t.Context(), newEmail(c.change))
			requireField(t, err, "sendEmail", boterr.InvalidArgument, c.field)
			require.Equal(t, utility.SendEmailResult{}, result)
			require.Empty(t, utilities.Platform.Mails())
		})
	}
}

func addresses(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("member-%d@example.com", i)
	}
	return list
}

func TestSendEmail_MaxRecipients(t *testing.T) {
	t.Parallel()
	utilities := fakes.NewUtilities(fakes.For(t))
	_, err := utilities.SendEmail(t.Context(), newEmail(func(p *utility.SendEmailParams) {
		p.Destination.ToAddresses, p.Destination.CcAddresses = addresses(49), append(addresses(49), "ada@example.com")
	}))
	require.NoError(t, err)
	sent := utilities.Platform.Mails()
	require.Len(t, sent[0].To, 49)
	require.Equal(t, []mail.Address{{Address: "ada@example.com"}}, sent[0].CC)
}

type mailerFunc func(context.Context, utility.Mail) error

func (f mailerFunc) SendMail(ctx context.Context, sent utility.Mail) error { return f(ctx, sent) }

func TestSendEmail_NoMailer(t *testing.T) {
	t.Parallel()
	bot := newRuntime(t, botctx.Config{}).Operations(botctx.Scope{App: "shop"})
	_, err := bot.SendEmail(t.Context(), newEmail())
	requireField(t, err, "sendEmail", boterr.Unsupported, "")
}

func TestSendEmail_MailerErrors(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for name, c := range map[string]struct {
		err   error
		code  boterr.Code
		field string
	}{
		"none":                    {},
		"an error without a code": {err: down, code: boterr.Unavailable},
		"a time-out of its own":   {err: context.DeadlineExceeded, code: boterr.Unavailable},
		"a code":                  {err: fmt.Errorf("slow down: %w", boterr.ResourceExhausted), code: boterr.ResourceExhausted},
		"an error with a field": {
			err: boterr.Invalid("message.Subject.Charset", "is not known"), code: boterr.InvalidArgument, field: "message.Subject.Charset",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bot := newRuntime(t, botctx.Config{
				Mailer: mailerFunc(func(context.Context, utility.Mail) error { return c.err }),
			}).Operations(botctx.Scope{App: "shop"})
			_, err := bot.SendEmail(t.Context(), newEmail())
			if c.err == nil {
				require.NoError(t, err)
				return
			}
			requireField(t, err, "sendEmail", c.code, c.field)
			if !errors.As(c.err, new(*boterr.Error)) {
				require.ErrorIs(t, err, c.err)
			}
		})
	}
}

func TestSendEmail_Panic(t *testing.T) {
	t.Parallel()
	bot := newRuntime(t, botctx.Config{
		Mailer: mailerFunc(func(context.Context, utility.Mail) error { panic("boom") }),
	}).Operations(botctx.Scope{App: "shop"})
	_, err := bot.SendEmail(t.Context(), newEmail())
	requireField(t, err, "sendEmail", boterr.Internal, "")
}

// FuzzNoHeaderCanBeInjected sends a mail with arbitrary texts in its headers. A mail that is accepted contains no
// character that could end a header.
func FuzzNoHeaderCanBeInjected(f *testing.F) {
	f.Add("Ada <ada@example.com>", "bob@example.com", "Hello", "UTF-8")
	f.Add("ada@example.com", "bob@example.com", "Hello", "utf-8\r\nBcc: c@b.example")
	f.Add("=?utf-8?q?Ada=0D=0A?= <ada@example.com>", "\"b\\\"ob\"@example.com", "a\r\nb", "utf-8\r\n")
	f.Add("=?utf-8?b?QWRhDQpCY2M6IGM=?= <ada@example.com>", "(x\ry) b@c.example", "\u2028", "=?")
	f.Add("a@b.example (c\n)", "a:b@c.example;", "\u0085", "utf-8;x")
	f.Fuzz(func(t *testing.T, to, cc, subject, charset string) {
		var sent *utility.Mail
		bot := newRuntime(t, botctx.Config{Mailer: mailerFunc(func(_ context.Context, m utility.Mail) error {
			sent = &m
			return nil
		})}).Operations(botctx.Scope{App: "shop"})
		_, err := bot.SendEmail(t.Context(), newEmail(func(p *utility.SendEmailParams) {
			p.Destination = utility.EmailDestination{ToAddresses: []string{to}, CcAddresses: []string{cc}}
			p.Message.Subject = utility.EmailText{Charset: charset, Data: subject}
			p.Message.Body.Text.Charset = charset
		}))
		if err != nil {
			require.ErrorIs(t, err, boterr.InvalidArgument)
			require.Nil(t, sent)
			return
		}
		headers := []string{sent.Subject.Data, sent.Subject.Charset, sent.Text.Charset, sent.ID}
		for _, address := range append(sent.To, sent.CC...) {
			headers = append(headers, address.Name, address.Address)
			require.NotContains(t, address.Address, "<")
			require.NotContains(t, address.Address, ">")
			require.Equal(t, 1, strings.Count(address.Address, "@"))
		}
		for _, header := range headers {
			require.False(t, strings.ContainsFunc(header, func(r rune) bool {
				return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
			}), "%q", header)
		}
	})
}
