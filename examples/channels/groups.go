package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/send"
)

// row is what happened on a platform: the id of the message, and the result of the operation.
type row struct {
	on, id, text string
	// form is the operation and the form of the result, "" where the row is printed anyway.
	form string
}

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

// addCall adds what came of a call of an operation, and of the message that it sent, if any.
func (g *groups) addCall(call fakes.Call, message send.Response) {
	if message.IsZero() {
		g.add(string(call.Op), " "+given(call.Params), rowsOf(call)...)
		return
	}
	g.add(string(call.Op)+" "+describe(message), "", rowsOf(call)...)
}

// print prints the groups. It adds the forms that results have to those that were shown.
func (g groups) print(p *page, shown map[string]bool) {
	for _, one := range g {
		if len(one.rows) > 1 {
			one.more = ""
		}
		p.line(one.head+one.more, len("  "))
		var ids, rows []row
		for _, r := range one.rows {
			switch key := r.on + " " + r.form; {
			case r.form != "" && shown[key]:
				ids = append(ids, r)
			default:
				shown[key] = true
				rows = append(rows, r)
			}
		}
		p.ids(ids)
		for _, r := range merged(rows) {
			p.row(r)
		}
	}
}

// merged returns the rows, with one row, the last, for those that are the same on several
// platforms.
func merged(rows []row) []row {
	var alone, same []row
	on, all := map[string][]string{}, map[string]bool{}
	for _, r := range rows {
		all[r.on] = true
		if r.id == "" {
			on[r.text] = append(on[r.text], r.on)
		}
	}
	for _, r := range rows {
		switch on := on[r.text]; {
		case r.id != "" || len(on) == 1:
			alone = append(alone, r)
		case r.on == on[0]:
			r.on = namesOf(on, len(all))
			same = append(same, r)
		}
	}
	return append(alone, same...)
}

// namesOf returns what several of the platforms of a group are called together.
func namesOf(on []string, of int) string {
	switch n := len(on); {
	case n == of:
		return fmt.Sprintf("all %d", n)
	case n > of/2:
		return fmt.Sprintf("the %d others", n)
	default:
		return strings.Join(on, ", ")
	}
}

// rowsOf returns a row for each result of a call.
func rowsOf(call fakes.Call) []row {
	on, op := call.Scope.Channel, string(call.Op)
	results := resultsOf(call)
	delta, isDelta := call.Result.(send.SendDeltaResponseResult)
	switch {
	case isDelta && len(results) > 0:
		return []row{{on: on, id: results[0].MessageEvent.MessageID, text: jsonOf(delta)}}
	case len(results) > 0:
		return rowsOfResults(op, on, results)
	case call.Err != nil:
		return []row{{on: on, text: "! " + refusal(call.Err, on)}}
	default:
		return []row{{on: on, text: jsonOf(call.Result)}}
	}
}

// rowsOfResults returns a row for each result of sending a message.
func rowsOfResults(op, on string, results []send.Result) []row {
	rows := make([]row, len(results))
	for i, result := range results {
		if result.Err != nil {
			rows[i] = row{on: on, text: "! " + withoutName(jsonOf(result), on)}
			continue
		}
		rows[i] = row{
			on: on, id: result.MessageEvent.MessageID, text: jsonOf(result, "messageEvent", "message"),
			form: op + " " + formOf(result),
		}
	}
	return rows
}

// resultsOf returns the results of a call that sends messages.
func resultsOf(call fakes.Call) []send.Result {
	switch result := call.Result.(type) {
	case send.SendResponseResult:
		return result.Results
	case send.SendAlphaResponseToMemberIDsResult:
		return result.Results
	case send.SendDeltaResponseResult:
		return result.Results
	case send.Result:
		if call.Err == nil {
			return []send.Result{result}
		}
	}
	return nil
}

// refusal returns what an error says, without the operation and the name of the platform.
func refusal(err error, on string) string {
	text := err.Error()
	if e, isError := boterr.AsError(err); isError {
		text = strings.TrimPrefix(text, e.Op+": ")
	}
	return withoutName(text, on)
}

// withoutName returns a text without the name of its platform, so that the refusals of several
// platforms are the same.
func withoutName(text, on string) string {
	return strings.NewReplacer(`"`+on+`"`, "…", "channel "+on+" ", "channel … ").Replace(text)
}
