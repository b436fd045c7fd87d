package smtp_test

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gosmtp "github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/ianaindex"

	"github.com/botctx/go-sdk/backends/smtp"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
	"github.com/botctx/go-sdk/utility"
)

func aMail() utility.Mail {
	return utility.Mail{
		ID:      "m1",
		To:      []mail.Address{{Name: "Ada", Address: "ada@example.org"}},
		Subject: utility.EmailText{Charset: "UTF-8", Data: "Your order"},
		Text:    &utility.EmailText{Charset: "UTF-8", Data: "It is on its way."},
	}
}

// letter is a mail as a mail program shows it.
type letter struct {
	header mail.Header
	// parts and charsets have the texts and their character sets, by media type.
	parts    map[string]string
	charsets map[string]string
	order    []string
}

// read parses a mail as a mail program does.
func read(t *testing.T, text []byte) letter {
	t.Helper()
	opened, err := mail.ReadMessage(bytes.NewReader(text))
	require.NoError(t, err)
	l := letter{header: opened.Header, parts: map[string]string{}, charsets: map[string]string{}}
	kind, params, err := mime.ParseMediaType(opened.Header.Get("Content-Type"))
	require.NoError(t, err)
	if kind != "multipart/alternative" {
		l.add(t, kind, params["charset"], opened.Header.Get("Content-Transfer-Encoding"), opened.Body)
		return l
	}
	parts := multipart.NewReader(opened.Body, params["boundary"])
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return l
		}
		require.NoError(t, err)
		kind, params, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		require.NoError(t, err)
		l.add(t, kind, params["charset"], part.Header.Get("Content-Transfer-Encoding"), part)
	}
}

func (l *letter) add(t *testing.T, kind, charset, transfer string, body io.Reader) {
	t.Helper()
	require.Equal(t, "quoted-printable", transfer)
	raw, err := io.ReadAll(quotedprintable.NewReader(body))
	require.NoError(t, err)
	// The server adds a line break at the end of the text.
	l.parts[kind] = decode(t, charset, strings.TrimSuffix(string(raw), "\r\n"))
	l.charsets[kind] = charset
	l.order = append(l.order, kind)
}

// decode converts text from a character set to UTF-8.
func decode(t *testing.T, charset, raw string) string {
	t.Helper()
	encoding, err := ianaindex.MIME.Encoding(charset)
	require.NoError(t, err)
	text, err := encoding.NewDecoder().String(raw)
	require.NoError(t, err)
	return text
}

// subject returns the decoded subject.
func (l *letter) subject(t *testing.T) string {
	t.Helper()
	decoder := mime.WordDecoder{CharsetReader: func(charset string, input io.Reader) (io.Reader, error) {
		encoding, err := ianaindex.MIME.Encoding(charset)
		if err != nil {
			return nil, err
		}
		return encoding.NewDecoder().Reader(input), nil
	}}
	text, err := decoder.DecodeHeader(l.header.Get("Subject"))
	require.NoError(t, err)
	return text
}

