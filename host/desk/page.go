package desk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// PageConfig configures the page of a Desk.
type PageConfig struct {
	// Runtime is the host's runtime, over the same Store. Required.
	Runtime *botctx.Runtime
	// Agent returns the agent who makes a request, by the host's own sign-in, or nil if no agent is signed in. It is
	// called for each request, and every 15 seconds while a page is open. Required.
	Agent func(r *http.Request) (*Agent, error)
	// MaxChats is the largest number of chats that an agent has at once. The default is 10; a negative number means no
	// limit. Two takes of one agent at the same moment may exceed it by one.
	MaxChats int
	// Files stores a file that an agent sends, and returns the address at which the member's platform finds it, by
	// HTTPS. Without it agents send no files. The file's Content fails if it is larger than 10 MB.
	Files func(ctx context.Context, file utility.StoredFile) (address string, err error)
	// Channels returns the channels of an app. The default reads them from the Store; a host with a LoadChannel sets
	// it.
	Channels func(ctx context.Context, app string) ([]*channel.Channel, error)
	// Transcript returns the last messages between a member and the bot before a time, oldest first, at most limit.
	// The default returns the messages of a chat on a web page (package webchat), and none of other channels.
	Transcript func(ctx context.Context, m *member.Member, before document.Timestamp, limit int) ([]Line, error)
}

// Agent is a person who answers.
type Agent struct {
	// ID identifies the agent in the host. It is the agent's id on the platform, as in Assignment.Assignee, and must
	// differ from the ids of teams. Required, at most 100 bytes.
	ID string
	// Name is shown to members and to other agents. The default is the ID.
	Name string
	// Apps are the ids of the apps whose chats the agent sees. Required.
	Apps []string
	// MaxChats replaces PageConfig.MaxChats, unless it is 0.
	MaxChats int
}

// Line is a message of a conversation with the bot.
type Line struct {
	// IsMember is true for the member's messages, and false for the bot's.
	IsMember bool
	At       document.Timestamp
	Response send.Response
}

// The limits of the page.
const (
	defaultMaxChats = 10
	maxAgentID      = 100
	maxApps         = 100
)

type pages struct {
	desk    *Desk
	config  PageConfig
	runtime *botctx.Runtime
	version string

	mu sync.Mutex
	// rates holds the requests that agents may still make, by agent.
	rates map[string]bucket
	// saved holds the agents whose records were stored lately, by id.
	saved map[string]savedAgent
	// open is the number of open streams of each agent.
	open map[string]int
}

// savedAgent is an agent as stored at a time.
type savedAgent struct {
	Agent

	at time.Time
}

//go:embed page
var pageFiles embed.FS

// Handler returns a handler that serves the page at "/". To mount it elsewhere, use http.StripPrefix. Only
// PageConfig.Agent authenticates agents. Requests from other sites are refused. InvalidArgument: Runtime or Agent is
// missing.
func (d *Desk) Handler(config PageConfig) (http.Handler, error) {
	switch {
	case config.Runtime == nil:
		return nil, boterr.Missing("Runtime", "the host's Runtime")
	case config.Agent == nil:
		return nil, boterr.Missing("Agent", "a function that returns the agent who is signed in")
	}
	if config.Transcript == nil {
		config.Transcript = d.visitorLines
	}
	config.MaxChats = cmp.Or(config.MaxChats, defaultMaxChats)
	p := &pages{
		desk: d, config: config, runtime: config.Runtime,
		rates: map[string]bucket{}, saved: map[string]savedAgent{}, open: map[string]int{},
	}
	return page.Guard{}.Around(p.routes()), nil
}

