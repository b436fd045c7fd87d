package simulator

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/internal/session"
)

// DefaultAddress is the default of Address.
const DefaultAddress = "127.0.0.1:8321"

// Serve serves a page at DefaultAddress on which you can try a bot with the given nodes. It returns nil when ctx
// ends. It fails if the nodes are refused, or if it cannot listen. Ada is the member, and Grace is the agent at the
// channel "desk", which receives requests for a person.
func Serve(ctx context.Context, nodes ...*botctx.Node) error {
	return Simulator{}.Serve(ctx, nodes...)
}

// Simulator is a page to try a bot. The function Serve uses its zero value.
type Simulator struct {
	// Platform is the platform of the bot, with everything that it needs. The default is a new one. A
	// platform with another store (fakes.Config) cannot go back in time, nor be forked.
	Platform *fakes.Platform
	// Members are the speakers, starting with the first. The default is Ada.
	Members []*fakes.Actor
	// Agents are the agents at outlet channels. The default is Grace, or none if Platform is set.
	Agents []*fakes.Agent
	// Accounts are the payment accounts to be watched.
	Accounts []*fakes.Account
	// OnFork is called with each fork of the Platform, to add state that forks do not copy: functions
	// registered by OnEvent of an account. It may be nil.
	OnFork func(fork *fakes.Platform)
	// Reload returns changed nodes: it is called before each action, and each second while a page is open.
	// The nodes that it returns replace all nodes, as by fakes.Platform.Replace. If it returns an error, the
	// bot stays unchanged, and the page shows the error. Look of a script.Watcher can serve as Reload, or be
	// wrapped to add nodes in Go. Reload is called by one goroutine at a time. If it is nil, the nodes never
	// change.
	Reload func() (nodes []*botctx.Node, hasChanged bool, err error)
	// Log holds the log lines that the page shows with the actions. If it is nil, the page shows none.
	Log *Log
	// Bot is the name of the bot. The default is "Bot".
	Bot string
	// Test configures saved tests.
	Test Test
	// Address is the address to listen on, as net.Listen takes it. The default is DefaultAddress.
	Address string
	// Hosts are host names, without ports, that requests may use besides numbers and "localhost".
	Hosts []string
	// Out is the writer to which Serve prints the address of the page. The default is standard output.
	Out io.Writer
}

// Test describes how a saved test creates the bot: its Package (the default is "main"), and the Go expressions of
// the Nodes that were passed in ("nodes()") and of a Platform like the Simulator's, without its members or agents,
// in a test named t ("newPlatform(t)").
type Test = session.Test

// Handler returns a handler that serves the page at its root, with nodes added to the nodes of the Platform.
// To serve it under a path, wrap it in http.StripPrefix, and load it with a slash at the end. Long requests
// hold their connections open; they end with the context of the request, see http.Server.BaseContext. Handler
// fails if the nodes (including the first nodes of Reload), the members or the agents are refused. It returns
// InvalidArgument if a member, an agent or an account is nil, or Out is a nil pointer.
func (s Simulator) Handler(nodes ...*botctx.Node) (http.Handler, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	set := s.withDefaults()
	opened, err := newSimulation(set, nodes)
	if err != nil {
		return nil, err
	}
	return routes(opened, set.Hosts), nil
}

// check refuses values that would only fail later.
func (s Simulator) check() error {
	return cmp.Or(absent.CheckList("Members", s.Members), absent.CheckList("Agents", s.Agents),
		absent.CheckList("Accounts", s.Accounts), absent.Check("Out", s.Out))
}

func (s Simulator) withDefaults() Simulator {
	set := s
	set.Bot = cmp.Or(s.Bot, "Bot")
	set.Address = cmp.Or(s.Address, DefaultAddress)
	if set.Out == nil {
		set.Out = os.Stdout
	}
	return set
}

//go:embed page
var pageFiles embed.FS

