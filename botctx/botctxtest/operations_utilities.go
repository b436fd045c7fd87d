package botctxtest

import (
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
)

var utilityOperations = []operation{
	{
		op: botctx.OpSendEmail, call: calling(botctx.Operations.SendEmail), needs: []Capability{Mails}, refuses: badMails,
		input: func(*place) document.Object { return mailInput("ada@example.com") },
	}, {
		op: botctx.OpGolf, call: calling(botctx.Operations.Golf), scene: anAccount, names: []string{"golfName"},
		input: func(p *place) document.Object { return document.O("golfName", p.account()) },
	}, {
		op: botctx.OpUploadFileToObjectStore, call: calling(botctx.Operations.UploadFileToObjectStore),
		needs: []Capability{Uploads}, scene: aFile, refuses: badUploads,
		input: func(p *place) document.Object {
			return document.O("url", p.url, "filename", "bills/7.pdf", "contentType", "application/pdf")
		},
	},
}

// mailInput is input of a short mail to these addresses.
func mailInput(addresses ...any) document.Object {
	return document.O("destination", document.O("ToAddresses", document.A(addresses...)), "message", document.O(
		"Subject", document.O("Data", "Your order"), "Body", document.O("Text", document.O("Data", "It is on its way.")),
	))
}

// addressed is a change of the addresses of a mail.
func addressed(name, field string, addresses ...any) change {
	return change{name, document.O("destination", document.O("ToAddresses", document.A(addresses...))), "destination." + field}
}

// message is a change of the message of a mail, at a path.
func message(name, path string, value any, field string) change {
	whole := mailInput("ada@example.com")
	whole.Set("message."+path, value)
	return change{name, document.O("message", whole.Value("message")), "message." + field}
}

func badMails(*trial, *place) []change {
	many := make([]any, 51)
	for i := range many {
		many[i] = fmt.Sprintf("ada%d@example.com", i)
	}
	return []change{
		addressed("nobody", "ToAddresses"),
		addressed("an empty address", "ToAddresses[1]", "ada@example.com", ""),
		addressed("no address", "ToAddresses[0]", "ada"),
		addressed("no domain", "ToAddresses[0]", "ada@"),
		addressed("two addresses in one", "ToAddresses[0]", "ada@example.com, bob@example.com"),
		addressed("51 recipients", "ToAddresses[50]", many...),
		{
			"no address in Cc",
			document.O("destination", document.O("ToAddresses", document.A("ada@example.com"), "CcAddresses", document.A("bob"))),
			"destination.CcAddresses[0]",
		},
		message("no subject", "Subject.Data", "", "Subject.Data"),
		message("a subject of 999 characters", "Subject.Data", strings.Repeat("ä", 999), "Subject.Data"),
		message("no body", "Body", document.O(), "Body"),
		message("no text", "Body.Text", document.O(), "Body.Text.Data"),
		message("no HTML", "Body.Html", document.O(), "Body.Html.Data"),
		message("no character set", "Body.Text.Charset", "no such set", "Body.Text.Charset"),
	}
}

func badUploads(*trial, *place) []change {
	changes := []change{
		{"no address", document.O("url", "https://exa mple.com/%zz"), "url"},
		{"a path", document.O("url", "/a.pdf"), "url"},
		{"a filename of 1,025 bytes", document.O("filename", strings.Repeat("a", 1025)), "filename"},
		{"a word as contentType", document.O("contentType", "pdf"), "contentType"},
		{"a line break in contentType", document.O("contentType", "text/plain\r\nX: y"), "contentType"},
	}
	for _, name := range []string{
		"/etc/passwd", "../a.pdf", "bills/../../a.pdf", "./a.pdf", "bills//a.pdf", "bills/", `bills\a.pdf`, "a\n.pdf",
	} {
		changes = append(changes, change{"the filename " + name, document.O("filename", name), "filename"})
	}
	for _, bad := range []struct {
		name    string
		options document.Object
		field   string
	}{
		{"an unknown option", document.O("proxy", "https://proxy.example"), "options.proxy"},
		{"a timeout of 0", document.O("timeout", 0), "options.timeout"},
		{"an object in a query", document.O("qs", document.O("page", document.O())), "options.qs"},
		{"two bodies", document.O("body", "a", "json", document.O("order", 7)), "options.json"},
		{"a method that brings no file", document.O("method", "HEAD"), "options.method"},
		{"a method that is none", document.O("method", "GET /"), "options.method"},
		{"headers that are no object", document.O("headers", "X: y"), "options.headers"},
		{"a header that is an object", document.O("headers", document.O("X-Order", document.O())), "options.headers"},
		{"a body that is a number", document.O("body", 7), "options.body"},
		{"an encoding", document.O("encoding", "utf8"), "options.encoding"},
	} {
		changes = append(changes, change{bad.name, document.O("options", bad.options), bad.field})
	}
	return changes
}
