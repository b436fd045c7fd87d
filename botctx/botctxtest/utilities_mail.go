package botctxtest

import (
	"net/mail"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/utility"
)

var mailRules = needing([]Capability{Mails}, []Rule{
	{
		Name:  "SendEmailSendsTheMail",
		Text:  "a mail goes out once, to those in To and Cc in their order, with the subject and both texts as they were given",
		Needs: []Capability{readMails},
		check: sendEmailSendsTheMail,
	},
	{
		Name:  "SendEmailIsUnicodeByDefault",
		Text:  "the character set is UTF-8 where none is given, and a mail needs only one list and one text",
		Needs: []Capability{readMails},
		check: sendEmailIsUnicodeByDefault,
	},
	{
		Name:  "SendEmailSendsOneMailToEach",
		Text:  "who is named twice gets one mail, and domains are the same in either case",
		Needs: []Capability{readMails},
		check: sendEmailSendsOneMailToEach,
	},
	{
		Name:  "SendEmailTakesACopy",
		Text:  "what goes in is copied: changing it later changes nothing that was mailed",
		Needs: []Capability{readMails},
		check: sendEmailTakesACopy,
	},
	{
		Name:  "SendEmailTakesBothSpellings",
		Text:  "each key may begin with a small or a capital letter",
		Needs: []Capability{readMails},
		check: sendEmailTakesBothSpellings,
	},
	{
		Name:  "SendEmailRefusesHeaderInjection",
		Text:  "a line break in an address, a name, the subject or a character set is InvalidArgument, and nothing is mailed",
		check: sendEmailRefusesHeaderInjection,
	},
})

// Short for the rules below.
type (
	mailParams = utility.SendEmailParams
	mailText   = utility.EmailText
)

// mailTo is a short mail to these addresses.
func mailTo(addresses ...string) mailParams {
	return mailParams{
		Destination: utility.EmailDestination{ToAddresses: addresses},
		Message: utility.EmailMessage{
			Subject: mailText{Data: "Your order"}, Body: utility.EmailBody{Text: &mailText{Data: "It is on its way."}},
		},
	}
}

// mailWith is that mail with a change.
func mailWith(change func(*mailParams)) mailParams {
	params := mailTo("ada@example.com")
	change(&params)
	return params
}

// mail sends a mail, without an error, and returns it as the mail service has it.
func (t *trial) mail(params mailParams) utility.Mail {
	t.Helper()
	before := len(t.Mails())
	require.NoError(t, errorOf(t.home.SendEmail(t.ctx(), params)))
	mails := t.Mails()
	require.Len(t, mails, before+1)
	return mails[before]
}

func sendEmailSendsTheMail(t *trial) {
	sent := t.mail(mailParams{
		Destination: utility.EmailDestination{
			ToAddresses: []string{"ada@example.com", "Bob <bob@example.com>"}, CcAddresses: []string{"eve@example.com"},
		},
		Message: utility.EmailMessage{
			Subject: mailText{Charset: "UTF-8", Data: "Grüße"},
			Body: utility.EmailBody{
				HTML: &mailText{Charset: "ISO-8859-1", Data: "<p>Grüße</p>"}, Text: &mailText{Charset: "US-ASCII", Data: "Hello\r\nAda"},
			},
		},
	})
	require.Equal(t, []mail.Address{{Address: "ada@example.com"}, {Name: "Bob", Address: "bob@example.com"}}, sent.To)
	require.Equal(t, []mail.Address{{Address: "eve@example.com"}}, sent.CC)
	require.Equal(t, mailText{Charset: "UTF-8", Data: "Grüße"}, sent.Subject)
	require.Equal(t, &mailText{Charset: "ISO-8859-1", Data: "<p>Grüße</p>"}, sent.HTML)
	require.Equal(t, &mailText{Charset: "US-ASCII", Data: "Hello\r\nAda"}, sent.Text)
	require.Equal(t, t.home.scope.App, sent.App)
}

func sendEmailIsUnicodeByDefault(t *trial) {
	sent := t.mail(mailTo("ada@example.com"))
	require.Equal(t, mailText{Charset: "UTF-8", Data: "Your order"}, sent.Subject)
	require.Equal(t, &mailText{Charset: "UTF-8", Data: "It is on its way."}, sent.Text)
	require.Nil(t, sent.HTML)
	require.Empty(t, sent.CC)
	sent = t.mail(mailParams{
		Destination: utility.EmailDestination{CcAddresses: []string{"eve@example.com"}},
		Message:     utility.EmailMessage{Subject: mailText{Data: "Hi"}, Body: utility.EmailBody{HTML: &mailText{Data: "<p>"}}},
	})
	require.Equal(t, &mailText{Charset: "UTF-8", Data: "<p>"}, sent.HTML)
	require.Nil(t, sent.Text)
	require.Empty(t, sent.To)
}