func TestSend_ArrivesAsWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		charset, subject, text, html string
		want                         string
	}{
		"both texts in UTF-8":           {"UTF-8", "Grüße aus Łódź 🎉", "Žluťoučký kůň\r\n", "<p>Žluťoučký</p>", "UTF-8"},
		"both texts in ISO-8859-1":      {"ISO-8859-1", "Grüße", "Déjà vu à la carte", "<p>Déjà vu</p>", "ISO-8859-1"},
		"an alias of ISO-8859-1":        {"latin1", "Grüße", "Déjà vu", "", "ISO-8859-1"},
		"no character set":              {"", "Grüße", "Déjà vu", "", "UTF-8"},
		"ASCII":                         {"us-ascii", "Hello", "Hello", "", "US-ASCII"},
		"a set with escapes":            {"ISO-2022-JP", strings.Repeat("日本語", 20), "日本語のメール", "", "ISO-2022-JP"}, //nolint:gosmopolitan // Japanese.
		"HTML alone":                    {"UTF-8", "Hello", "", "<p>Hello</p>", "UTF-8"},
		"a long subject":                {"UTF-8", strings.Repeat("žluťoučký ", 50) + "kůň", "x", "", "UTF-8"},
		"a long subject of one word":    {"UTF-8", strings.Repeat("x", 2000), "x", "", "UTF-8"},
		"a subject that looks encoded":  {"UTF-8", "=?UTF-8?B?aGk=?=", "x", "", "UTF-8"},
		"a subject with spaces around":  {"UTF-8", " Hello  there ", "x", "", "UTF-8"},
		"an empty subject":              {"UTF-8", "", "x", "", "UTF-8"},
		"lines that begin with a dot":   {"UTF-8", "Dots", ".\r\n..\r\n.x", "", "UTF-8"},
		"a very long line, and no more": {"UTF-8", "Long", strings.Repeat("long ", 5000) + "end", "", "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t, serverOptions{})
			sent := aMail()
			sent.Subject = utility.EmailText{Charset: c.charset, Data: c.subject}
			want := map[string]string{}
			sent.Text = nil
			if c.text != "" {
				sent.Text = &utility.EmailText{Charset: c.charset, Data: c.text}
				want["text/plain"] = strings.TrimSuffix(c.text, "\r\n")
			}
			if c.html != "" {
				sent.HTML = &utility.EmailText{Charset: c.charset, Data: c.html}
				want["text/html"] = c.html
			}
			require.NoError(t, newMailer(t, server.config()).SendMail(t.Context(), sent))

			require.Len(t, server.received(), 1)
			got := read(t, server.received()[0].text)
			require.Equal(t, c.subject, got.subject(t))
			require.Equal(t, want, got.parts)
			for _, charset := range got.charsets {
				require.Equal(t, c.want, charset)
			}
		})
	}
}

func TestSend_ReaderPrefersHTML(t *testing.T) {
	t.Parallel()
	server := newServer(t, serverOptions{})
	sent := aMail()
	sent.HTML = &utility.EmailText{Charset: "ISO-8859-1", Data: "<p>été</p>"}
	require.NoError(t, newMailer(t, server.config()).SendMail(t.Context(), sent))
	got := read(t, server.received()[0].text)
	require.Equal(t, []string{"text/plain", "text/html"}, got.order)
	require.Equal(t, map[string]string{"text/plain": "UTF-8", "text/html": "ISO-8859-1"}, got.charsets)
}

// An app with many mails does not hold up another one.
func TestSend_AppsTakeTurns(t *testing.T) {
	t.Parallel()
	server := newServer(t, serverOptions{})
	proceed := make(chan struct{})
	server.onContent = func() error { <-proceed; return nil }
	config := server.config()
	config.Connections = 1
	mailer := newMailer(t, config)
	var all sync.WaitGroup
	sends := func(app string, waiting int) {
		all.Go(func() {
			sent := aMail()
			sent.App, sent.To = app, []mail.Address{{Address: app + "@example.org"}}
			if err := mailer.SendMail(t.Context(), sent); err != nil {
				t.Error(err)
			}
		})
		for conversing("TestSend_AppsTakeTurns") < waiting {
			runtime.Gosched()
		}
	}
	for i := range 6 {
		sends("first", i+1)
	}
	sends("second", 7)
	close(proceed)
	all.Wait()
	at := slices.IndexFunc(server.received(), func(one delivered) bool { return one.to[0] == "second@example.org" })
	require.LessOrEqual(t, at, 2, "after the mail in progress and one that waited before")
}

// conversing returns the number of goroutines of a test that send a mail, or wait to send one.
func conversing(test string) (number int) {
	stacks := make([]byte, 1<<20)
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(stack, test) && strings.Contains(stack, ".converse(") {
			number++
		}
	}
	return number
}