func (p *pages) routes() http.Handler {
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic(err) // Cannot happen: the folder is embedded above.
	}
	p.version = versionOf(files)
	mux := http.NewServeMux()
	mux.Handle("GET /", page.Serve(files))
	mux.Handle("GET /parts/", page.Serve(page.Parts()))
	mux.HandleFunc("GET /events", p.events)
	const chat = "/chats/{app}/{id}"
	for path, answer := range map[string]func(*call) (any, error){
		"GET /about":                  p.about,
		"GET /closed/{app}":           about((*call).app, p.closed),
		"GET " + chat:                 about(p.chat, p.details),
		"GET " + chat + "/log":        about(p.chat, p.entries),
		"GET " + chat + "/transcript": about(p.chat, p.transcript),
		"GET " + chat + "/earlier":    about(p.chat, p.earlier),
		"GET /answers/{app}":          about((*call).app, p.answers),
		"POST /answers/{app}":         about((*call).app, p.saveAnswer),
		"POST /answers/{app}/delete":  about((*call).app, p.deleteAnswer),
		"POST /me":                    p.setAvailable,
		"POST " + chat + "/take":      about(p.chat, p.take),
		"POST " + chat + "/messages":  about(p.mine, p.say),
		"POST " + chat + "/notes":     about(p.chat, p.note),
		"POST " + chat + "/files":     p.upload,
		"POST " + chat + "/typing":    about(p.chat, p.typing),
		"POST " + chat + "/read":      about(p.chat, p.read),
		"POST " + chat + "/fill":      about(p.chat, p.fill),
		"POST " + chat + "/handover":  about(p.mine, p.handOver),
		"POST " + chat + "/giveback":  about(p.mine, p.giveBack),
		"POST " + chat + "/end":       about(p.mine, p.end),
	} {
		mux.Handle(path, p.answered(answer))
	}
	return mux
}

// nothing is the body of a request that has no fields.
type nothing struct{}

// about returns a function that answers requests about a chat or an app, which find returns. The body of a POST is a B.
func about[T, B any](find func(*call) (T, error), answer func(*call, T, B) (any, error)) func(*call) (any, error) {
	return func(c *call) (any, error) {
		var asked B
		if c.Method == http.MethodPost {
			if err := c.read(&asked); err != nil {
				return nil, err
			}
		}
		of, err := find(c)
		if err != nil {
			return nil, err
		}
		return answer(c, of, asked)
	}
}

// versionOf returns a text that changes with the page's files, so that a page can detect a new deployment.
func versionOf(files fs.FS) string {
	sum := sha256.New()
	for _, tree := range []fs.FS{files, page.Parts()} {
		_ = fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				text, _ := fs.ReadFile(tree, path) // Embedded files can be read.
				_, _ = sum.Write(text)
			}
			return err
		})
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// call is a request of an agent.
type call struct {
	*http.Request

	w     http.ResponseWriter
	agent *Agent
}

// maxBody is the maximum size of a request's body in bytes.
const maxBody = 32 << 10

func (c *call) read(into any) error {
	c.Body = http.MaxBytesReader(c.w, c.Body, maxBody)
	return page.Read(c.w, c.Request, into)
}

// answered returns a handler that answers requests of agents with the result of tell, as JSON.
func (p *pages) answered(tell func(*call) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent, ok := p.signedIn(w, r)
		if !ok {
			return
		}
		if r.Method == http.MethodPost && !p.allow(agent.ID) {
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusTooManyRequests, boterr.New(boterr.ResourceExhausted, "", "that was too fast; try again in a second"))
			return
		}
		told, err := tell(&call{Request: r, w: w, agent: agent})
		if err != nil {
			p.fail(w, r, err)
			return
		}
		page.Answer(w, http.StatusOK, told)
	})
}

// fail answers with an error. The text of an internal error is left out: no agent can correct it.
func (p *pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, told := statusOf(err), page.Problem{Code: boterr.CodeOf(err), Message: display.Text(err)}
	if e, ok := boterr.AsError(err); ok {
		told.Message = e.Message()
		if e.Code == boterr.InvalidArgument && e.Field != "" { // The message is a sentence about the field.
			told.Message = e.Field + " " + told.Message
		}
	}
	if status >= http.StatusInternalServerError {
		p.desk.warn(r.Context(), "desk: a request failed", err, slog.String("path", r.URL.Path))
		told.Message = "the desk cannot do that at the moment; try again"
	}
	page.Answer(w, status, map[string]page.Problem{"error": told})
}

// refuse answers with an error for the agent.
func refuse(w http.ResponseWriter, status int, err *boterr.Error) {
	page.Answer(w, status, map[string]page.Problem{"error": {Code: err.Code, Message: err.Message()}})
}

