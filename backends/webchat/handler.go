package webchat

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Accept stores an event and recognises repeated ones. Usually it is the method Accept of a Runtime.
type Accept = func(ctx context.Context, event botctx.Inbound) error

// Handler returns the handler for the widget. Serve it for all paths below one address:
//
//	http.Handle("/chat/", connector.Handler(rt.Accept))
//
// Handler answers requests from pages whose origin the channel allows. It answers a visitor's message after
// accept has returned. After any answer that is not a success, the widget repeats the message; a repeated
// message has no further effect. The answers to faults are:
//
//	400  the request is malformed
//	401  the token is missing, forged, expired or signed out; the answer does not reveal which
//	403  the page's origin is not in the channel's list
//	404  there is no such path, channel or file
//	413, 415, 408
//	     a body is too long, of the wrong type, or came too slowly
//	429  a limit is reached; Retry-After has the number of seconds to wait
//	503  with Retry-After: the store did not answer, or too many streams are open or events are waiting
//
// The body is {"error": {"code": "InvalidArgument", "field": "text", "message": "..."}}.
func (c *Connector) Handler(accept Accept) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if thrown := recover(); thrown != nil {
				if thrown == http.ErrAbortHandler { //nolint:errorlint,err113 // net/http compares it in the same way.
					panic(thrown)
				}
				c.fail(w, r, boterr.Recovered(thrown))
			}
		}()
		if err := c.serve(w, r, accept); err != nil {
			c.fail(w, r, err)
		}
	})
}

// problem is the answer to a refused request.
type problem struct {
	status int
	// after is the value of Retry-After. 0 means no header.
	after time.Duration
	err   *boterr.Error
}

func (p *problem) Error() string { return p.err.Error() }

func refuse(status int, err *boterr.Error) error { return &problem{status: status, err: err} }

// errToken is the same for all invalid tokens, so it does not reveal the fault.
var errToken = &problem{
	status: http.StatusUnauthorized,
	err:    boterr.New(boterr.FailedPrecondition, "", "the token is not valid; start a new session"),
}

// errNoSecret makes the widget try again later, because the host may correct the channel.
var errNoSecret = &problem{
	status: http.StatusServiceUnavailable, after: keepAlive,
	err: boterr.New(boterr.FailedPrecondition, "", "the server failed; try again later"),
}

var errNotFound = &problem{status: http.StatusNotFound, err: boterr.New(boterr.NotFound, "", "there is nothing at this address")}

// fail answers with an error. An error that does not concern the request is logged, and its text is not sent.
func (c *Connector) fail(w http.ResponseWriter, r *http.Request, err error) {
	shown, isProblem := errors.AsType[*problem](err)
	if !isProblem {
		shown = &problem{status: botctx.HTTPStatus(err), err: boterr.New(boterr.CodeOf(err), "", "the server failed; try again later")}
		if coded, ok := boterr.AsError(err); ok && coded.Code == boterr.InvalidArgument {
			shown.err = coded
		} else if r.Context().Err() == nil {
			c.config.Logger.LogAttrs(r.Context(), slog.LevelWarn, "webchat: request failed",
				slog.String("path", path.Base(r.URL.Path)), slog.String("error", err.Error()))
		}
		if shown.status == http.StatusServiceUnavailable {
			shown.after = time.Second
		}
	}
	if shown.status == http.StatusConflict || shown.status == http.StatusNotImplemented {
		shown.status = http.StatusServiceUnavailable // The widget tries again, because the host may correct the channel.
		shown.after = keepAlive
	}
	if shown.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds(shown.after)))
	}
	if w.Header().Get("Access-Control-Allow-Origin") == "" && shown.status != http.StatusForbidden {
		w.Header().Set("Access-Control-Allow-Origin", "*") // With this header, the widget can distinguish a refusal from a lost connection.
		w.Header().Set("Access-Control-Expose-Headers", "Retry-After")
	}
	inbound.LeaveUnread(w)
	answer(w, shown.status, map[string]*boterr.Error{"error": shown.err})
}

// answer writes JSON. It ignores errors, because the client may be gone.
func answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte("{}")
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// answerTime limits the work for a request. For a stream or a file, it limits the check of the token.
const answerTime = 30 * time.Second

// visit is a request of a visitor with a verified token.
type visit struct {
	session

	in           *channel.Channel
	conversation chatlog.Conversation
	keys         []key
	accept       Accept
	now          time.Time
}

// limitKey identifies the visitor in limits.
func (v visit) limitKey() string { return v.in.ID + " " + v.Visitor }

