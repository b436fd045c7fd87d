package script

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

// fetchRequest is a request as web.js sends it, and fetchResponse the answer that it reads.
type (
	fetchRequest struct {
		URL     string      `json:"url"`
		Method  string      `json:"method"`
		Headers [][2]string `json:"headers"`
		Body    []byte      `json:"body"`
	}
	fetchResponse struct {
		Status     int         `json:"status"`
		StatusText string      `json:"statusText"`
		Headers    [][2]string `json:"headers"`
		URL        string      `json:"url"`
		Body       []byte      `json:"body"`
	}
)

// hostFetch begins a request, and returns its number. wake gets the answer.
func (r *run) hostFetch(payload string) (any, error) {
	if r.bot == nil {
		return nil, boterr.New(boterr.FailedPrecondition, "", "a module sends no requests while it is loaded")
	}
	if err := r.countCall(); err != nil {
		return nil, err
	}
	l := &r.loop
	if most := longestText(r.engine.options.MaxResultBytes); l.held+len(payload) > most {
		return nil, endingError{boterr.New(boterr.ResourceExhausted, "",
			"the requests under way have more than %d bytes: see Options.MaxResultBytes", most)}
	}
	var asked fetchRequest
	if err := json.Unmarshal([]byte(payload), &asked); err != nil {
		return nil, err
	}
	request := outbound.Request{URL: asked.URL, Method: asked.Method, Headers: map[string]string{}, Body: asked.Body}
	values := map[string][]string{}
	for _, header := range asked.Headers {
		values[header[0]] = append(values[header[0]], header[1])
	}
	for name, all := range values {
		request.Headers[name] = strings.Join(all, ", ")
	}
	if l.arrived == nil {
		l.arrived, l.requests = make(chan answer), map[int]sending{}
	}
	l.last++
	id := l.last
	ctx, cancel := context.WithCancel(r.ctx)
	l.requests[id] = sending{cancel, len(payload)}
	l.held += len(payload)
	arrived, left, bot, e := l.arrived, r.ctx.Done(), r.bot, r.engine
	go func() {
		response, err := e.fetch(ctx, bot, request)
		select {
		case arrived <- answer{id: id, response: response, url: asked.URL, err: boterr.Wrap("fetch", err)}:
		case <-left: // The run has ended.
		}
	}()
	return int64(id), nil
}

// fetch sends a request.
func (e *Engine) fetch(ctx context.Context, bot *botctx.Context, request outbound.Request) (response *outbound.Response, err error) {
	defer func() { err = cmp.Or(boterr.Recovered(recover()), err) }()
	response, err = e.options.Fetch(ctx, bot, request)
	if most := e.options.MaxResultBytes; err == nil && len(response.Body) > most {
		err = boterr.New(boterr.ResourceExhausted, "", "the response has more than %d bytes: see Options.MaxResultBytes", most)
	}
	return response, err
}

// hostCancel cancels a request.
func (r *run) hostCancel(payload string) (any, error) {
	var id int
	err := json.Unmarshal([]byte(payload), &id)
	if sent, isUnderWay := r.loop.requests[id]; isUnderWay {
		sent.cancel()
	}
	return nil, err
}

// textOf returns the text of the answer of a request.
func (r *run) textOf(a answer) (string, error) {
	if a.err != nil {
		return r.answer(nil, a.err)
	}
	told := fetchResponse{
		Status: a.response.Status, StatusText: http.StatusText(a.response.Status), URL: a.url,
		Headers: [][2]string{}, Body: slices.Concat([]byte{}, a.response.Body),
	}
	for name, values := range a.response.Header {
		for _, value := range values {
			told.Headers = append(told.Headers, [2]string{strings.ToLower(name), value})
		}
	}
	text, err := json.Marshal(told)
	return r.answer(json.RawMessage(text), err)
}