// statusOf returns the status of the answer for an error.
func statusOf(err error) int {
	if _, isLarge := errors.AsType[*http.MaxBytesError](err); isLarge {
		return http.StatusRequestEntityTooLarge
	}
	switch boterr.CodeOf(err) {
	case boterr.InvalidArgument:
		return http.StatusBadRequest
	case boterr.NotFound:
		return http.StatusNotFound
	case boterr.AlreadyExists, boterr.Conflict, boterr.FailedPrecondition, boterr.Unsupported:
		return http.StatusConflict
	case boterr.ResourceExhausted:
		return http.StatusTooManyRequests
	case boterr.Unavailable, boterr.Canceled:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// signedIn returns the agent who makes a request. If there is none, it answers.
func (p *pages) signedIn(w http.ResponseWriter, r *http.Request) (*Agent, bool) {
	agent, err := p.agentOf(r)
	switch {
	case err != nil:
		p.fail(w, r, err)
	case agent == nil:
		refuse(w, http.StatusUnauthorized, boterr.New(boterr.FailedPrecondition, "", "no agent is signed in; sign in again"))
	default:
		return agent, true
	}
	return nil, false
}

// agentOf returns the agent who makes a request, or nil if no agent is signed in. It stores changes of the agent's
// name and apps.
func (p *pages) agentOf(r *http.Request) (*Agent, error) {
	given, err := p.config.Agent(r)
	if err != nil || given == nil {
		return nil, err
	}
	agent := *given
	agent.Name = cmp.Or(strings.TrimSpace(agent.Name), agent.ID)
	switch {
	case agent.ID == "" || len(agent.ID) > maxAgentID:
		return nil, boterr.New(boterr.Internal, "Agent.ID", "has %d bytes; the host must give an id of 1 to %d bytes", len(agent.ID), maxAgentID)
	case len(agent.Apps) == 0 || len(agent.Apps) > maxApps || slices.Contains(agent.Apps, ""):
		return nil, boterr.New(boterr.Internal, "Agent.Apps", "is %q; the host must give 1 to %d apps, none of them empty", agent.Apps, maxApps)
	}
	agent.Name = shortened(agent.Name)
	agent.Name = strings.ToValidUTF8(agent.Name[:min(len(agent.Name), chatlog.MaxName)], "")
	if agent.MaxChats == 0 {
		agent.MaxChats = p.config.MaxChats
	}
	return &agent, p.keep(r.Context(), agent)
}

const (
	// maxSaved is the size limit of saved.
	maxSaved = 10_000
	// savedFor is the time after which an agent is stored again, because another process may have stored something else.
	savedFor = 5 * time.Minute
)

// keep stores the desk's record of an agent, and an admin with the agent's name for live chats, unless it has stored
// the same lately.
func (p *pages) keep(ctx context.Context, agent Agent) error {
	now := p.desk.env.Now()
	p.mu.Lock()
	known, isKnown := p.saved[agent.ID]
	p.mu.Unlock()
	if isKnown && now.Sub(known.at) < savedFor && known.Name == agent.Name && slices.Equal(known.Apps, agent.Apps) {
		return nil
	}
	if err := p.desk.saveAgent(ctx, agent); err != nil {
		return err
	}
	for _, app := range agent.Apps {
		_, err := p.runtime.SaveAdmin(ctx, app, livechat.Admin{AdminID: "desk/" + agent.ID, ExternalID: agent.ID, Name: agent.Name})
		// AlreadyExists: the host itself has stored an admin for this agent.
		if err != nil && boterr.CodeOf(err) != boterr.AlreadyExists {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.saved) >= maxSaved {
		clear(p.saved)
	}
	p.saved[agent.ID] = savedAgent{agent, now}
	return nil
}

// app returns the app that a request names, or NotFound if the agent does not see it.
func (c *call) app() (string, error) {
	app := c.PathValue("app")
	if !slices.Contains(c.agent.Apps, app) {
		return "", boterr.New(boterr.NotFound, "app", "%q is not one of your apps", app)
	}
	return app, nil
}

// team is a broadcast group of a channel of the desk.
type team struct {
	ID      string `json:"id"`
	Label   string `json:"label"`
	Channel string `json:"channel"`
}

// appView is an app as the page shows it.
type appView struct {
	ID    string `json:"id"`
	Teams []team `json:"teams"`
	// Inlets are the names and platforms of all channels, by id.
	Inlets map[string]inletView `json:"inlets"`
}

type inletView struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// about returns the agent, the apps and the limits. If the channels of an app cannot be read, the app has none, so that the
// chats of other apps are still shown.
func (p *pages) about(c *call) (any, error) {
	apps := []appView{}
	for _, id := range c.agent.Apps {
		shown, err := p.appView(c.Context(), id)
		if err != nil {
			p.desk.warn(c.Context(), "desk: the channels of an app are not shown", err, slog.String("app", id))
		}
		apps = append(apps, shown)
	}
	me, err := p.desk.agents().Get(c.Context(), c.agent.ID)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"agent": presenceOf(me, p.desk.now()), "apps": apps, "maxChats": max(0, c.agent.MaxChats), "version": p.version,
		"hasFiles": p.config.Files != nil, "now": p.desk.now(),
	}, nil
}

// maxChannels is the largest number of channels of an app that the page names.
const maxChannels = 1000

// appView returns an app with its teams. It shows only the id, name and type of a channel.
func (p *pages) appView(ctx context.Context, app string) (appView, error) {
	shown := appView{ID: app, Teams: []team{}, Inlets: map[string]inletView{}}
	all, err := p.channels(ctx, app)
	if err != nil {
		return shown, err
	}
	for _, in := range all {
		shown.Inlets[in.ID] = inletView{Name: cmp.Or(in.Name, in.ID), Type: string(in.Type)}
		if in.Type != Type || !in.On {
			continue
		}
		for _, list := range in.BroadcastGroups {
			for _, group := range list.Groups {
				if group.Type != agentGroup {
					shown.Teams = append(shown.Teams, team{group.ID, list.Label, in.ID})
				}
			}
		}
	}
	return shown, nil
}

func (p *pages) channels(ctx context.Context, app string) ([]*channel.Channel, error) {
	if p.config.Channels != nil {
		return p.config.Channels(ctx, app)
	}
	return channels.New(p.desk.env, record.Scope{App: app}).All(ctx, maxChannels, p.desk.unreadable.Warn)
}

func (p *pages) channel(ctx context.Context, app, id string) (*channel.Channel, error) {
	if p.config.Channels == nil {
		return channels.New(p.desk.env, record.Scope{App: app}).Load(ctx, id)
	}
	all, err := p.config.Channels(ctx, app)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, func(c *channel.Channel) bool { return c.ID == id }); i >= 0 {
		return all[i], nil
	}
	return nil, record.NotFound("channel", id)
}

// setAvailable sets whether the agent takes chats.
func (p *pages) setAvailable(c *call) (any, error) {
	var asked struct {
		IsAvailable bool `json:"isAvailable"`
	}
	if err := c.read(&asked); err != nil {
		return nil, err
	}
	if err := p.desk.setAgent(c.Context(), c.agent.ID, fieldAvailable, asked.IsAvailable); err != nil {
		return nil, err
	}
	p.desk.hub.wake()
	return asked, nil
}

// The rate at which an agent may change something: a burst, then a number per second.
const (
	burst     = 40
	perSecond = 10
	// maxBuckets is the number of agents whose rate is tracked.
	maxBuckets = 10_000
)

// bucket holds the requests that an agent may still make.
type bucket struct {
	left float64
	at   time.Time
}

// allow reports whether an agent may make a request now.
func (p *pages) allow(agent string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.desk.env.Now()
	b, isKnown := p.rates[agent]
	if !isKnown {
		if len(p.rates) >= maxBuckets {
			clear(p.rates)
		}
		b = bucket{burst, now}
	}
	b.left = min(burst, b.left+now.Sub(b.at).Seconds()*perSecond)
	b.at = now
	isAllowed := b.left >= 1
	if isAllowed {
		b.left--
	}
	p.rates[agent] = b
	return isAllowed
}
