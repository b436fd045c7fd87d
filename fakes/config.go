package fakes

import (
	"cmp"
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
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/outbound"
)

// settings are the result of the options.
type settings struct {
	test    TB
	start   time.Time
	changes []func(*botctx.Config)
	// onRequest are called before requests to services.
	onRequest []func(ctx context.Context, asked Request)
	// onArrival are called before events are delivered to the bot.
	onArrival []func(from Service)
	// pause returns the function by which the Runtime waits.
	pause func(of *clock) func(ctx context.Context, d time.Duration)
	// within returns the context of a bot run, given the process's context. It is nil if the test has not set
	// it.
	within func(ctx context.Context) context.Context
	// hasInbox is true if events go to Runtime.Accept.
	hasInbox bool
	// isEveryExpected is true if each message without an expectation fails the test.
	isEveryExpected bool
}

// check refuses functions that are nil.
func (s settings) check() error {
	return cmp.Or(absent.CheckList("Config", s.changes), absent.CheckList("OnRequest", s.onRequest),
		absent.CheckList("OnArrival", s.onArrival))
}

// Option is a setting of a platform.
type Option func(*settings)

// StartAt sets the time at which the platform's clock starts. The default is Start.
func StartAt(start time.Time) Option { return func(s *settings) { s.start = start } }

// Config changes the botctx.Config of the platform's Runtime, as a host does:
//
//	fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.Strict = true }))
//
// change receives the platform's values, such as the virtual clock as Now, and may use, wrap or replace them:
//
//	fakes.Config(func(c *botctx.Config) { c.Store = open(t, c.Now) })
//
// A Store that replaces the one in memory must be empty and use that clock; such a platform has no Snapshot
// and no Fork. Interceptors is empty at first: the platform's own interceptors, which record calls and apply
// faults, run around those set by change. The platform adds each choice, warning and unfilled placeholder to the
// transcript before it calls OnChoice, OnWarning or OnUnfilled. Several changes are applied in order, and
// again for each Fork; Restart keeps their result. A change must not keep the botctx.Config.
func Config(change func(*botctx.Config)) Option {
	return func(s *settings) { s.changes = append(s.changes, change) }
}

// maxWait is the longest time, in real time, for which a run waits for another run of the same member. An
// action that writes to the bot as its own member makes the run wait for itself; the limit turns that into a
// failure instead of a hang.
const maxWait = 30 * time.Second

// configure sets the botctx.Config of the platform's Runtimes.
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
		MaxRun:      -1, // The limit is in real time, which tests do not depend on and during which a debugger may stop them.
		MaxSend:     -1,
	}
	for _, change := range p.settings.changes {
		change(config)
	}
	config.Override = p.dataSources.noteOverride(config.Override)
	config.OnChoice, config.OnWarning = p.noteChoice(config.OnChoice), p.noteWarning(config.OnWarning)
	config.OnUnfilled = p.noteUnfilled(config.OnUnfilled)
}

// historyURL returns a made-up address of a conversation's history.
func historyURL(a *livechat.Assignment) (string, error) {
	return "https://history.example/" + url.PathEscape(a.ID), nil
}

// TB is the part of *testing.T and *testing.B that a platform needs.
type TB interface {
	// Helper excludes the caller from the reported location of a failure.
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

// For makes misuse and failed runs end a test, and prints the platform's transcript if the test failed. A
// platform without For panics instead.
func For(t TB) Option {
	return func(s *settings) { s.test = visibleTB{t} }
}

// visibleTB is a test whose output escapes control characters, which may come from members' texts.
type visibleTB struct{ TB }

func (t visibleTB) Fatalf(format string, args ...any) {
	t.Helper()
	t.TB.Fatalf("%s", display.Visible(fmt.Sprintf(format, args...)))
}

func (t visibleTB) Logf(format string, args ...any) {
	t.Helper()
	t.TB.Logf("%s", display.Visible(fmt.Sprintf(format, args...)))
}

// noTest is the TB of a platform without a test. Its Fatalf panics.
type noTest struct{}

func (noTest) Helper() {}

func (noTest) Name() string { return "" }

func (noTest) Fatalf(format string, args ...any) {
	panic(display.Visible(fmt.Sprintf(format, args...)))
}

func (noTest) Logf(string, ...any) {}

func (noTest) Failed() bool { return false }

func (noTest) Cleanup(func()) {}

// ReplyHTTP sets the replies to requests with a method and a URL, like Add of HTTP. A URL that ends in "*"
// matches as a prefix. Several replies are given in order, and the last one repeats.
//
//	p.ReplyHTTP("GET", "https://api.example.com/weather?city=Oslo", web.JSON(200, `{"celsius": 3}`))
//	p.ReplyHTTP("POST", "https://api.example.com/orders", web.Fail(boterr.Unavailable), web.Text(201, "ok"))
//
// It ends the test if the method is unknown or the URL is not one that can be requested.
func (p *Platform) ReplyHTTP(method, url string, first web.Reply, later ...web.Reply) {
	p.test.Helper()
	if err := checkRoute(method, url); err != nil {
		p.test.Fatalf("fakes: ReplyHTTP: %v", err)
		return
	}
	p.HTTP.Add(method, url, first, later...)
}

// checkRoute refuses methods and URLs that no request can have.
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

// recordedWeb is the platform's HTTP. It adds a line to the transcript for each request.
type recordedWeb struct{ platform *Platform }

func (w recordedWeb) Do(request *http.Request) (*http.Response, error) {
	target := *request.URL
	target.Fragment, target.RawFragment = "", "" // Requests carry no fragment.
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

// send passes a request to the registered replies, or to an unavailable web with the same checks.
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

// downWeb is an unavailable web.
type downWeb struct{ err error }

func (d downWeb) RoundTrip(*http.Request) (*http.Response, error) { return nil, d.err }
