package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/schema"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// The bounds of a call.
const (
	// maxBody is the maximum number of bytes of the parameters.
	maxBody = 1 << 20
	// maxTime is the time limit of a call.
	maxTime = 20 * time.Second
	// maxCalls limits the simultaneous calls. Further ones must be repeated later.
	maxCalls = 64
)

// door answers requests with operations: POST /operations/getMember, with its parameters as JSON, returns its
// result. It is safe for concurrent use.
type door struct {
	// open returns the operations of a scope.
	open func(botctx.Scope) botctx.Caller
	// grants are the rights of each token.
	grants grants
	// calls limits the simultaneous calls: each call in progress takes a place.
	calls chan struct{}
	// time is the time limit of a call.
	time time.Duration
}

func newDoor(open func(botctx.Scope) botctx.Caller, granted grants) *door {
	return &door{open: open, grants: granted, calls: make(chan struct{}, maxCalls), time: maxTime}
}

func (d *door) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /operations/{name}", d.allowed(d.call))
	mux.HandleFunc("GET /operations/{name}", d.allowed(describe))
	mux.HandleFunc("GET /operations", d.allowed(list))
	mux.HandleFunc("/operations/{name}", notAllowed("GET, HEAD, POST"))
	mux.HandleFunc("/operations", notAllowed("GET, HEAD"))
	mux.HandleFunc("/", notFound) // In place of the mux's own refusals, which are not JSON.
	return mux
}

// allowed serves requests with a valid token, and passes on its grant.
func (d *door) allowed(next func(http.ResponseWriter, *http.Request, grant)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		granted, isKnown := d.grants.of(r)
		if !isKnown {
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "Unauthenticated", "give a token that is known, in the header Authorization, after the word Bearer")
			return
		}
		next(w, r, granted)
	}
}

func (d *door) call(w http.ResponseWriter, r *http.Request, granted grant) {
	name := r.PathValue("name")
	if op := botctx.Op(name); op.Exists() && !granted.allows(op) {
		refuse(w, http.StatusForbidden, "PermissionDenied", "the token does not allow "+name)
		return
	}
	args, isRead := read(w, r) // Before a place is taken: a slow body would hold it.
	if !isRead {
		return
	}
	select {
	case d.calls <- struct{}{}:
		defer func() { <-d.calls }()
	default:
		answer(w, name, nil, boterr.New(boterr.ResourceExhausted, "", "too many calls run at once; call again later"))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), d.time)
	defer cancel()
	result, err := d.open(granted.scope).Call(ctx, name, args)
	answer(w, name, result, err)
}

// read returns the body of a request. If it cannot be read, read answers with the reason.
func read(w http.ResponseWriter, r *http.Request) (json.RawMessage, bool) {
	kind, parameters, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset, encoding := parameters["charset"], strings.Join(r.Header.Values("Content-Encoding"), ", ")
	switch {
	case kind != "application/json":
		refuse(w, http.StatusUnsupportedMediaType, boterr.InvalidArgument, "give the parameters as application/json")
		return nil, false
	case charset != "" && !strings.EqualFold(charset, "utf-8"):
		refuse(w, http.StatusUnsupportedMediaType, boterr.InvalidArgument, "give the parameters in UTF-8, which JSON is in")
		return nil, false
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		w.Header().Set("Accept-Encoding", "identity")
		refuse(w, http.StatusUnsupportedMediaType, boterr.InvalidArgument, "give the parameters without a Content-Encoding")
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, isTooLarge := errors.AsType[*http.MaxBytesError](err); isTooLarge {
		refuse(w, http.StatusRequestEntityTooLarge, boterr.InvalidArgument, "the parameters are too large")
		return nil, false
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, boterr.InvalidArgument, "the parameters did not arrive")
		return nil, false
	}
	return body, true
}

// list answers with the operations that a token allows, as tools: their names, descriptions and parameters.
func list(w http.ResponseWriter, _ *http.Request, granted grant) {
	tools := []schema.Tool{}
	for _, tool := range schema.Tools() {
		if granted.allows(botctx.Op(tool.Name)) {
			tools = append(tools, tool)
		}
	}
	write(w, http.StatusOK, map[string]any{"tools": tools})
}

// describe answers with the schemas of an operation.
func describe(w http.ResponseWriter, r *http.Request, _ grant) {
	name := r.PathValue("name")
	described, exists := schema.Of(botctx.Op(name))
	if !exists {
		answer(w, name, nil, boterr.New(boterr.NotFound, "", "there is no operation with this name"))
		return
	}
	write(w, http.StatusOK, described)
}

// notAllowed refuses requests with methods that a path does not have.
func notAllowed(methods string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", methods)
		refuse(w, http.StatusMethodNotAllowed, boterr.Unsupported, "the path does not support this method: use one from the header Allow")
	}
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	refuse(w, http.StatusNotFound, boterr.NotFound, "there is nothing at this path: GET /operations lists what can be called")
}

// failure is the answer to the caller about an error.
type failure struct {
	Error *boterr.Error `json:"error"`
	// Result is the partial result of a failed call, such as the messages that were sent to some of the
	// members.
	Result json.RawMessage `json:"result,omitempty"`
}

// answer writes the result of a call, or the error with its code, field and operation. The caller is bot
// logic, which gets the error's text; credentials are redacted.
func answer(w http.ResponseWriter, name string, result json.RawMessage, err error) {
	if err == nil {
		write(w, http.StatusOK, result)
		return
	}
	told, _ := boterr.AsError(boterr.Wrap(name, err))
	status := botctx.HTTPStatus(told)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	write(w, status, failure{Error: told, Result: result})
}

// refuse answers a request that is not a call.
func refuse(w http.ResponseWriter, status int, code boterr.Code, message string) {
	write(w, status, failure{Error: boterr.New(code, "", "%s", message)})
}

func write(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"Internal","message":"the answer cannot be written"}}`)
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text) // If the client is gone, it needs no answer.
}

// grant is the permission of a token.
type grant struct {
	// token is the secret, of at least minToken characters.
	token channel.Secret
	// scope is the scope of the calls: an app, a channel and a member.
	scope botctx.Scope
	// operations are the allowed operations. Empty means all.
	operations []botctx.Op
}

// minToken is the minimum length of a token: 16 random bytes in hexadecimal.
const minToken = 32

// allows reports whether a grant includes an operation.
func (g grant) allows(op botctx.Op) bool {
	return len(g.operations) == 0 || slices.Contains(g.operations, op)
}

type grants []grant

// check refuses short and duplicate tokens.
func (gs grants) check() error {
	for i, g := range gs {
		if len(g.token.Reveal()) < minToken {
			return errors.New("a token must have at least 32 characters: make it of 16 random bytes")
		}
		if slices.ContainsFunc(gs[:i], func(other grant) bool { return other.token.Reveal() == g.token.Reveal() }) {
			return errors.New("two scopes have the same token; give each a different one")
		}
	}
	return nil
}

// of returns the grant of a request's token, and whether the token is known. It takes as long for a nearly
// correct token as for any other.
func (gs grants) of(r *http.Request) (found grant, isKnown bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return grant{}, false
	}
	given := sha256.Sum256([]byte(token))
	for _, g := range gs {
		own := sha256.Sum256([]byte(g.token.Reveal()))
		if subtle.ConstantTimeCompare(own[:], given[:]) == 1 {
			found, isKnown = g, true
		}
	}
	return found, isKnown
}
