package botctxtest

import (
	"net/mail"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/utility"
)

var mailRules = needing([]Capability{Mails}, []Rule{
	rule(sendEmailSendsTheMail,
		"a mail is sent once, to the addresses in To and Cc in their order, with the given subject and texts", readMails),
	rule(sendEmailIsUnicodeByDefault,
		"the default character set is UTF-8, and a mail needs only one list of addresses and one text", readMails),
	rule(sendEmailSendsOneMailToEach, "a duplicate address gets one mail, and the case of the domain does not matter", readMails),
	rule(sendEmailTakesACopy, "changing the parameters after the call does not change the sent mail", readMails),
	rule(sendEmailTakesBothSpellings, "each key may begin with a lower-case or an upper-case letter", readMails),
	rule(sendEmailRefusesHeaderInjection,
		"a line break in an address, a name, the subject or a character set is InvalidArgument, and nothing is mailed"),
})

// Short names for the rules below.
type (
	mailParams = utility.SendEmailParams
	mailText   = utility.EmailText
)

// mailTo returns a short mail to the given addresses.
func mailTo(addresses ...string) mailParams {
	return mailParams{
		Destination: utility.EmailDestination{ToAddresses: addresses},
		Message: utility.EmailMessage{
			Subject: mailText{Data: "Your order"}, Body: utility.EmailBody{Text: &mailText{Data: "It is on its way."}},
		},
	}
}

func mailWith(change func(*mailParams)) mailParams {
	params := mailTo("ada@example.com")
	change(&params)
	return params
}