func routes(s *simulation, hosts []string) http.Handler {
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic(err) // The embedded folder has that name.
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", page.Serve(files))
	mux.Handle("GET /parts/", page.Serve(page.Parts()))
	mux.HandleFunc("GET /world", s.answerWorld)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("POST /act", s.answerAct)
	mux.HandleFunc("GET /saved", s.answerSaved)
	return page.Guard{IsHost: page.LocalOr(hosts)}.Around(mux)
}

// The time limits of a request's headers, and of pending requests once the page ends.
const (
	headerTime = 10 * time.Second
	lastTime   = 5 * time.Second
)

// Serve serves the page at s.Address, like the function Serve, with the settings of s. The nodes are handled in
// addition to the nodes of s.Platform.
func (s Simulator) Serve(ctx context.Context, nodes ...*botctx.Node) error {
	set := s.withDefaults()
	handler, err := set.Handler(nodes...)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", set.Address)
	if err != nil {
		return fmt.Errorf("%w: set Address to listen elsewhere", err)
	}
	if _, err := fmt.Fprintf(set.Out, "%s is at http://%s/\n", set.Bot, listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	return serveOn(ctx, listener, handler)
}

// serveOn serves until ctx ends, which also ends the event streams of open pages.
func serveOn(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTime,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
		defer cancel()
		ended <- server.Shutdown(last)
	})
	err := server.Serve(listener)
	if stop() { // The server failed.
		return err
	}
	return <-ended
}

// beat is the time between two lines on an idle stream, so that a lost client is noticed.
const beat = 20 * time.Second

// beat returns the interval of idle lines, which is also the interval of looking for new nodes.
func (s *simulation) beat() time.Duration {
	if s.settings.Reload == nil {
		return beat
	}
	return lookEvery
}

// events sends server-sent events that announce changes of the world: at once if the page has another
// revision (Last-Event-ID), and after each change. The page then requests the world. Several changes in quick
// succession are announced once.
func (s *simulation) events(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // Tells a proxy not to buffer.
	w.WriteHeader(http.StatusOK)
	if _, err := fmt.Fprint(w, "retry: 1000\n\n"); err != nil {
		return
	}
	if err := out.Flush(); err != nil {
		return
	}
	ticks := time.NewTicker(s.beat())
	defer ticks.Stop()
	known := r.Header.Get("Last-Event-ID")
	for {
		revision, changed := s.state()
		id := fmt.Sprintf("%s.%d", s.instance, revision)
		line := fmt.Sprintf("id: %s\nevent: changed\ndata: {\"instance\":%q,\"revision\":%d}\n\n", id, s.instance, revision)
		if id == known {
			line = ": here\n\n"
		}
		if _, err := fmt.Fprint(w, line); err != nil {
			return
		}
		if err := out.Flush(); err != nil {
			return
		}
		known = id
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		case <-ticks.C:
			s.lookNow()
		}
	}
}

func (s *simulation) answerWorld(w http.ResponseWriter, r *http.Request) {
	told, err := s.world(fakes.Observing(r.Context()), r.FormValue("branch"))
	if err != nil {
		page.Fail(w, http.StatusNotFound, err)
		return
	}
	page.Answer(w, http.StatusOK, told)
}

func (s *simulation) answerAct(w http.ResponseWriter, r *http.Request) {
	var asked act
	err := page.Read(w, r, &asked)
	var acted outcome
	if err == nil {
		acted, err = s.act(r.Context(), asked)
	}
	if err != nil {
		page.Fail(w, statusOf(err), err)
		return
	}
	page.Answer(w, http.StatusOK, acted)
}

func statusOf(err error) int {
	switch boterr.CodeOf(err) {
	case boterr.NotFound:
		return http.StatusNotFound
	case boterr.Conflict, boterr.FailedPrecondition, boterr.Unsupported, boterr.ResourceExhausted:
		return http.StatusConflict
	default:
		return http.StatusBadRequest
	}
}