// routes has the requests that need a token, by method and name.
var routes = map[string]func(*Connector, http.ResponseWriter, *http.Request, visit) error{
	"GET stream":    (*Connector).stream,
	"GET history":   (*Connector).history,
	"POST messages": (*Connector).message,
	"POST typing":   (*Connector).typing,
	"POST read":     (*Connector).read,
	"POST files":    (*Connector).upload,
	"POST signout":  (*Connector).signOut,
}

// serve answers a request. It returns an error if the request is refused.
func (c *Connector) serve(w http.ResponseWriter, r *http.Request, accept Accept) error {
	folder, name := path.Split(r.URL.Path)
	isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case r.Method == http.MethodOptions:
		preflight(w)
		return nil
	case isRead && isWidget(name):
		serveWidget(w, r, name)
		return nil
	case isRead && path.Base(folder) == "files":
		return c.serveFile(w, r, name)
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	limited := r.WithContext(ctx)
	now := c.config.Now()
	if err := c.rates.requests.require(c.config.Address(r), now); err != nil {
		return err
	}
	if r.Method == http.MethodPost && name == "session" {
		return c.startSession(w, limited)
	}
	route := routes[r.Method+" "+name]
	if route == nil {
		return errNotFound
	}
	v, err := c.authenticate(w, limited, now)
	if err != nil {
		return err
	}
	v.accept = accept
	if name != "stream" && name != "files" {
		r = limited
	}
	return route(c, w, r, v)
}

// preflight answers a browser's CORS preflight request. The origin of the page is checked in the real request.
func preflight(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Allow-Methods", "GET, POST")
	header.Set("Access-Control-Allow-Headers", "authorization, content-type")
	header.Set("Access-Control-Max-Age", "7200")
	w.WriteHeader(http.StatusNoContent)
}

// authenticate verifies the token and the origin of a request. Bad tokens count against the sender's address.
func (c *Connector) authenticate(w http.ResponseWriter, r *http.Request, now time.Time) (visit, error) {
	address := c.config.Address(r)
	v, err := c.visitOf(w, r, now)
	if errors.Is(err, errToken) {
		if limited := c.rates.badTokens.require(address, now); limited != nil {
			return visit{}, limited
		}
	}
	return v, err
}

func (c *Connector) visitOf(w http.ResponseWriter, r *http.Request, now time.Time) (visit, error) {
	text, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	claims, signed, ok := parseSession(text)
	if !isBearer || !ok {
		return visit{}, errToken
	}
	in, keys, err := c.channelOf(r.Context(), claims.Channel)
	if errors.Is(err, errNotFound) {
		return visit{}, errToken
	}
	if err != nil {
		return visit{}, err
	}
	if err := allowOrigin(w, r, in); err != nil {
		return visit{}, err
	}
	if !claims.verify(signed, keys, now) {
		return visit{}, errToken
	}
	isEnded, err := c.isEnded(r.Context(), claims.ID)
	if err != nil {
		return visit{}, err
	}
	if isEnded {
		return visit{}, errToken
	}
	return visit{session: claims, in: in, conversation: conversation(in, claims.Visitor), keys: keys, now: now}, nil
}

// isEnded reports whether the visitor has ended a session.
func (c *Connector) isEnded(ctx context.Context, session string) (bool, error) {
	_, isEnded, err := c.ended.Get(ctx, session)
	return isEnded, err
}

// channelOf returns a channel and its keys. It returns errNotFound if the channel does not exist or is turned
// off.
func (c *Connector) channelOf(ctx context.Context, id string) (*channel.Channel, []key, error) {
	if id == "" || len(id) > chatlog.MaxName {
		return nil, nil, errNotFound
	}
	in, err := c.config.FindChannel(ctx, id)
	switch boterr.CodeOf(err) {
	case "":
	case boterr.NotFound, boterr.InvalidArgument:
		return nil, nil, errNotFound
	default:
		return nil, nil, err
	}
	if in == nil || !in.On || in.App == "" {
		return nil, nil, errNotFound
	}
	keys, err := keysOf(in)
	if err != nil {
		c.config.Drops.AddUnverified(ctx, in, err)
		return nil, nil, errNoSecret
	}
	return in, keys, nil
}

// allowOrigin allows the page to read the answer. If the channel does not allow the page's origin, allowOrigin
// returns a refusal. A GET from the same origin or from another program has no Origin, and is allowed.
func allowOrigin(w http.ResponseWriter, r *http.Request, in *channel.Channel) error {
	w.Header().Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	site := r.Header.Get("Sec-Fetch-Site")
	if origin == "" && r.Method == http.MethodGet && (site == "" || site == "same-origin" || site == "none") {
		return nil
	}
	for _, allowed := range document.Get(in.Metadata, "origins", []string(nil)) {
		if origin != "" && matchesOrigin(origin, allowed, r.Host) {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Expose-Headers", "Retry-After")
			return nil
		}
	}
	return refuse(http.StatusForbidden, boterr.New(boterr.FailedPrecondition, "",
		"the channel does not allow this page: add its origin to origins in the channel's metadata"))
}

