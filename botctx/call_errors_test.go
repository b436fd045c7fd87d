package botctx_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
)

// failure is a call that causes one error in the table of operations.
type failure struct {
	// code and when identify the error: when is part of its sentence in the table.
	code boterr.Code
	when string
	// field is the parameter at fault, or a prefix of its path. It is "" if no parameter is at fault.
	field string
	// change is a JSON object of arguments that are added to the template or replace arguments in it.
	change string
	// prepare creates the condition for the failure. It is nil if the arguments alone cause the failure.
	prepare prepare
	// options are additional options of the platform.
	options []fakes.Option
}

// prepare creates the condition for a failure of an operation.
type prepare func(t *testing.T, p *fakes.Platform, operation string)

// errorOf returns a failure that is caused by its arguments alone.
func errorOf(code boterr.Code, when, field, change string) failure {
	return failure{code: code, when: when, field: field, change: change}
}

// after returns the failure with the given preparation.
func (f failure) after(prepare prepare) failure {
	f.prepare = prepare
	return f
}

func (f failure) on(options ...fakes.Option) failure {
	f.options = options
	return f
}

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

// shownElsewhere maps errors that no single call can cause to the tests that cover them.
func shownElsewhere() map[string]string {
	return map[string]string{
		"updateAgenda Conflict":                   "package agendas tests it at each moment of another call",
		"createAssignment Conflict":               "package livechats tests it at each moment of another call",
		"addNewTargetsToAssignment Conflict":      "package livechats tests it at each moment of another call",
		"reassignAssignment Conflict":             "package livechats tests it at each moment of another call",
		"redirectMemberToNode FailedPrecondition": "TestRuns_WaitForEachOther",
		"sendEmail Unsupported":                   "TestSendEmail_NoMailer",
		"uploadFileToObjectStore Unsupported":     "TestUpload_NoStore",
	}
}