func TestSend_Headers(t *testing.T) {
	t.Parallel()
	server := newServer(t, serverOptions{})
	sent := aMail()
	sent.To = append(sent.To, mail.Address{Name: "Jiří Dvořák", Address: "jiri@example.org"})
	sent.CC = []mail.Address{{Address: `"odd one"@example.org`}, {Address: "ada@example.org"}}
	sent.CC[0].Address = "odd one@example.org"
	require.NoError(t, newMailer(t, server.config()).SendMail(t.Context(), sent))

	require.Len(t, server.received(), 1)
	got := server.received()[0]
	require.Equal(t, "no-reply@example.com", got.from)
	require.Equal(t, []string{"ada@example.org", "jiri@example.org", "odd one@example.org"}, got.to)
	header := read(t, got.text).header
	require.Equal(t, "<m1@example.com>", header.Get("Message-Id"))
	require.Equal(t, "auto-generated", header.Get("Auto-Submitted"))
	require.Empty(t, header.Get("User-Agent"), "what sends is nobody's business")
	at, err := header.Date()
	require.NoError(t, err)
	require.True(t, at.Equal(now))
	for key, want := range map[string][]mail.Address{
		"From": {{Name: "Example Bots", Address: "no-reply@example.com"}},
		"To":   sent.To,
		"Cc":   sent.CC,
	} {
		list, err := header.AddressList(key)
		require.NoError(t, err)
		var read []mail.Address
		for _, address := range list {
			read = append(read, *address)
		}
		require.Equal(t, want, read)
	}
}

// Lines of a header have at most 78 bytes, and a reader gets the same names.
func TestSend_Names(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]string{
		"one long word":          strings.Repeat("x", 1200),
		"long words":             strings.TrimSpace(strings.Repeat(strings.Repeat("x", 100)+" ", 12)),
		"many words":             strings.TrimSpace(strings.Repeat("Ada ", 300)),
		"many spaces":            "Ada" + strings.Repeat(" ", 300) + "Lovelace",
		"long, beyond ASCII":     strings.Repeat("ž", 700),
		"words beyond ASCII":     strings.TrimSpace(strings.Repeat("žluťoučký kůň ", 60)),
		"looks encoded":          "=?UTF-8?B?aGk=?=",
		"spaces around":          " Ada ",
		"quotes and backslashes": `Ada "the \ first" <x>`,
		"many quotes":            strings.Repeat(`"`, 600),
		"two spaces":             strings.TrimSpace(strings.Repeat("Ada  Lovelace ", 20)),
		"emoji":                  strings.Repeat("🎉", 100),
		"short":                  "Ada",
		"comma":                  "Lovelace, Ada",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t, serverOptions{})
			config := server.config()
			config.From.Name = given
			sent := aMail()
			sent.To = []mail.Address{{Name: given, Address: "ada@example.org"}, {Name: given, Address: "bob@example.org"}}
			require.NoError(t, newMailer(t, config).SendMail(t.Context(), sent))
			got := server.received()[0]
			for line := range strings.SplitSeq(string(got.text), "\r\n") {
				require.LessOrEqual(t, len(line), 78, line)
			}
			header := read(t, got.text).header
			for field, want := range map[string][]mail.Address{"From": {{Name: given, Address: "no-reply@example.com"}}, "To": sent.To} {
				list, err := header.AddressList(field)
				require.NoError(t, err)
				require.Len(t, list, len(want))
				for i, address := range list {
					require.Equal(t, want[i], *address)
				}
			}
		})
	}
}