// mail sends a mail and returns it as the mail service got it.
func (t *trial) mail(params mailParams) utility.Mail {
	t.Helper()
	before := len(t.Mails())
	must(t, t.home.SendEmail, params)
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

var uploadRules = needing([]Capability{Uploads}, []Rule{
	rule(uploadFileToObjectStoreStoresTheFile,
		"the file is stored as the bytes that came, under the app, the context's own channel and its name; it returns nothing", readFiles),
	rule(uploadFileToObjectStoreReplacesTheFile,
		"a file with the same name is replaced, and files of other channels and apps do not change", readFiles),
	rule(uploadFileToObjectStoreTakesAnotherChannel, "the channel may be named by its id or its record", readFiles),
	rule(uploadFileToObjectStoreAsksByItsOptions,
		"the file is asked for by GET, or by the method, the headers and the body of options; an object goes as JSON", readFiles),
	rule(uploadFileToObjectStoreIsOneStep, "of many uploads of one name at once, one whole file stays", readFiles),
	rule(uploadFileToObjectStoreAsksForNothingInVain,
		"if the channel does not exist or belongs to another app, the file is not requested", readFiles),
	rule(uploadFileToObjectStoreRefusesUnsafeAddresses,
		"private and link-local addresses in any spelling, and schemes other than HTTP, are InvalidArgument with the field url"),
	rule(uploadFileToObjectStoreRefusesHeaderInjection,
		"a line break in a header of options is InvalidArgument, and nothing is asked for", readFiles),
})

type uploadParams = utility.UploadFileToObjectStoreParams

// upload returns the params for uploading a file from an address.
func upload(url string) uploadParams {
	return uploadParams{URL: url, Filename: "bills/7.pdf", ContentType: "application/pdf"}
}

func bill(app, channel, content string) File {
	return File{App: app, Channel: channel, Name: "bills/7.pdf", ContentType: "application/pdf", Content: []byte(content)}
}

func (t *trial) upload(p *place, params uploadParams) {
	t.Helper()
	stored := must(t, p.UploadFileToObjectStore, params)
	require.Equal(t, "null", textOf(t, stored))
}

func uploadFileToObjectStoreStoresTheFile(t *trial) {
	const content = "%PDF\x00\xff\n{{firstName}}"
	t.upload(t.home, upload(t.Serve("", content).URL))
	require.Equal(t, []File{bill(t.home.scope.App, t.home.channel.ID, content)}, t.Files())
}

func uploadFileToObjectStoreReplacesTheFile(t *trial) {
	first, second := t.Serve("", "first"), t.Serve("", "second")
	t.upload(t.home, upload(first.URL))
	t.upload(t.away, upload(first.URL))
	t.upload(t.home, upload(second.URL))
	require.ElementsMatch(t, []File{
		bill(t.home.scope.App, t.home.channel.ID, "second"), bill(t.away.scope.App, t.away.channel.ID, "first"),
	}, t.Files())
}

func uploadFileToObjectStoreTakesAnotherChannel(t *trial) {
	first, second := t.newChannel(t.home.scope.App), t.newChannel(t.home.scope.App)
	url := t.Serve("", "bill").URL
	for _, named := range []any{first.ID, document.O("_id", second.ID, "app", t.away.scope.App, "name", "Forged")} {
		fromJSON(t, t.home, botctx.OpUploadFileToObjectStore, t.home.UploadFileToObjectStore, document.O(
			"url", url, "channel", named, "filename", "bills/7.pdf", "contentType", "application/pdf"))
	}
	require.ElementsMatch(t, []File{
		bill(t.home.scope.App, first.ID, "bill"), bill(t.home.scope.App, second.ID, "bill"),
	}, t.Files())
}

func uploadFileToObjectStoreAsksByItsOptions(t *trial) {
	served := t.Serve("", "bill")
	for _, options := range []document.Object{
		{},
		document.O("encoding", nil),
		document.O("method", "post", "headers", document.O("X-Order", 7, "X-Who", "Ada"), "body", "text"),
		document.O("method", "POST", "body", document.O("order", 7)),
		document.O("method", "POST", "json", document.O("order", 7), "timeout", 60_000),
	} {
		params := upload(served.URL)
		params.Options = options
		t.upload(t.home, params)
	}
	asked := served.Requests()
	expectations := []struct{ method, body string }{
		{"GET", ""}, {"GET", ""}, {"POST", "text"}, {"POST", `{"order":7}`}, {"POST", `{"order":7}`},
	}
	require.Len(t, asked, len(expectations))
	for i, expected := range expectations {
		require.Equal(t, expected.method, asked[i].Method)
		require.Equal(t, expected.body, asked[i].Body)
	}
	require.Equal(t, []string{"7", "Ada"}, []string{asked[2].Header.Get("X-Order"), asked[2].Header.Get("X-Who")})
	for _, sent := range asked[3:] {
		require.Equal(t, "application/json", sent.Header.Get("Content-Type"))
	}
}

func uploadFileToObjectStoreIsOneStep(t *trial) {
	urls, wholes := make([]string, workers), []string{}
	for i := range urls {
		wholes = append(wholes, strings.Repeat(string(rune('a'+i)), 10_000+i))
		urls[i] = t.Serve("", wholes[i]).URL
	}
	t.atOnce(func(worker int) error {
		return errorOf(t.home.UploadFileToObjectStore(t.Context(), upload(urls[worker])))
	})
	files := t.Files()
	require.Len(t, files, 1)
	require.Contains(t, wholes, string(files[0].Content))
}

func uploadFileToObjectStoreAsksForNothingInVain(t *trial) {
	served := t.Serve("", "bill")
	for _, id := range []string{unique("channel"), t.away.channel.ID} {
		params := upload(served.URL)
		params.Channel = utility.ChannelID(id)
		t.requireCode(boterr.NotFound, errorOf(t.home.UploadFileToObjectStore(t.Context(), params)))
	}
	require.Empty(t, served.Requests())
}

func uploadFileToObjectStoreRefusesUnsafeAddresses(t *trial) {
	var cases []badInput[uploadParams]
	for _, url := range []string{
		"https://10.0.0.1/a", "https://172.16.0.1/a", "https://192.168.1.1:8080/a", "https://169.254.169.254/latest/meta-data/",
		"https://[fe80::1]/a", "https://[fd00::1]/a", "https://[::ffff:10.0.0.1]/a", "https://0.0.0.0/a",
		"ftp://example.com/a", "file:///etc/passwd", "data:text/plain,a", "gopher://example.com/a",
	} {
		cases = append(cases, badInput[uploadParams]{url, upload(url), "url"})
	}
	requireRefused(t, botctx.OpUploadFileToObjectStore, t.home.UploadFileToObjectStore, cases)
}

func uploadFileToObjectStoreRefusesHeaderInjection(t *trial) {
	served := t.Serve("", "bill")
	var cases []badInput[uploadParams]
	for name, header := range map[string]document.Object{
		"in a value": document.O("X-Order", "7\r\nX-Admin: yes"), "in a name": document.O("X-Order: 7\r\nX-Admin", "yes"),
	} {
		params := upload(served.URL)
		params.Options = document.O("headers", header)
		cases = append(cases, badInput[uploadParams]{name, params, "options.headers"})
	}
	requireRefused(t, botctx.OpUploadFileToObjectStore, t.home.UploadFileToObjectStore, cases)
	require.Empty(t, served.Requests())
}
