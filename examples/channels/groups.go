package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/send"
)

// row is what happened on a platform: the id of the message, and the result of the operation.
type row struct{ on, id, text string }

// group is what happened alike on several platforms. Where it happened on one alone, more is
// said of it.
type group struct {
	head, more string
	rows       []row
}

// groups are those of a step, in the order in which they came about.
type groups []group

// add adds rows to the group with a head.
func (g *groups) add(head, more string, rows ...row) {
	at := slices.IndexFunc(*g, func(known group) bool { return known.head == head })
	if at < 0 {
		*g, at = append(*g, group{head: head, more: more}), len(*g)
	}
	(*g)[at].rows = append((*g)[at].rows, rows...)
}

// addCall adds what came of a call of an operation.
func (g *groups) addCall(call fakes.Call) {
	if message := messageOf(call); !message.IsZero() {
		g.add(string(call.Op)+" "+describe(message), "", rowsOf(call)...)
		return
	}
	g.add(string(call.Op), " "+jsonOf(call.Params), rowsOf(call)...)
}

// merged returns the rows, those that are the same on several platforms as one.
func (g group) merged() []row {
	var merged []row
	for _, r := range g.rows {
		same := slices.IndexFunc(merged, func(before row) bool { return r.id == "" && before.id == "" && before.text == r.text })
		if same < 0 {
			merged = append(merged, r)
			continue
		}
		merged[same].on += ", " + r.on
	}
	return merged
}

// rowsOf returns a row for each result of a call.
func rowsOf(call fakes.Call) []row {
	on := call.Scope.Channel
	var rows []row
	for _, result := range resultsOf(call) {
		rows = append(rows, row{on, result.MessageEvent.MessageID, jsonOf(result, "messageEvent", "message")})
		if result.Err != nil {
			rows[len(rows)-1].text = "! " + rows[len(rows)-1].text
		}
	}
	delta, isDelta := call.Result.(send.SendDeltaResponseResult)
	switch {
	case len(rows) > 0:
		return rows
	case isDelta && delta.HasOutcomes():
		return []row{{on, delta.Results[0].MessageEvent.MessageID, jsonOf(delta)}}
	case call.Err != nil:
		return []row{{on, "", "! " + refusal(call.Err, on)}}
	default:
		return []row{{on, "", jsonOf(call.Result)}}
	}
}

// resultsOf returns the results of a call that sends messages.
func resultsOf(call fakes.Call) []send.Result {
	switch result := call.Result.(type) {
	case send.SendResponseResult:
		return result.Results
	case send.SendAlphaResponseToMemberIDsResult:
		return result.Results
	case send.Result:
		if call.Err == nil {
			return []send.Result{result}
		}
	}
	return nil
}

// refusal returns what an error says, without the operation and the name of the platform, so
// that the refusals of several platforms are the same.
func refusal(err error, on string) string {
	text := err.Error()
	if e, isError := boterr.AsError(err); isError {
		text = strings.TrimPrefix(text, e.Op+": ")
	}
	return strings.ReplaceAll(text, strconv.Quote(on), "…")
}
