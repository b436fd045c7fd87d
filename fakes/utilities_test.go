package fakes_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/utility"
)

// lockedClient is a client that must not be copied.
type lockedClient struct {
	utility.PaymentClient
	sync.Mutex
}

// golfOnly is a host's own utility operations with one payment client.
type golfOnly struct {
	utility.Operations

	client utility.PaymentClient
}

func (g golfOnly) Golf(context.Context, utility.GolfParams) (utility.GolfResult, error) {
	return utility.GolfResult{Client: g.client}, nil
}

func mailTo(addresses ...string) utility.SendEmailParams {
	return utility.SendEmailParams{
		Destination: utility.EmailDestination{ToAddresses: addresses},
		Message: utility.EmailMessage{
			Subject: utility.EmailText{Data: "Hello"}, Body: utility.EmailBody{Text: &utility.EmailText{Data: "It works."}},
		},
	}
}

func upload(site *web.Replies) utility.UploadFileToObjectStoreParams {
	site.Add("GET", "https://shop.example/bill", web.Text(200, "a bill"))
	return utility.UploadFileToObjectStoreParams{URL: "https://shop.example/bill", Filename: "bill", ContentType: "text/plain"}
}

func TestMailbox(t *testing.T) {
	t.Parallel()
	utilities := fakes.NewUtilities(fakes.For(t))
	p := utilities.Platform
	first := mailTo("Ada <ada@example.com>")
	first.Destination.CcAddresses = []string{"bob@example.com"}
	must(t, utilities.SendEmail, first)
	p.Advance(time.Minute)
	must(t, utilities.SendEmail, mailTo("bob@example.com"))

	require.Len(t, p.Mails(), 2)
	require.Equal(t, p.Mails()[:1], p.Mailbox("Ada Lovelace <ada@EXAMPLE.com>"))
	require.Equal(t, p.Mails(), p.Mailbox("bob@example.com"))
	require.Empty(t, p.Mailbox("carl@example.com"))
	require.Equal(t, fakes.Start().Add(time.Minute), p.Mails()[1].SentAt)
	require.Contains(t, p.Transcript(), "00:00:00.000  mail to ada@example.com, bob@example.com: Hello\n")

	p.Mails()[0].Text.Data, p.Mails()[0].To[0].Address = "changed", "changed"
	require.Equal(t, "It works.", p.Mails()[0].Text.Data, "nothing is shared")
	require.Equal(t, "ada@example.com", p.Mails()[0].To[0].Address)
}

func TestFails_Mail(t *testing.T) {
	t.Parallel()
	utilities := fakes.NewUtilities(fakes.For(t))
	p := utilities.Platform
	p.Inject(fakes.Fails(fakes.ServiceMail, errors.New("down")))
	p.Inject(fakes.Fails(fakes.ServiceMail, boterr.ResourceExhausted))
	p.Inject(fakes.Refuses("gone@example.com", boterr.InvalidArgument))
	for _, c := range []struct {
		to   string
		code boterr.Code
	}{
		{"ada@example.com", boterr.Unavailable},
		{"ada@example.com", boterr.ResourceExhausted},
		{"ada@example.com", ""},
		{"gone@Example.com", boterr.InvalidArgument},
	} {
		_, err := utilities.SendEmail(t.Context(), mailTo(c.to))
		require.Equal(t, c.code, boterr.CodeOf(err), "%v", err)
	}
	require.Len(t, p.Mails(), 1)
	require.Contains(t, p.Transcript(), "mail to ada@example.com ! a request to mail fails: down\n")
}

func TestFails_File(t *testing.T) {
	t.Parallel()
	utilities := fakes.NewUtilities(fakes.For(t))
	p := utilities.Platform
	given := upload(p.HTTP)
	p.Inject(fakes.Fails(fakes.ServiceFiles, errors.New("down")))
	_, err := utilities.UploadFileToObjectStore(t.Context(), given)
	requireCode(t, err, boterr.Unavailable, "")
	require.Empty(t, p.Files())
	must(t, utilities.UploadFileToObjectStore, given)
	require.Contains(t, p.Transcript(), "put app-1/channel-1/bill ! a request to files fails: down\n")
	require.Contains(t, p.Transcript(), "file app-1/channel-1/bill: text/plain, 6 bytes\n")
	require.NotContains(t, p.Transcript(), "uploadFileToObjectStore {\"url\":\"https://shop.example/bill\",\"filename\":\"bill\",\"contentType\":\"text/plain\"} -> ")

	p.File("app-1/channel-1/bill").Content[0] = 'x'
	p.Files()[0].Content[0] = 'x'
	require.Equal(t, "a bill", string(p.File("app-1/channel-1/bill").Content), "nothing is shared")
}

func TestUtilities_Misuse(t *testing.T) {
	t.Parallel()
	p := fakes.New()
	require.Panics(t, func() { p.Mailbox("ada") })
	require.Panics(t, func() { p.Inject(fakes.Refuses("ada", boterr.InvalidArgument)) })
	require.Panics(t, func() { p.File("app-1/channel-1/bill") })
}

type state struct {
	mails    []fakes.Mail
	files    []fakes.File
	payments []utility.Payment
	events   []utility.PaymentEvent
}

