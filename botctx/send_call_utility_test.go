package botctx_test

import (
	"fmt"
	"io"
	"net/mail"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/outbound/replies"
	"github.com/botctx/go-sdk/record"
)

// utilityCases are those of the operations that mail, charge and upload.
func utilityCases() map[string]chatCase {
	return map[string]chatCase{
		"sendEmail": {
			scenes: map[string]scene{"everybody gets it, in either spelling of the keys": callToMail},
			defaults: map[string]scene{
				"message.Subject.Charset":   callToMailIn("Subject", func(m fakes.Mail) botctx.EmailText { return m.Subject }),
				"message.Body.Html.Charset": callToMailIn("Html", func(m fakes.Mail) botctx.EmailText { return *m.HTML }),
				"message.Body.Text.Charset": callToMailIn("Text", func(m fakes.Mail) botctx.EmailText { return *m.Text }),
			},
			refusals: []refusal{
				{boterr.InvalidArgument, "cannot be read", callToMailWrongly},
				{boterr.Unsupported, "sends no mail", callOnBareHost("sendEmail")},
				{boterr.Unavailable, "did not answer", callToMailInVain},
			},
		},
		"golf": {
			scenes:   map[string]scene{"the client is one of the account": callGolf},
			refusals: []refusal{{boterr.NotFound, "no account of that name", callGolfInVain}},
		},
		"uploadFileToObjectStore": {
			scenes: map[string]scene{"the file is in the store": callToStoreFile},
			refusals: []refusal{
				{boterr.InvalidArgument, "is no HTTP address", callToStoreFrom},
				{boterr.InvalidArgument, "could not be a name", callToStoreWrongly},
				{boterr.NotFound, "does not exist in the app", callInVain("uploadFileToObjectStore")},
				{boterr.ResourceExhausted, "is larger", callToStoreTooMuch},
				{boterr.Unsupported, "has no object store", callOnBareHost("uploadFileToObjectStore")},
				{boterr.Unavailable, "did not answer", callToStoreInVain},
			},
		},
	}
}

// mailFormat is a mail of which two addresses are to be filled in.
const mailFormat = `{"destination": {"ToAddresses": [%q], "CcAddresses": [%q]}, "message": {
	"Subject": {"Data": "A kettle", "Charset": "US-ASCII"},
	"Body": {"Html": {"Data": "<p>Here it is.", "Charset": "ISO-8859-1"}, "Text": {"Data": "Here it is.", "Charset": "UTF-8"}}}}`

// lowercased returns the parameters of a mail with keys that begin with a small letter.
func lowercased(args string) string {
	for _, key := range []string{"ToAddresses", "CcAddresses", "Subject", "Data", "Charset", "Body", "Html", "Text"} {
		args = strings.ReplaceAll(args, `"`+key+`"`, `"`+strings.ToLower(key[:1])+key[1:]+`"`)
	}
	return args
}

func callToMail(t *testing.T) {
	t.Helper()
	for _, args := range []string{mailFormat, lowercased(mailFormat)} {
		for _, options := range [][]fakes.Option{nil, {strictly()}} {
			s := openShop(t, channel.Webchat, options...)
			require.Equal(t, "null", callf(t, s.ada.Context(), "sendEmail", args, "Ada <ada@shop.example>", "bob@shop.example").Raw)
			sent := s.Mails()
			require.Len(t, sent, 1)
			require.Equal(t, fakes.Mail{At: document.At(s.Now()), Mail: botctx.Mail{
				ID: sent[0].ID, App: fakes.DefaultApp, Channel: "shop",
				To: []mail.Address{{Name: "Ada", Address: "ada@shop.example"}}, CC: []mail.Address{{Address: "bob@shop.example"}},
				Subject: botctx.EmailText{Data: "A kettle", Charset: "US-ASCII"},
				HTML:    &botctx.EmailText{Data: "<p>Here it is.", Charset: "ISO-8859-1"},
				Text:    &botctx.EmailText{Data: "Here it is.", Charset: "UTF-8"},
			}}, sent[0])
			require.Len(t, s.Mailbox("bob@shop.example"), 1)
			callf(t, s.outside(), "sendEmail", args, "cleo@shop.example", "bob@shop.example")
			require.Len(t, s.Mailbox("bob@shop.example"), 2)
			require.Empty(t, s.Mails()[1].Channel)
			require.NotEqual(t, s.Mails()[0].ID, s.Mails()[1].ID)
		}
	}
}

