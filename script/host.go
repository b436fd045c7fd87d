package script

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/script/internal/locale"
	"github.com/botctx/go-sdk/script/internal/web"
)

// hostFunction is a function that scripts call through own.ask of the prelude. payload is JSON. The result is a
// document value or raw JSON. Scripts can catch the error unless it is an endingError.
type hostFunction func(r *run, payload string) (any, error)

// endingError ends the run. Scripts cannot catch it.
type endingError struct{ error }

func (e endingError) Unwrap() error { return e.error }

func (e *Engine) hostFunctions() map[string]hostFunction {
	all := map[string]hostFunction{
		"get": (*run).hostGet, "find": decoding((*run).hostFind), "load": decoding((*run).hostLoad), "numbers": (*run).hostNumbers,
		"timer": (*run).hostTimer, "clear": decoding((*run).hostClear), "fetch": (*run).hostFetch,
		"cancel": decoding((*run).hostCancel), "part": decoding((*run).hostPart),
	}
	pure := web.Functions(rand.Reader)
	maps.Copy(pure, locale.Functions())
	for name, function := range pure {
		all[name] = func(_ *run, payload string) (any, error) {
			answer, err := function([]byte(payload))
			if err != nil {
				return nil, err
			}
			text, err := json.Marshal(answer)
			return json.RawMessage(text), err
		}
	}
	return all
}

// decoding returns the hostFunction for a function whose argument is the decoded payload.
func decoding[T any](function func(r *run, asked T) (any, error)) hostFunction {
	return func(r *run, payload string) (any, error) {
		var asked T
		if err := json.Unmarshal([]byte(payload), &asked); err != nil {
			return nil, err
		}
		return function(r, asked)
	}
}

// host is the entry point for the prelude: text contains the name of a function and its payload. An error ends the
// run.
func (r *run) host(text string) (answer string, err error) {
	defer boterr.Recover(&err)
	name, payload, _ := strings.Cut(text, "\n")
	switch name {
	case "op":
		return r.hostOperation(payload)
	case "log":
		return "", r.hostLog(payload)
	case "fail":
		return "", r.hostFail(payload)
	}
	function := r.engine.functions[name]
	if function == nil {
		return "", boterr.Invalid("", "the host has no function %q", name)
	}
	if most := 2*r.engine.options.MaxResultBytes + 1<<16; len(payload) > most && name != "fetch" {
		return "", boterr.New(boterr.ResourceExhausted, "",
			"the script passes more than %[2]d bytes to %[1]s: see Options.MaxResultBytes", name, most)
	}
	value, err := function(r, payload)
	if _, isEnding := errors.AsType[endingError](err); isEnding {
		return "", err
	}
	return r.answer(value, err)
}

// longestText returns the limit in bytes for a text from a script to the host. The longest texts are parameters with
// several records, and request bodies in base64.
func longestText(largest int) int { return 4*largest + 1<<16 }

// answer returns the answer to a call in the format of border.js.
func (r *run) answer(value any, err error) (string, error) {
	w := newWriter(int64(r.engine.options.MaxResultBytes))
	w.answer(value, r.number(err), err)
	return string(append(w.text, ']')), w.err
}

// The last keptCauses errors that a script received are kept by number, except those longer than longestCause.
const (
	keptCauses   = 100
	longestCause = 16 << 10
)

// number stores an error that the script receives and returns its number, or 0 if it is not stored.
func (r *run) number(err error) int {
	if err == nil || len(display.Text(err)) > longestCause {
		return 0
	}
	if r.causes == nil {
		r.causes = map[int]error{}
	}
	r.causeCount++
	r.causes[r.causeCount] = err
	delete(r.causes, r.causeCount-keptCauses)
	return r.causeCount
}

// countCall counts a call to the host, and ends the run if there are too many.
func (r *run) countCall() error {
	if most := r.engine.options.MaxCalls; r.calls.Add(1) > int64(most) {
		return endingError{boterr.New(boterr.ResourceExhausted, "",
			"the script has made more than %d calls, of operations, fetch and timers together: see Options.MaxCalls", most)}
	}
	return nil
}

