package script

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/script/internal/locale"
	"github.com/botctx/go-sdk/script/internal/web"
)

// hostFunction is a function of the host that scripts call by own.ask of the prelude. The payload is JSON. What it
// returns is the answer: a value of documents, or raw JSON. Scripts may catch its error, unless it is an endingError.
type hostFunction func(r *run, payload string) (any, error)

// endingError ends the run: scripts cannot catch it.
type endingError struct{ error }

// Unwrap returns the error.
func (e endingError) Unwrap() error { return e.error }

// hostFunctions returns all functions of the host.
func (e *Engine) hostFunctions() map[string]hostFunction {
	all := map[string]hostFunction{
		"get": (*run).hostGet, "find": (*run).hostFind, "load": (*run).hostLoad, "numbers": (*run).hostNumbers,
		"timer": (*run).hostTimer, "clear": (*run).hostClear, "fetch": (*run).hostFetch, "cancel": (*run).hostCancel,
		"part": (*run).hostPart,
	}
	pure := web.Functions(rand.Reader)
	for name, function := range locale.Functions() {
		pure[name] = function
	}
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

// host is called by the prelude with the name of a function and its payload, and returns the answer. An error ends the
// run.
func (r *run) host(text string) (answer string, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = boterr.Recovered(cause)
		}
	}()
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
		return "", boterr.New(boterr.ResourceExhausted, "", "the script gives %s more than %d bytes: see Options.MaxResultBytes", name, most)
	}
	value, err := function(r, payload)
	if _, isEnding := errors.AsType[endingError](err); isEnding {
		return "", err
	}
	return r.answer(value, err)
}

// longestText is how long what a script gives the host at once may be: the parameters of an operation and several records,
// or the body of a request as base64.
func longestText(largest int) int { return 4*largest + 1<<16 }

// answer returns the text of an answer, see border.js.
func (r *run) answer(value any, err error) (string, error) {
	w := newWriter(int64(r.engine.options.MaxResultBytes))
	w.answer(value, r.number(err), err)
	return string(append(w.text, ']')), w.err
}

// Of the errors that a script was given, the last ones are kept, and none with a text of more bytes than longestCause.
const (
	keptCauses   = 100
	longestCause = 16 << 10
)

// number returns the number by which the script knows an error, 0 for none.
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

// countCall counts what a script asks of the host, and ends the run if it asks too much.
func (r *run) countCall() error {
	if most := r.engine.options.MaxCalls; r.calls.Add(1) > int64(most) {
		return endingError{boterr.New(boterr.ResourceExhausted, "",
			"the script has made more than %d calls, of operations, fetch and timers together: see Options.MaxCalls", most)}
	}
	return nil
}

// hostNumbers returns some random numbers: one if the host gives them, to have them in its order.
func (r *run) hostNumbers(string) (any, error) {
	numbers := make([]float64, r.engine.options.randomAhead)
	for i := range numbers {
		numbers[i] = r.engine.options.Random()
	}
	text, err := json.Marshal(numbers)
	return json.RawMessage(text), err
}