// matchesOrigin reports whether an entry of the channel's list allows an origin. An entry is an origin, an
// origin with "*." before its host for all subdomains, or "self" for the handler's own origin.
func matchesOrigin(origin, allowed, host string) bool {
	given, err := url.Parse(origin)
	if err != nil || given.Host == "" || given.Scheme != "https" && given.Scheme != "http" || origin != given.Scheme+"://"+given.Host {
		return false
	}
	if allowed == "self" {
		return given.Host == host
	}
	allowed = strings.TrimSuffix(strings.ToLower(allowed), "/")
	scheme, domain, isWild := strings.Cut(allowed, "://*.")
	if isWild {
		return given.Scheme == scheme && strings.HasSuffix(given.Host, "."+domain) && len(given.Host) > len(domain)+1
	}
	return origin == allowed
}

// maxBody is the largest body in bytes, except for files.
const maxBody = 16 << 10

// readBody parses the JSON object in a request's body.
func readBody(w http.ResponseWriter, r *http.Request) (document.Object, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return document.Object{}, refuse(http.StatusUnsupportedMediaType, boterr.Invalid("", "the content-type must be application/json"))
	}
	body, refused := inbound.ReadBody(w, r, inbound.Limits{MaxBytes: maxBody, Time: inbound.DefaultTime})
	if refused != nil {
		return document.Object{}, refuse(refused.Status, boterr.Invalid("", "%s", refused.Reason))
	}
	value, err := document.ParseJSON(body)
	object, isObject := value.(document.Object)
	if err != nil || !isObject {
		return document.Object{}, refuse(http.StatusBadRequest, boterr.Invalid("", "the body must be a JSON object"))
	}
	return object, nil
}

// invalid returns the refusal of a field.
func invalid(field, format string, args ...any) error {
	return refuse(http.StatusBadRequest, boterr.Invalid(field, format, args...))
}

// signOut ends a session for good, and its streams.
func (c *Connector) signOut(w http.ResponseWriter, r *http.Request, v visit) error {
	if err := c.ensureIndexes(r.Context()); err != nil {
		return err
	}
	last := v.now.Add(sessionTime) // The session may have been renewed, and then has tokens that expire later than v.
	err := c.ended.Insert(r.Context(), document.O(document.IDField, v.ID, fieldUntil, last.Unix()))
	if err != nil && boterr.CodeOf(err) != boterr.AlreadyExists {
		return err
	}
	state, err := c.log.State(r.Context(), v.conversation)
	if err == nil {
		err = c.log.SetMark(r.Context(), v.conversation, markSignedOut, max(v.now.UnixMilli(), state.Marks[markSignedOut]+1))
	}
	c.warn(r.Context(), "webchat: open streams of an ended session were not woken; they end within 15 seconds", err)
	old, err := query.CompileFilter(document.O(fieldUntil, document.O("$lt", v.now.Unix())))
	if err == nil {
		_, err = c.ended.Delete(r.Context(), old, store.DeleteOptions{Multi: true})
	}
	c.warn(r.Context(), "webchat: ended sessions were not removed", err)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

//go:embed widget/widget.js
var widgetFile []byte

// WidgetFile describes the widget's script, which Handler serves.
type WidgetFile struct {
	// Name is the script's name with a hash, such as "widget-0123456789abcdef.js", relative to the address of
	// Handler. It changes with the script, and browsers cache it for a year. To always use the current script,
	// use "widget.js".
	Name string
	// Integrity is the value for the integrity attribute of the script tag.
	Integrity string
}

// Widget returns the name and the integrity of the widget's script.
func Widget() WidgetFile {
	name, sum := sha256.Sum256(widgetFile), sha512.Sum384(widgetFile)
	return WidgetFile{
		Name:      "widget-" + hex.EncodeToString(name[:8]) + ".js",
		Integrity: "sha384-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
}

// serveWidget serves the current script. If the name has another hash, the page may be newer or older than this
// process, so the answer must not be cached.
func serveWidget(w http.ResponseWriter, r *http.Request, name string) {
	header := w.Header()
	header.Set("Content-Type", "text/javascript; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Access-Control-Allow-Origin", "*") // A script tag with integrity uses CORS.
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	widget := Widget()
	tag := `"` + strings.TrimSuffix(strings.TrimPrefix(widget.Name, "widget-"), ".js") + `"`
	header.Set("ETag", tag)
	header.Set("Cache-Control", "no-cache")
	if name == widget.Name {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(widgetFile)
}

func isWidget(name string) bool {
	return name == "widget.js" || strings.HasPrefix(name, "widget-") && strings.HasSuffix(name, ".js")
}
