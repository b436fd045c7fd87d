package botctx_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/member"
)

// failure is a call that gets one error of the table.
type failure struct {
	// code and when find the error in the table: when is a part of its sentence.
	code boterr.Code
	when string
	// field is the parameter at fault, or the beginning of the path in it. "" where there is none.
	field string
	// change is, in JSON, what the call has beside, or in the place of, the template's arguments.
	change string
	// prepare makes what the call fails for. nil where its arguments are enough.
	prepare prepare
	// options are those of a platform that differs from the usual one.
	options []fakes.Option
}

// prepare makes, on a platform, what a call of an operation fails for.
type prepare func(t *testing.T, p *fakes.Platform, operation string)

// errorOf returns a failure for which its arguments are enough.
func errorOf(code boterr.Code, when, field, change string) failure {
	return failure{code: code, when: when, field: field, change: change}
}

// after returns the failure where something was prepared.
func (f failure) after(prepare prepare) failure {
	f.prepare = prepare
	return f
}

// on returns the failure on a platform with options.
func (f failure) on(options ...fakes.Option) failure {
	f.options = options
	return f
}

// failures returns the failures of each operation.
func failures() map[string][]failure {
	all := map[string][]failure{}
	for _, part := range []map[string][]failure{
		recordFailures(), agendaFailures(), assignmentFailures(), groupFailures(), sideFailures(),
		sendFailures(), alphaFailures(), platformFailures(), utilityFailures(),
	} {
		maps.Copy(all, part)
	}
	return all
}

// failuresOf returns the failures of an operation. That nothing has the id of its first required
// parameter needs no row.
func failuresOf(operation operations.Operation) []failure {
	given := failures()[operation.Name]
	isListed := slices.ContainsFunc(operation.Errors, func(f operations.Failure) bool { return f.Code == boterr.NotFound })
	if !isListed || slices.ContainsFunc(given, func(f failure) bool { return f.code == boterr.NotFound }) {
		return given
	}
	for _, parameter := range operation.Parameters {
		if parameter.Need == operations.Required && parameter.Type == "string" {
			return append(given, notFound("", parameter.Name))
		}
	}
	return given
}

// shownElsewhere are errors that no single call gets, and the tests that show them.
func shownElsewhere() map[string]string {
	return map[string]string{
		"updateAgenda Conflict":                   "package agenda tests it at each moment of another call",
		"createAssignment Conflict":               "package livechat tests it at each moment of another call",
		"addNewTargetsToAssignment Conflict":      "package livechat tests it at each moment of another call",
		"reassignAssignment Conflict":             "package livechat tests it at each moment of another call",
		"redirectMemberToNode FailedPrecondition": "TestRuns_WaitForEachOther",
		"sendEmail Unsupported":                   "TestSendEmail_NoMailer",
		"uploadFileToObjectStore Unsupported":     "TestUpload_NoStore",
	}
}

// Each error that the table has for an operation is shown by a call, which gets its code and its
// field, and changes nothing.
func TestCall_Errors(t *testing.T) {
	t.Parallel()
	platform, _ := newCaller(t)
	for _, operation := range operations.All() {
		given := failuresOf(operation)
		t.Run(operation.Name, func(t *testing.T) {
			t.Parallel()
			for _, failure := range given {
				t.Run(string(failure.code)+" "+failure.when, func(t *testing.T) {
					t.Parallel()
					failure.run(t, platform, operation.Name)
				})
			}
			for _, listed := range operation.Errors {
				isShown := slices.ContainsFunc(given, func(f failure) bool { return f.is(listed) })
				_, isElsewhere := shownElsewhere()[operation.Name+" "+string(listed.Code)]
				require.NotEqual(t, isShown, isElsewhere, "%s %s: needs a row in the failures that shows it, or a test elsewhere: %t, %t", listed.Code, listed.When, isShown, isElsewhere)
			}
			for _, failure := range given {
				isListed := slices.ContainsFunc(operation.Errors, failure.is)
				require.True(t, isListed, "the table has no error %s: %s", failure.code, failure.when)
			}
		})
	}
}