func stateOf(p *fakes.Platform, account *fakes.Account) state {
	account = account.In(p)
	return state{p.Mails(), p.Files(), account.Payments(), account.Events()}
}

func TestFork_Utilities(t *testing.T) {
	t.Parallel()
	utilities := fakes.NewUtilities(fakes.For(t))
	p, account := utilities.Platform, utilities.Account
	given := upload(p.HTTP)
	use := func(utilities utility.Operations) {
		must(t, utilities.SendEmail, mailTo("ada@example.com"))
		must(t, utilities.UploadFileToObjectStore, given)
		golf := must(t, utilities.Golf, utility.GolfParams{GolfName: "shop"})
		must(t, golf.Client.Charge, tenEuro(withKey("order-7")))
		must(t, golf.Client.Refund, utility.Refund{PaymentID: "payment-1", Amount: 1})
	}
	use(utilities)
	p.Inject(fakes.Declines("shop", "expired_card"))
	p.Inject(fakes.Refuses("gone@example.com", boterr.InvalidArgument))
	snapshot, before := p.Snapshot(), stateOf(p, account)

	fork := p.Fork()
	require.Equal(t, before, stateOf(fork, account))
	here, there := heard(p, account), heard(fork, account.In(fork))
	use(utilities.Member.In(fork).Context())
	_, err := account.In(fork).Charge(t.Context(), tenEuro())
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	_, err = utilities.Member.In(fork).Context().SendEmail(t.Context(), mailTo("gone@example.com"))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.Equal(t, before, stateOf(p, account), "what happens on the fork is not seen here")

	fork.Advance(time.Minute)
	require.Len(t, *there, 4, "the pending events came along")
	require.Empty(t, *here)

	use(utilities)
	require.Len(t, account.Payments(), 1, "the key is known")
	p.Restore(snapshot)
	require.Equal(t, before, stateOf(p, account))
	p.Advance(time.Minute)
	require.Len(t, *here, 2)
}

func TestMailReader_ReadsOn(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(mailSupport)
	ada, bob := p.AddMember(member.Member{FirstName: "Ada"}), p.AddMember(member.Member{FirstName: "Bob"})
	support := p.MailReader("Support <support@SHOP.example>")
	support.SeesNothing()
	ada.Says("It leaks.")
	bob.Says("Mine, too.")
	p.MailReader("sales@shop.example").SeesNothing()
	support.Sees("Ada has a question")
	fork := p.Fork()
	support.Sees("Bob has a question")
	support.SeesNothing()
	require.Equal(t, "Mine, too.", support.In(fork).Reads()[0].Text.Data)
	support.In(fork).SeesNothing()
	ada.Says("Again.")
	ada.Says("And again.")
	support.Sees("Ada has a question", "Ada has a question")
}

func TestMailReader_FailureShowsBoth(t *testing.T) {
	t.Parallel()
	for prints, expects := range map[string]func(support *fakes.MailReader){
		"fakes: s@shop.example sees another mail:\n  \"Bob has a question\"\n  \"Ada has a question\"\n   ^": func(s *fakes.MailReader) { s.Sees("Bob has a question") },
		"fakes: s@shop.example got no further mail; expected \"Bye\"":                                        func(s *fakes.MailReader) { s.Reads(); s.Sees("Bye") },
		"fakes: Sees has no subject: give the subjects that s@shop.example sees, or use SeesNothing":         func(s *fakes.MailReader) { s.Sees() },
		"fakes: s@shop.example got mails that no expectation has read:\n" +
			"  2026-01-01 00:00:00.000  mail to s@shop.example: Ada has a question": func(s *fakes.MailReader) { s.SeesNothing() },
	} {
		var tb recordedTB
		tb.run(func(p *fakes.Platform) {
			ada := p.AddMember(member.Member{FirstName: "Ada"})
			p.HandleFunc(mailBot("s@shop.example"))
			ada.Says("It leaks.")
			expects(p.MailReader("s@shop.example"))
		})
		require.Equal(t, []string{prints}, tb.failures)
	}
}

func TestReplyHTTP_OneAfterTheOther(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.ReplyHTTP("GET", "https://api.example.com/orders/*", web.Fail(boterr.Unavailable), web.Text(200, "ready"))
	bot := p.AddMember(member.Member{}).Context()
	_, err := bot.Fetch(t.Context(), outbound.Request{URL: "https://api.example.com/orders/7"})
	require.ErrorIs(t, err, boterr.Unavailable)
	for range 2 {
		answer := must(t, bot.Fetch, outbound.Request{URL: "https://api.example.com/orders/7"})
		require.Equal(t, "ready", answer.Text())
	}
}

func TestReplyHTTP_WhatNobodyCanAskFor(t *testing.T) {
	t.Parallel()
	for name, misuse := range map[string]func(p *fakes.Platform){
		`method: is "GTE"`:   func(p *fakes.Platform) { p.ReplyHTTP("GTE", "https://api.example.com/", web.Reply{}) },
		`url: is "api.ex`:    func(p *fakes.Platform) { p.ReplyHTTP("GET", "api.example.com/", web.Reply{}) },
		`url: is "/orders*"`: func(p *fakes.Platform) { p.ReplyHTTP("GET", "/orders*", web.Reply{}) },
	} {
		requireFailure(t, name, misuse)
	}
}