func sendEmailSendsOneMailToEach(t *trial) {
	sent := t.mail(mailWith(func(p *mailParams) {
		p.Destination.ToAddresses = []string{"ada@example.com", "Ada <ada@EXAMPLE.com>", "bob@example.com"}
		p.Destination.CcAddresses = []string{"bob@example.com", "eve@example.com"}
	}))
	require.Equal(t, []mail.Address{{Address: "ada@example.com"}, {Address: "bob@example.com"}}, sent.To)
	require.Equal(t, []mail.Address{{Address: "eve@example.com"}}, sent.CC)
}

func sendEmailTakesACopy(t *trial) {
	given := mailTo("ada@example.com")
	t.mail(given)
	given.Destination.ToAddresses[0], given.Message.Body.Text.Data = "eve@example.com", "Changed"
	sent := t.Mails()
	require.Len(t, sent, 1)
	require.Equal(t, []mail.Address{{Address: "ada@example.com"}}, sent[0].To)
	require.Equal(t, &mailText{Charset: "UTF-8", Data: "It is on its way."}, sent[0].Text)
}

func sendEmailTakesBothSpellings(t *trial) {
	text := func(charset, data, content string) document.Object {
		return document.O(charset, "UTF-8", data, content)
	}
	spellings := []document.Object{
		document.O(
			"destination", document.O("ToAddresses", document.A("ada@example.com"), "CcAddresses", document.A("eve@example.com")),
			"message", document.O("Subject", text("Charset", "Data", "Hi"),
				"Body", document.O("Html", text("Charset", "Data", "<p>"), "Text", text("Charset", "Data", "Hello")))),
		document.O(
			"Destination", document.O("toAddresses", document.A("ada@example.com"), "ccAddresses", document.A("eve@example.com")),
			"Message", document.O("subject", text("charset", "data", "Hi"),
				"body", document.O("html", text("charset", "data", "<p>"), "text", text("charset", "data", "Hello")))),
	}
	for _, spelling := range spellings {
		fromJSON(t, t.home, botctx.OpSendEmail, t.home.SendEmail, spelling)
	}
	mails := t.Mails()
	require.Len(t, mails, len(spellings))
	for _, sent := range mails {
		require.Equal(t, "ada@example.com", sent.To[0].Address)
		require.Equal(t, "eve@example.com", sent.CC[0].Address)
		require.Equal(t, mailText{Charset: "UTF-8", Data: "Hi"}, sent.Subject)
		require.Equal(t, &mailText{Charset: "UTF-8", Data: "<p>"}, sent.HTML)
		require.Equal(t, &mailText{Charset: "UTF-8", Data: "Hello"}, sent.Text)
	}
}

func sendEmailRefusesHeaderInjection(t *trial) {
	var cases []badInput[mailParams]
	for name, breaks := range map[string]string{"CR LF": "\r\n", "LF": "\n", "CR": "\r", "a line separator": "\u2028", "NUL": "\x00"} {
		header := breaks + "Bcc: eve@example.com"
		cases = append(cases, []badInput[mailParams]{
			{name + " in an address", mailTo("ada@example.com" + header), "destination.ToAddresses[0]"},
			{name + " in a name", mailTo("\"Ada" + header + "\" <ada@example.com>"), "destination.ToAddresses[0]"},
			{name + " in Cc", mailWith(func(p *mailParams) {
				p.Destination.CcAddresses = []string{"bob@example.com" + header}
			}), "destination.CcAddresses[0]"},
			{name + " in the subject", mailWith(func(p *mailParams) { p.Message.Subject.Data += header }), "message.Subject.Data"},
			{name + " in a character set", mailWith(func(p *mailParams) {
				p.Message.Body.Text.Charset = "UTF-8" + header
			}), "message.Body.Text.Charset"},
		}...)
	}
	cases = append(cases, badInput[mailParams]{
		"an encoded line break in a name", mailTo("=?utf-8?q?Ada=0D=0ABcc:_eve?= <ada@example.com>"), "destination.ToAddresses[0]",
	})
	requireRefused(t, botctx.OpSendEmail, t.home.SendEmail, cases)
}