// callToMailIn is the scene of one text of a mail without a character set.
func callToMailIn(part string, read func(fakes.Mail) botctx.EmailText) scene {
	return func(t *testing.T) {
		t.Helper()
		start := strings.Index(mailFormat, `"`+part+`"`)
		from := start + strings.Index(mailFormat[start:], `, "Charset"`)
		to := from + strings.IndexByte(mailFormat[from:], '}')
		for _, charset := range []string{``, `, "Charset": null`, `, "Charset": ""`} {
			s := openShop(t, channel.Webchat)
			callf(t, s.ada.Context(), "sendEmail", mailFormat[:from]+charset+mailFormat[to:], "ada@shop.example", "bob@shop.example")
			require.Equal(t, "UTF-8", read(s.Mails()[0]).Charset)
		}
	}
}

func callToMailWrongly(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Webchat)
	for _, wrong := range []string{"ada", "ada@", "ada@shop.example\r\nBcc: eve@shop.example", "Ada\n <ada@shop.example>", "", "a@b, c@d"} {
		s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "destination.ToAddresses", "sendEmail", mailFormat, wrong, "bob@shop.example")
		s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "destination.CcAddresses", "sendEmail", mailFormat, "ada@shop.example", wrong)
	}
	for field, args := range map[string]string{
		"message.Subject.Data": strings.Replace(mailFormat, "A kettle", `A\r\nBcc: eve@shop.example`, 1),
		"message.Body":         `{"destination": {"ToAddresses": [%q, %q]}, "message": {"Subject": {"Data": "x"}}}`,
		"message.Subject":      `{"destination": {"ToAddresses": [%q, %q]}, "message": {"Body": {"Text": {"Data": "x"}}}}`,
	} {
		s.refusef(t, s.ada.Context(), boterr.InvalidArgument, field, "sendEmail", args, "ada@shop.example", "bob@shop.example")
	}
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "destination.ToAddresses", "sendEmail", `{"destination": {}, "message": {"Subject": {"Data": "x"}, "Body": {"Text": {"Data": "x"}}}}`)
}

func callToMailInVain(t *testing.T) {
	t.Helper()
	s, args := newLeast(t, "sendEmail")
	s.FailNextMail(io.ErrUnexpectedEOF)
	s.refusef(t, s.ada.Context(), boterr.Unavailable, "", "sendEmail", args)
	callf(t, s.ada.Context(), "sendEmail", args)
	require.Len(t, s.Mailbox("ada@shop.example"), 1)
}

// callOnBareHost is the scene of a host that has nothing for a utility.
func callOnBareHost(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		h := newHost(t, channel.Webchat, channel.Charlie)
		refusef(t, h.ada, boterr.Unsupported, "", name, leastCalls()[name].args)
	}
}

func callGolf(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Webchat)
	account, other := s.AddAccount("shop"), s.AddAccount("other")
	require.Equal(t, "null", callf(t, s.ada.Context(), "golf", `{"golfName": "shop"}`).Raw)
	require.Equal(t, "null", callf(t, s.outside(), "golf", `{"golfName": "other"}`).Raw)
	given, err := s.ada.Context().Golf(t.Context(), botctx.GolfParams{GolfName: "shop"})
	require.NoError(t, err)
	_, err = given.Client.Charge(t.Context(), botctx.Charge{Amount: 2500, Currency: "eur", PaymentMethod: "card"})
	require.NoError(t, err)
	require.Len(t, account.Payments(), 1)
	require.Empty(t, other.Payments())
}

func callGolfInVain(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Webchat)
	s.AddAccount("shop")
	s.AddAccountOf("app-2", "theirs")
	for _, unknown := range []string{"none", "theirs", "Shop"} {
		says := s.refusef(t, s.ada.Context(), boterr.NotFound, "golfName", "golf", `{"golfName": %q}`, unknown)
		require.Contains(t, says, unknown)
	}
	refusef(t, newHost(t, channel.Webchat, channel.Charlie).ada, boterr.NotFound, "golfName", "golf", `{"golfName": "shop"}`)
}

// bill is where a file is.
const bill = "https://shop.example/bill.pdf"