// hostNumbers returns several random numbers. With Options.Random it returns one, so that its calls keep their order.
func (r *run) hostNumbers(string) (any, error) {
	numbers := make([]float64, r.engine.options.randomAhead)
	for i := range numbers {
		numbers[i] = r.engine.options.Random()
		if !(numbers[i] >= 0 && numbers[i] < 1) {
			return nil, boterr.New(boterr.Internal, "", "Options.Random returned %v: it must return numbers from 0 to below 1", numbers[i])
		}
	}
	text, err := json.Marshal(numbers)
	return json.RawMessage(text), err
}

// longestLine is the maximum length of a logged line in bytes. mostLines is the maximum number of lines per run.
const (
	longestLine = 8 << 10
	mostLines   = 1000
)

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// hostLog logs a line of console output. payload is [level, text, stack].
func (r *run) hostLog(payload string) error {
	r.lines++
	if r.lines > mostLines {
		return nil
	}
	var line [3]string
	if err := json.Unmarshal([]byte(payload), &line); err != nil {
		return err
	}
	text := display.Redact(line[1])
	if len(text) > longestLine {
		text = strings.ToValidUTF8(text[:longestLine], "") + "..."
	}
	where := r.program.name
	for _, at := range r.places(line[2]) {
		where = fmt.Sprintf("%s:%d", at.file, at.line)
		break
	}
	r.engine.options.Console.Log(r.ctx, levels[line[0]], text, "script", where)
	if r.lines == mostLines {
		r.engine.options.Console.WarnContext(r.ctx, "the script logs too much: what follows is left out", "script", r.program.name)
	}
	return nil
}

// logRejected logs rejections of promises that the script did not await.
func (r *run) logRejected(reports string) error {
	if reports == "[]" {
		return nil
	}
	var all []report
	if err := json.Unmarshal([]byte(reports), &all); err != nil {
		return errText
	}
	for _, one := range all {
		r.engine.options.Console.WarnContext(r.ctx, "a script did not wait for what failed",
			"script", r.program.name, "error", r.failed(r.thrown(one)))
	}
	return nil
}

// fetchRequest is a request from web.js, and fetchResponse is the answer to it.
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

// headerBytes is the encoding of headers in web.js, where each character is a byte.
var headerBytes = charmap.ISO8859_1

// mostAtOnce limits the requests of a run at a time, because each response stays in memory until the script gets it.
const mostAtOnce = 16

// hostFetch starts a request and returns its number. wake passes the answer to the script.
func (r *run) hostFetch(payload string) (any, error) {
	if r.bot == nil {
		return nil, boterr.New(boterr.FailedPrecondition, "", "a module cannot send requests while it is loading")
	}
	if err := r.countCall(); err != nil {
		return nil, err
	}
	l := &r.loop
	if most := longestText(r.engine.options.MaxResultBytes); l.held+len(payload) > most {
		return nil, endingError{boterr.New(boterr.ResourceExhausted, "",
			"the requests in flight have more than %d bytes: see Options.MaxResultBytes", most)}
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
		value, err := headerBytes.NewEncoder().String(strings.Join(all, ", "))
		if err != nil {
			return nil, boterr.Invalid("headers", "%s: has characters beyond U+00FF", name)
		}
		request.Headers[name] = value
	}
	if l.arrived == nil {
		l.arrived, l.requests, l.places = make(chan answer), map[int]sending{}, make(chan struct{}, mostAtOnce)
	}
	l.last++
	id := l.last
	ctx, cancel := context.WithCancel(r.ctx)
	l.requests[id] = sending{cancel, len(payload)}
	l.held += len(payload)
	arrived, places, left, bot, e := l.arrived, l.places, r.ctx.Done(), r.bot, r.engine
	go func() {
		var response *outbound.Response
		var err error
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
			response, err = e.fetch(ctx, bot, request)
		case <-ctx.Done():
			err = ctx.Err()
		}
		select {
		case arrived <- answer{id: id, response: response, url: asked.URL, err: boterr.Wrap("fetch", err)}:
		case <-left: // The run has ended.
		}
	}()
	return int64(id), nil
}

func (e *Engine) fetch(ctx context.Context, bot *botctx.Context, request outbound.Request) (response *outbound.Response, err error) {
	defer boterr.Recover(&err)
	response, err = e.options.Fetch(ctx, bot, request)
	if most := e.options.MaxResultBytes; err == nil && len(response.Body) > most {
		err = boterr.New(boterr.ResourceExhausted, "", "the response has more than %d bytes: see Options.MaxResultBytes", most)
	}
	return response, err
}