// Each error in the table of operations must have a call here that causes it. The call must return the code and the
// field, and change nothing. Package botctxtest covers invalid parameters, missing records and channels of other types.
func TestCall_Errors(t *testing.T) {
	t.Parallel()
	platform, _ := newCaller(t)
	for _, operation := range operations.All() {
		given := failures()[operation.Name]
		t.Run(operation.Name, func(t *testing.T) {
			t.Parallel()
			for _, failure := range given {
				t.Run(string(failure.code)+" "+failure.when, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { // In real time, a slow machine could exceed the time limits of calls.
						failure.run(t, platform, operation.Name)
					})
				})
			}
			for _, listed := range operation.Errors {
				if listed.Code == boterr.InvalidArgument || listed.Code == boterr.NotFound || isOfOtherType(operation, listed) {
					continue // Package botctxtest checks these for each parameter.
				}
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

// isOfOtherType reports whether an error is the one for a channel whose type the operation does not support.
func isOfOtherType(operation operations.Operation, listed operations.Failure) bool {
	isForChannels := slices.ContainsFunc(operation.Parameters, func(p operations.Field) bool { return strings.HasPrefix(p.Name, "channel") })
	return listed.Code == boterr.Unsupported && isForChannels && len(operation.Platforms) > 0 && strings.Contains(listed.When, "not of type")
}

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
	if f.code != boterr.Unavailable && f.code != boterr.ResourceExhausted { // With these codes the call may have had effects.
		require.Equal(t, before, stateOf(t, p), "the failed call must change nothing")
	}
}

// requireFailure checks the operation, the code and the field of an error. field may be a prefix of the error's field.
func requireFailure(t *testing.T, err error, op string, code boterr.Code, field string) {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok, "%s gives no *boterr.Error: %v", op, err)
	require.Equal(t, op, e.Op)
	require.Equal(t, code, e.Code, "%v", err)
	rest, found := strings.CutPrefix(e.Field, field)
	require.True(t, found && (rest == "" || rest[0] == '.' || rest[0] == '['), "the field is %q and should be %q: %v", e.Field, field, err)
}

// unknown removes the platform ids of members.
func unknown(memberIDs ...string) prepare {
	return func(t *testing.T, p *fakes.Platform, _ string) {
		t.Helper()
		for _, id := range memberIDs {
			_, err := caller(p).FindAndModifyMember(t.Context(), member.FindAndModifyParams{
				Filter: document.O("_id", id), Patch: document.O("$unset", document.O("externalId", true)),
			})
			require.NoError(t, err)
		}
	}
}

// disconnected ends the connection with the platform of a channel.
func disconnected(channelID string) prepare {
	return func(_ *testing.T, p *fakes.Platform, _ string) {
		p.Inject(fakes.Down(fakes.ServiceMessages).Of(channelID))
	}
}

// called calls the operation with the arguments of its template.
func called(t *testing.T, p *fakes.Platform, operation string) {
	t.Helper()
	_, err := caller(p).Call(t.Context(), operation, json.RawMessage(arguments(t, p, operation)))
	require.NoError(t, err)
}

// limited calls the operation once. Afterwards the channel refuses messages for an hour.
func limited(channelID string) prepare {
	return func(t *testing.T, p *fakes.Platform, operation string) {
		t.Helper()
		once := p.Fork()
		called(t, once, operation)
		p.Inject(fakes.Limits(channelID, len(once.Sent())-len(p.Sent()), time.Hour))
		called(t, p, operation)
	}
}

// pigeon adds the channel "loft", whose type has no connector, and its member pia.
func pigeon(_ *testing.T, p *fakes.Platform, _ string) {
	p.AddChannel(channel.Channel{ID: "loft", Type: "pigeon", BroadcastGroups: supportAndSales()})
	p.AddMember(member.Member{ID: "pia", Channel: "loft"})
}

func ended(inlet, memberID string) prepare {
	return func(t *testing.T, p *fakes.Platform, _ string) {
		t.Helper()
		_, err := caller(p).Call(t.Context(), "inletEndLiveChat", json.RawMessage(
			`{"channel": {"_id": "`+inlet+`"}, "member": {"_id": "`+memberID+`"}}`))
		require.NoError(t, err)
	}
}

func recordFailures() map[string][]failure {
	return map[string][]failure{
		"findAndModifyMember": {
			errorOf(boterr.AlreadyExists, "externalId", "patch", `{"patch": {"$set": {"externalId": "external bob"}}}`),
			errorOf(boterr.Unsupported, "upsert", "option.upsert", `{"option": {"upsert": true}}`),
		},
		"patchMembers": {
			errorOf(boterr.AlreadyExists, "externalId", "patch", `{"patch": {"externalId": "external bob"}}`),
		},
		"updateMember": {
			errorOf(boterr.AlreadyExists, "externalId", "member", `{"member": {"_id": "member-1", "externalId": "external bob"}}`),
			errorOf(boterr.Conflict, "etag checks", "member.etag", `{"member": {"_id": "member-1", "etag": "old"}}`).on(fakes.Config(func(c *botctx.Config) { c.CheckEtags = true })),
		},
		"findAndModifyDataFromDataSource": {
			errorOf(boterr.AlreadyExists, "`option.upsert`", "_id", `{"filter": {"_id": "a", "taken": true}, "option": {"upsert": true}}`),
		},
		"patchDataToDataSource": {
			errorOf(boterr.AlreadyExists, "`options.upsert`", "_id", `{"filter": {"_id": "a", "taken": true}, "multi": false, "options": {"upsert": true}}`),
		},
	}
}

func agendaFailures() map[string][]failure {
	noZone := errorOf(boterr.Unavailable, "the member's time zone", "zone", `{"pattern": "0 9 * * *", "runUntil": 4102444800000}`).
		on(fakes.Config(func(c *botctx.Config) {
			c.Zone = func(context.Context, *member.Member) (string, error) { return "", boterr.Unavailable }
		}))
	return map[string][]failure{
		"newAgenda": {
			noZone,
		},
		"updateAgenda": {
			noZone,
		},
		"redirectMemberToNode": {
			errorOf(boterr.ResourceExhausted, "deeper", "nodeCompositeId", `{"nodeCompositeId": "round"}`).after(func(_ *testing.T, p *fakes.Platform, _ string) {
				p.Handle(&botctx.Node{ID: "round", Redirect: botctx.To("round")})
			}),
		},
	}
}

func sendFailures() map[string][]failure {
	toMembers := func(memberID, channelID string) []failure {
		return []failure{
			errorOf(boterr.FailedPrecondition, "no id on the platform", "memberId", `{}`).after(unknown(memberID)),
			errorOf(boterr.ResourceExhausted, "rate limit", "", `{"memberId": "`+memberID+`"}`).after(limited(channelID)),
		}
	}
	silent := func(memberID, channelID string) failure {
		return errorOf(boterr.Unavailable, "did not answer", "", `{"memberId": "`+memberID+`"}`).after(disconnected(channelID))
	}
	toSome := func(channelID, memberID, other string) failure {
		return errorOf(boterr.Unavailable, "for some of several", "", `{"memberId": ["`+memberID+`", "`+other+`"]}`).
			after(func(_ *testing.T, p *fakes.Platform, _ string) {
				p.Inject(fakes.Refuses("external "+other, boterr.FailedPrecondition).Of(channelID))
			})
	}
	return map[string][]failure{
		"sendResponse": append(toMembers("member-1", "channel-1"),
			errorOf(boterr.Unsupported, "no connector", "", `{"channelId": "loft", "memberId": "pia"}`).after(pigeon),
			silent("member-1", "channel-1"), toSome("channel-1", "member-1", "bob")),
		"sendAlphaResponse":            append(toMembers("paul", "page"), silent("paul", "page")),
		"sendAlphaResponseToMemberIds": append(toMembers("paul", "page"), toSome("page", "paul", "quinn")),
		"sendDeltaResponse":            append(toMembers("hal", "family"), silent("hal", "family"), toSome("family", "hal", "ivy")),
	}
}

func alphaFailures() map[string][]failure {
	toMember := func(memberID string) []failure {
		return []failure{errorOf(boterr.FailedPrecondition, "no id on the platform", "member", `{}`).after(unknown(memberID))}
	}
	return map[string][]failure{
		"alphaSendBroadcast": {
			errorOf(boterr.ResourceExhausted, "rate limit", "", `{}`).after(limited("page")),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(disconnected("page")),
		},
		"alphaPassThreadControl": append(toMember("tess"),
			errorOf(boterr.FailedPrecondition, "another application", "", `{}`).after(called)),
		"alphaSaveCustomLabel":   toMember("paul"),
		"alphaRemoveCustomLabel": toMember("paul"),
	}
}

// platformFailures returns the failures of operations of single platforms other than Alpha, and of comments on posts.
func platformFailures() map[string][]failure {
	return map[string][]failure{
		"sendHotelResponse": {
			errorOf(boterr.ResourceExhausted, "rate limit", "", `{}`).after(limited("hotel")),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(disconnected("hotel")),
		},
		"updateMessage": {
			errorOf(boterr.Unsupported, "cannot change messages", "channel", `{"channel": {"_id": "page"}}`),
		},
		"EchoSaveMemberTag": {
			errorOf(boterr.FailedPrecondition, "no id on the platform", "member", `{}`).after(unknown("saul")),
		},
	}
}

// utilityFailures returns the failures of mail, payments and uploads.
func utilityFailures() map[string][]failure {
	return map[string][]failure{
		"sendEmail": {
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(func(_ *testing.T, p *fakes.Platform, _ string) {
				p.Inject(fakes.Fails(fakes.ServiceMail, io.ErrUnexpectedEOF))
			}),
		},
		"uploadFileToObjectStore": {
			errorOf(boterr.ResourceExhausted, "larger", "url", `{}`).on(fakes.Config(func(c *botctx.Config) { c.Upload.MaxBytes = 5 })),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(func(_ *testing.T, p *fakes.Platform, _ string) {
				p.Inject(fakes.Fails(fakes.ServiceFiles, io.ErrUnexpectedEOF))
			}),
		},
	}
}

func assignmentFailures() map[string][]failure {
	return map[string][]failure{
		"createAssignment": {
			errorOf(boterr.FailedPrecondition, "No outlet can take", "label", `{"label": "night"}`),
			errorOf(boterr.FailedPrecondition, "no id on the platform", "member", `{}`).after(unknown("member-1")),
			errorOf(boterr.Unsupported, "no connector", "", `{}`).after(func(t *testing.T, p *fakes.Platform, operation string) {
				t.Helper()
				pigeon(t, p, operation)
				p.Pair("channel-1", "desk", "loft")
			}),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(disconnected("desk")),
		},
		"addNewTargetsToAssignment": {
			errorOf(boterr.FailedPrecondition, "has been taken", "assignmentId", `{"assignmentId": "<dora's assignment>"}`),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(disconnected("desk")),
		},
		"reassignAssignment": {
			errorOf(boterr.FailedPrecondition, "has ended, or no outlet", "label", `{"label": "night"}`),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(disconnected("desk")),
		},
		"endLiveChat": {
			errorOf(boterr.FailedPrecondition, "has ended", "messageEvent", `{}`).after(called),
		},
		"inletEndLiveChat": {
			errorOf(boterr.FailedPrecondition, "no open assignment", "member", `{"member": {"_id": "member-1"}}`),
			errorOf(boterr.Unsupported, "cannot recall", "options.recallRelayMessage", `{"channel": {"_id": "family"}, "member": {"_id": "hal"}}`),
		},
	}
}

func groupFailures() map[string][]failure {
	return map[string][]failure{
		"setBravoGroupIcon": {
			errorOf(boterr.ResourceExhausted, "larger than", "imageUrl", `{"imageUrl": "https://shop.example/huge.png"}`).
				after(func(_ *testing.T, p *fakes.Platform, _ string) {
					huge := strings.Repeat("a", outbound.DefaultMaxResponseBytes+1)
					p.HTTP.Add("GET", "https://shop.example/huge.png", web.Reply{Header: pngHeader(), Body: huge})
				}),
		},
	}
}

// sideFailures returns the failures of sends from one side of a live chat to the other.
func sideFailures() map[string][]failure {
	ofGroups := func(inlet, memberID, channelID string) []failure {
		return []failure{
			errorOf(boterr.FailedPrecondition, "no longer live", "group", `{}`).after(ended(inlet, memberID)),
			errorOf(boterr.ResourceExhausted, "rate limit", "", `{}`).after(limited(channelID)),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(disconnected(channelID)),
		}
	}
	return map[string][]failure{
		"sendMessageToInlet": {
			errorOf(boterr.FailedPrecondition, "no id on the platform", "", `{}`).after(unknown("dora")),
			errorOf(boterr.Unsupported, "no connector", "", `{"channel": {"_id": "outlet of pia"}, "messageEvent": {"from": "<pia's agent>", "to": "<pia's conversation>"}}`).
				after(func(t *testing.T, p *fakes.Platform, operation string) {
					t.Helper()
					pigeon(t, p, operation)
					serve(t, p, "loft", "pia", channel.Charlie)
				}),
			errorOf(boterr.ResourceExhausted, "rate limit", "", `{}`).after(limited("channel-1")),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(disconnected("channel-1")),
		},
		"sendMessageToInletGroup": append(ofGroups("family", "ivy", "family"),
			errorOf(boterr.Unsupported, "not of type", "group", `{"groupId": "<dora's group>"}`)),
		"sendMessageToOutletGroup": append(ofGroups("channel-1", "dora", "desk"),
			errorOf(boterr.Unsupported, "not of type", "group", `{"groupId": "<saul's group>"}`).after(func(t *testing.T, p *fakes.Platform, _ string) {
				t.Helper()
				serve(t, p, "account", "saul", channel.Hotel)
			}),
			errorOf(boterr.FailedPrecondition, "`responseUrl`", "responseUrl", `{"responseUrl": "https://answers.example/old"}`).
				after(func(_ *testing.T, p *fakes.Platform, _ string) {
					p.ReplyHTTP("POST", "https://answers.example/old", web.Text(http.StatusNotFound, "expired_url"))
				})),
	}
}