func callToStoreFile(t *testing.T) {
	t.Helper()
	for where, in := range map[string]string{
		``: "shop", `"channel": "branch",`: "branch", `"channel": {"_id": "branch", "type": "echo"},`: "branch", `"channel": null,`: "shop",
	} {
		s := openShop(t, channel.Webchat)
		s.HTTP.Add("POST", bill, replies.Text(200, "One kettle."))
		answer := callf(t, s.ada.Context(), "uploadFileToObjectStore",
			`{%s "url": %q, "filename": "bills/7.pdf", "contentType": "Application/PDF", "options": {"method": "POST", "headers": {"X-Key": 7}, "body": {"id": 7}}}`, where, bill)
		require.Equal(t, "null", answer.Raw)
		require.Equal(t, []fakes.File{{
			Key: "app-1/" + in + "/bills/7.pdf", App: fakes.DefaultApp, Channel: in, Name: "bills/7.pdf",
			ContentType: "application/pdf", Content: []byte("One kettle."), At: document.At(s.Now()),
		}}, s.Files())
		asked := s.HTTP.Requests()[0]
		require.JSONEq(t, `{"id": 7}`, asked.Body)
		require.Equal(t, "7", asked.Header.Get("X-Key"))

		s.HTTP.Add("GET", bill, replies.Text(200, "Two kettles."))
		callf(t, s.ada.Context(), "uploadFileToObjectStore", `{%s "url": %q, "filename": "bills/7.pdf", "contentType": "application/pdf"}`, where, bill)
		require.Len(t, s.Files(), 1)
		require.Equal(t, "Two kettles.", string(s.File("app-1/"+in+"/bills/7.pdf").Content), "a file of that name is replaced")
	}
}

func callToStoreFrom(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Webchat)
	for _, wrong := range []string{"bill", "ftp://shop.example/bill", "http://127.0.0.1/bill", "http://169.254.169.254/", "http://[::1]/", "https://"} {
		s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "url", "uploadFileToObjectStore", `{"url": %q, "filename": "7.pdf", "contentType": "application/pdf"}`, wrong)
	}
	s.HTTP.Add("GET", bill, replies.Text(404, "no"))
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "url", "uploadFileToObjectStore", `{"url": %q, "filename": "7.pdf", "contentType": "application/pdf"}`, bill)
}

func callToStoreWrongly(t *testing.T) {
	t.Helper()
	for field, wrong := range map[string][]string{
		"filename":    {`"../7.pdf"`, `"/7.pdf"`, `"a//b"`, `"a\\b"`, `"a/."`, `"a\nb"`, `"` + strings.Repeat("a", 1100) + `"`},
		"contentType": {`"pdf"`, `"application/"`, `"text/plain; charset"`, `"a b/c"`},
		"options": {
			`{"method": "HEAD"}`, `{"method": 7}`, `{"headers": []}`, `{"body": 7}`, `{"timeout": "soon"}`, `{"proxy": "none"}`,
			`{"encoding": "utf8"}`,
		},
	} {
		for _, value := range wrong {
			s, args := newLeast(t, "uploadFileToObjectStore")
			s.refusef(t, s.ada.Context(), boterr.InvalidArgument, field, "uploadFileToObjectStore", with(t, args, field, "%s", value))
			require.Empty(t, s.HTTP.Requests(), "it is refused before anything is asked for")
		}
	}
	s := openShop(t, channel.Webchat)
	here := s.Operations(record.Scope{})
	refusef(t, here, boterr.InvalidArgument, "channel", "uploadFileToObjectStore", leastCalls()["uploadFileToObjectStore"].args)
}

func callToStoreTooMuch(t *testing.T) {
	t.Helper()
	const most = 1 << 10
	s := openShop(t, channel.Webchat, fakes.Config(func(c *botctx.Config) { c.Upload.MaxBytes = most }))
	for length, isTaken := range map[int]bool{most: true, most + 1: false} {
		s.HTTP.Add("GET", fmt.Sprintf("%s?%d", bill, length), replies.Text(200, strings.Repeat("a", length)))
		args := fmt.Sprintf(`{"url": "%s?%d", "filename": "%d", "contentType": "text/plain"}`, bill, length, length)
		if isTaken {
			callf(t, s.ada.Context(), "uploadFileToObjectStore", args)
			require.Len(t, s.File(fmt.Sprintf("app-1/shop/%d", length)).Content, length)
			continue
		}
		s.refusef(t, s.ada.Context(), boterr.ResourceExhausted, "url", "uploadFileToObjectStore", args)
	}
}

func callToStoreInVain(t *testing.T) {
	t.Helper()
	s, args := newLeast(t, "uploadFileToObjectStore")
	s.FailNextFile(io.ErrUnexpectedEOF)
	s.refusef(t, s.ada.Context(), boterr.Unavailable, "", "uploadFileToObjectStore", args)
	callf(t, s.ada.Context(), "uploadFileToObjectStore", args)
	require.Len(t, s.Files(), 1)
	s.refusef(t, s.ada.Context(), boterr.Unavailable, "", "uploadFileToObjectStore", with(t, args, "url", `"https://shop.example/elsewhere"`))
}
