package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/schema"
	"github.com/botctx/go-sdk/boterr"
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
	return inJSON(mux)
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