func TestSend_CannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*utility.Mail)
		field  string
	}{
		"a subject beyond its set": {
			func(m *utility.Mail) { m.Subject = utility.EmailText{Charset: "ISO-8859-1", Data: "Dvořák"} },
			"message.Subject.Data",
		},
		"a text beyond its set": {
			func(m *utility.Mail) { m.Text = &utility.EmailText{Charset: "us-ascii", Data: "é"} }, "message.Body.Text.Data",
		},
		"HTML beyond its set": {
			func(m *utility.Mail) { m.HTML = &utility.EmailText{Charset: "windows-1252", Data: "Ж"} }, "message.Body.Html.Data",
		},
		"text that is none": {func(m *utility.Mail) { m.Text.Data = "\xff" }, "message.Body.Text.Data"},
		"an unknown set":    {func(m *utility.Mail) { m.Text.Charset = "EBCDIC-X" }, "message.Body.Text.Charset"},
		"a set that MIME bars from texts": {
			func(m *utility.Mail) { m.Subject.Charset = "UTF-16" }, "message.Subject.Charset",
		},
		"no text":             {func(m *utility.Mail) { m.Text = nil }, "message.Body"},
		"a name that is none": {func(m *utility.Mail) { m.To[0].Name = "\xff" }, "destination.ToAddresses[0]"},
		"nobody":              {func(m *utility.Mail) { m.To = nil }, "destination"},
		"no id":               {func(m *utility.Mail) { m.ID = "" }, "ID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefusedUnsent(t, c.change, c.field)
		})
	}
}

func TestSend_HeaderInjection(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{"\r\nBcc: eve@example.net", "\nBcc: eve@example.net", "\rx", "\x00", "\r\n\r\nbody"} {
		for field, change := range map[string]func(*utility.Mail){
			"message.Subject.Data":       func(m *utility.Mail) { m.Subject.Data += ending },
			"message.Subject.Charset":    func(m *utility.Mail) { m.Subject.Charset += ending },
			"message.Body.Text.Charset":  func(m *utility.Mail) { m.Text.Charset += ending },
			"ID":                         func(m *utility.Mail) { m.ID += ending },
			"destination.ToAddresses[0]": func(m *utility.Mail) { m.To[0].Name += ending },
			"destination.CcAddresses[0]": func(m *utility.Mail) { m.CC = []mail.Address{{Address: "a@example.org" + ending}} },
			"destination.CcAddresses[1]": func(m *utility.Mail) { m.CC = []mail.Address{m.To[0], {Address: "a" + ending + "@b.org"}} },
			"destination.ToAddresses[1]": func(m *utility.Mail) { m.To = append(m.To, mail.Address{Address: "a@b.org>" + ending}) },
			"destination.ToAddresses[2]": func(m *utility.Mail) { m.To = []mail.Address{m.To[0], m.To[0], {Address: "a@b.org> SIZE=1"}} },
		} {
			requireRefusedUnsent(t, change, strings.TrimSpace(field))
		}
	}
}

// requireRefusedUnsent requires that a changed mail is refused with an error for this field, before the server
// is contacted.
func requireRefusedUnsent(t *testing.T, change func(*utility.Mail), field string) {
	t.Helper()
	server := newServer(t, serverOptions{})
	sent := aMail()
	change(&sent)
	err := newMailer(t, server.config()).SendMail(t.Context(), sent)
	refused, isError := boterr.AsError(err)
	require.True(t, isError, "%s: %v", field, err)
	require.Equal(t, boterr.InvalidArgument, refused.Code)
	require.Equal(t, field, refused.Field, "%v", err)
	server.change(func() { require.Zero(t, server.connections) })
}

func TestSend_AddressWithComma(t *testing.T) {
	t.Parallel()
	server := newServer(t, serverOptions{})
	sent := aMail()
	sent.To = []mail.Address{{Address: "ada@example.org, eve@example.net"}}
	require.NoError(t, newMailer(t, server.config()).SendMail(t.Context(), sent))
	require.Equal(t, []string{"ada@example.org, eve@example.net"}, server.received()[0].to)
	list, err := read(t, server.received()[0].text).header.AddressList("To")
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// Every server on the way needs the extensions that the first one is asked for. If one lacks them, the mail
// bounces.
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

// Only a limited part of an endless answer is read, in every phase of the session.
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