// is reports whether this is the failure of the table.
func (f failure) is(listed operations.Failure) bool {
	return f.code == listed.Code && strings.Contains(listed.When, f.when)
}

// run makes the call on a fork of the platform.
func (f failure) run(t *testing.T, platform *fakes.Platform, operation string) {
	t.Helper()
	p := platform.Fork()
	if f.options != nil {
		p, _ = newCaller(t, f.options...)
	}
	if f.prepare != nil {
		f.prepare(t, p, operation)
	}
	args := withParameters(t, arguments(t, p, operation), withIDs(t, p, f.change))
	before := stateOf(t, p)
	_, err := caller(p).Call(t.Context(), operation, args)
	requireFailure(t, err, operation, f.code, f.field)
	if f.code != boterr.Unavailable && f.code != boterr.ResourceExhausted { // Which come when something has begun.
		require.Equal(t, before, stateOf(t, p), "the call that failed changed something")
	}
}

// fieldIn returns the parameter that an error names.
func fieldIn(t *testing.T, err error) string {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok, "%v", err)
	return e.Field
}

// requireFailure checks the error of an operation: its code, and the parameter at
// fault or a path in it.
func requireFailure(t *testing.T, err error, op string, code boterr.Code, field string) {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok, "%s gives no *boterr.Error: %v", op, err)
	require.Equal(t, op, e.Op)
	require.Equal(t, code, e.Code, "%v", err)
	rest, found := strings.CutPrefix(e.Field, field)
	require.True(t, found && (rest == "" || rest[0] == '.' || rest[0] == '['), "the field is %q and should be %q: %v", e.Field, field, err)
}

// unknown takes the id on the platform away from members.
func unknown(memberIDs ...string) prepare {
	return func(t *testing.T, p *fakes.Platform, _ string) {
		t.Helper()
		for _, id := range memberIDs {
			_, err := caller(p).FindAndModifyMember(t.Context(), member.FindAndModifyMemberParams{
				Filter: document.O("_id", id), Patch: document.O("$unset", document.O("externalId", true)),
			})
			require.NoError(t, err)
		}
	}
}

// disconnected ends the connection with the platform of a channel.
func disconnected(channelID string) prepare {
	return func(_ *testing.T, p *fakes.Platform, _ string) { p.Disconnect(channelID) }
}

// called calls the operation once before, with the template's arguments.
func called(t *testing.T, p *fakes.Platform, operation string) {
	t.Helper()
	_, err := caller(p).Call(t.Context(), operation, json.RawMessage(arguments(t, p, operation)))
	require.NoError(t, err)
}

// limited calls the operation once before, after which its channel takes no more for an hour.
func limited(channelID string) prepare {
	return func(t *testing.T, p *fakes.Platform, operation string) {
		t.Helper()
		once := p.Fork()
		called(t, once, operation)
		p.LimitSends(channelID, len(once.Sent())-len(p.Sent()), time.Hour)
		called(t, p, operation)
	}
}

// pigeon makes a channel "loft" of a type for which there is no connector, with a member pia.
func pigeon(_ *testing.T, p *fakes.Platform, _ string) {
	p.AddChannel(channel.Channel{ID: "loft", Type: "pigeon", BroadcastGroups: supportAndSales()})
	p.AddMember(member.Member{ID: "pia", Channel: "loft"})
}

// ended ends the live chat of a member.
func ended(inlet, memberID string) prepare {
	return func(t *testing.T, p *fakes.Platform, _ string) {
		t.Helper()
		_, err := caller(p).Call(t.Context(), "inletEndLiveChat", json.RawMessage(
			`{"channel": {"_id": "`+inlet+`"}, "member": {"_id": "`+memberID+`"}}`))
		require.NoError(t, err)
	}
}
