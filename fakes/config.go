package fakes

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/outbound"
)

// settings are set by options.
type settings struct {
	test    TB
	start   time.Time
	changes []func(*botctx.Config)
	// onRequest are called before requests to services.
	onRequest []func(ctx context.Context, asked Request)
	// pause makes the function by which the Runtime waits.
	pause func(of *clock) func(ctx context.Context, d time.Duration)
	// within makes the contexts in which the bot runs, nil for the contexts of its process.
	within func(ctx context.Context) context.Context
	// hasInbox is true if events go to Runtime.Accept.
	hasInbox bool
	// isEveryExpected is true if a message that no expectation has read fails the test.
	isEveryExpected bool
}

// Option is a setting of a platform.
type Option func(*settings)

// StartAt makes the platform's clock begin at a time. The default is Start.
func StartAt(start time.Time) Option { return func(s *settings) { s.start = start } }

// Config changes the botctx.Config of the platform's Runtime, as a host sets it:
//
//	fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.Strict = true }))
//
// The change gets the platform's values, such as the virtual clock as Now, and may use, wrap or replace them:
//
//	fakes.Config(func(c *botctx.Config) { c.Store = open(t, c.Now) })
//
// A Store in place of the one in memory holds no records yet and uses that clock; such a platform has no
// Snapshot and no Fork. Interceptors are empty: the platform's interceptors, which record calls and make them
// fail, run around the ones that the change sets, and its transcript has each choice before OnChoice, each
// warning before OnWarning, and each placeholder before OnUnfilled. Several changes are made in their order,
// and again for each Fork; Restart keeps their result. A change must not keep the botctx.Config.
func Config(change func(*botctx.Config)) Option {
	return func(s *settings) { s.changes = append(s.changes, change) }
}

// maxWait is the time for which a run waits for another run of the same member, in real time: a run that
// waits for itself, since an action says something for its own member, fails then and does not hang.
const maxWait = 30 * time.Second

// configure makes what the platform's Runtimes are made of.
func (p *Platform) configure() {
	config := &p.hosted
	*config = botctx.Config{
		Store:       p.own,
		Now:         p.clock.Now,
		Pause:       p.settings.pause(&p.clock),
		NewID:       func() string { return p.ids.next("id") },
		DeriveID:    func(of string) string { return p.ids.derived("id", of) },
		NewEtag:     func() string { return p.ids.next("etag") },
		Connectors:  p.outbox.connectors(),
		HTTP:        recordedWeb{p},
		Mailer:      &p.mails,
		Payments:    p.account,
		ObjectStore: &p.files,
		LiveChat:    botctx.LiveChat{HistoryURL: historyURL},
		MaxWait:     maxWait,
		AgendaWait:  maxWait,
		MaxRun:      -1, // Real time is no part of a test, and a debugger may stop it.
		MaxSend:     -1,
	}
	for _, change := range p.settings.changes {
		change(config)
	}
	config.Override = p.dataSources.noteOverride(config.Override)
	config.OnChoice, config.OnWarning = p.noteChoice(config.OnChoice), p.noteWarning(config.OnWarning)
	config.OnUnfilled = p.noteUnfilled(config.OnUnfilled)
}

// historyURL makes up the address of a conversation's history.
func historyURL(a *livechat.Assignment) (string, error) {
	return "https://history.example/" + url.PathEscape(a.ID), nil
}

// TB is the part of *testing.T and *testing.B that a platform needs.
type TB interface {
	// Helper marks the caller as no place to report.
	Helper()
	// Name returns the name of the test.
	Name() string
	// Fatalf reports a failure and ends the test.
	Fatalf(format string, args ...any)
	// Logf adds to the test's log.
	Logf(format string, args ...any)
	// Failed reports whether the test has failed.
	Failed() bool
	// Cleanup calls a function when the test has ended.
	Cleanup(f func())
}

// For makes misuse and failed runs end a test, and prints the platform's transcript
// where the test failed. A platform without it panics.
func For(t TB) Option {
	return func(s *settings) { s.test = visibleTB{t} }
}

// visibleTB is a test whose output does nothing to a terminal, whatever members wrote.
type visibleTB struct{ TB }

func (t visibleTB) Fatalf(format string, args ...any) {
	t.Helper()
	t.TB.Fatalf("%s", display.Visible(fmt.Sprintf(format, args...)))
}

func (t visibleTB) Logf(format string, args ...any) {
	t.Helper()
	t.TB.Logf("%s", display.Visible(fmt.Sprintf(format, args...)))
}

// noTest is the test of a platform without one.
type noTest struct{}

func (noTest) Helper() {}

func (noTest) Name() string { return "" }

func (noTest) Fatalf(format string, args ...any) {
	panic(display.Visible(fmt.Sprintf(format, args...)))
}

func (noTest) Logf(string, ...any) {}

func (noTest) Failed() bool { return false }

func (noTest) Cleanup(func()) {}

// ReplyHTTP sets what answers requests of a method and a URL, as Add of HTTP does: a pattern that
// ends in "*" is the beginning of one, and several replies come one after the other, the last one
// from then on.
//
//	p.ReplyHTTP("GET", "https://api.example.com/weather?city=Oslo", web.JSON(200, `{"celsius": 3}`))
//	p.ReplyHTTP("POST", "https://api.example.com/orders", web.Fail(boterr.Unavailable), web.Text(201, "ok"))
//
// It ends the test where that is no method and no URL that can be asked for.
func (p *Platform) ReplyHTTP(method, url string, first web.Reply, later ...web.Reply) {
	p.test.Helper()
	if err := checkRoute(method, url); err != nil {
		p.test.Fatalf("fakes: ReplyHTTP: %v", err)
		return
	}
	p.HTTP.Add(method, url, first, later...)
}

// checkRoute refuses what no request can have.
func checkRoute(method, url string) error {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	if !slices.Contains(methods, strings.ToUpper(method)) {
		return boterr.Invalid("method", "is %q: give one of %s", method, strings.Join(methods, ", "))
	}
	if lower := strings.ToLower(url); !strings.HasPrefix(lower, "https://") && !strings.HasPrefix(lower, "http://") {
		return boterr.Invalid("url", "is %q: begin with https:// or http://", url)
	}
	return nil
}

// recordedWeb is the platform's HTTP with a line in the transcript for each request.
type recordedWeb struct{ platform *Platform }

func (w recordedWeb) Do(request *http.Request) (*http.Response, error) {
	target := *request.URL
	target.Fragment, target.RawFragment = "", "" // No request has it.
	url := display.Redact(target.String())
	response, err := requested(request.Context(), w.platform, asking{part{service: ServiceHTTP}, request.Method, url},
		func() (*http.Response, error) { return w.send(request) })
	if err != nil {
		w.platform.notef("%s %s ! %v", request.Method, url, err)
		return nil, err
	}
	w.platform.notef("%s %s -> %d", request.Method, url, response.StatusCode)
	return response, nil
}

// send sends a request to what answers, or to a web that is out of service, with the same checks.
func (w recordedWeb) send(request *http.Request) (*http.Response, error) {
	down := w.platform.downErr(part{service: ServiceHTTP})
	if down == nil {
		return w.platform.HTTP.Do(request)
	}
	client, err := outbound.New(outbound.Config{Transport: downWeb{down}})
	if err != nil {
		return nil, err
	}
	return client.Do(request)
}

// downWeb is a web that does not answer.
type downWeb struct{ err error }

func (d downWeb) RoundTrip(*http.Request) (*http.Response, error) { return nil, d.err }