func (r *run) hostCancel(id int) (any, error) {
	if sent, isUnderWay := r.loop.requests[id]; isUnderWay {
		sent.cancel()
	}
	return nil, nil
}

func (r *run) textOf(a answer) (string, error) {
	if a.err != nil {
		return r.answer(nil, a.err)
	}
	told := fetchResponse{
		Status: a.response.Status, StatusText: http.StatusText(a.response.Status), URL: cmp.Or(a.response.URL, a.url),
		Headers: [][2]string{}, Body: slices.Concat([]byte{}, a.response.Body),
	}
	for name, values := range a.response.Header {
		for _, value := range values {
			value, err := headerBytes.NewDecoder().String(value)
			if err != nil {
				return "", err
			}
			told.Headers = append(told.Headers, [2]string{strings.ToLower(name), value})
		}
	}
	text, err := json.Marshal(told)
	return r.answer(json.RawMessage(text), err)
}

// useOf returns the use of an operation's parameter. A parameter that selects what the operation works on is
// forSelection: undefined would select everything, or the run's member.
func useOf(op botctx.Op, param string) use {
	switch param {
	case "filter":
		return forFilter
	case "data":
		if op == botctx.OpFetchGeoNearFromDataSource { // Its filter is nested in this parameter.
			return forFilter
		}
	case "meta":
		if op == botctx.OpGetAssignmentsByMeta {
			return forFilter
		}
	case "tag", "key", "inlet":
		return forSelection
	}
	if strings.HasSuffix(param, "Id") {
		return forSelection
	}
	return forData
}

// targets are the parameters that default to a record of the context. In them, undefined is an error: it is more
// likely a mistake than a request for the default.
var targets = map[string]bool{"member": true, "channel": true, "group": true}

// hostOperation calls an operation. Operations of a script run one after the other, in the order of the calls, even
// if the script does not await them. payload is [name, parameters, removed, changes]. The answer contains the
// records that the call changed, and the names of the remaining values; see this.js.
func (r *run) hostOperation(payload string) (string, error) {
	if err := r.countCall(); err != nil {
		return "", err
	}
	read := &reader{text: payload, largest: r.engine.options.MaxResultBytes}
	read.want('[')
	name, err := read.string()
	if err != nil {
		return "", err
	}
	read.want(',')
	result, err := r.operation(read, botctx.Op(name))
	if read.isTooLarge {
		return "", endingError{err}
	}
	w := newWriter(int64(r.engine.options.MaxResultBytes))
	w.answer(result, r.number(err), err)
	r.writeRenewed(w)
	return string(append(w.text, ']')), w.err
}

// operation reads the parameters and the script's changes, and calls the operation.
func (r *run) operation(read *reader, op botctx.Op) (any, error) {
	params, refused := r.params(read, op)
	if refused != nil {
		return nil, boterr.Wrap(string(op), refused)
	}
	read.want(',')
	if err := r.store(read); err != nil {
		return nil, boterr.Wrap(string(op), err)
	}
	var result any
	var err error
	r.sharing(func() {
		r.in.Wait(func() { r.wait(func() { result, err = r.bot.CallValue(r.ctx, string(op), params) }) })
	})
	return result, err
}

// params reads the parameters of an operation.
func (r *run) params(read *reader, op botctx.Op) (document.Object, error) {
	begin := read.at
	if read.peek() != '{' {
		value, err := read.value(forData)
		if err != nil || value == document.Missing {
			return document.Object{}, err
		}
		return document.Object{}, boterr.Invalid("", "the argument must be an object with the parameters")
	}
	value, err := read.fields(func(name string) (any, error) {
		if targets[name] && read.peek() == 'U' {
			return read.any(forSelection, 1)
		}
		return read.any(useOf(op, name), 1)
	})
	if err != nil {
		return document.Object{}, err
	}
	if read.at-begin > read.largest {
		return document.Object{}, read.tooLarge()
	}
	return value.(document.Object), nil //nolint:forcetypeassert // fields returns it.
}
