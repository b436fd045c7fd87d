package botctx_test

import (
	"strings"
	"testing"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/outbound"
)

const (
	// ofNobody is an event that belongs to no live chat.
	ofNobody = `{"messageEvent": {"from": "nobody", "to": "nowhere"}}`
	// noText is a message without its text, onDesk a channel on Charlie by its record.
	noText = `{"response": {"type": "TEXT"}}`
	onDesk = `{"channel": {"_id": "desk"}}`
)

// notFound are the failures of an operation that finds nothing under an id.
func notFound(when, parameter string) failure {
	return errorOf(boterr.NotFound, when, parameter, `{"`+parameter+`": "none"}`)
}

// assignmentFailures are those of the operations on assignments.
func assignmentFailures() map[string][]failure {
	return map[string][]failure{
		"createAssignment": {
			errorOf(boterr.InvalidArgument, "no target", "targets[0].channel", `{"targets": [{}]}`),
			errorOf(boterr.NotFound, "does not exist", "member._id", `{"member": {"_id": "nobody"}}`),
			errorOf(boterr.FailedPrecondition, "Nothing can take", "label", `{"label": "night"}`),
			errorOf(boterr.FailedPrecondition, "no id on the platform", "member", `{}`).after(unknown("member-1")),
			errorOf(boterr.Unsupported, "no connector", "", `{}`).after(func(t *testing.T, p *fakes.Platform, operation string) {
				t.Helper()
				pigeon(t, p, operation)
				p.Pair("channel-1", "desk", "loft")
			}),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(disconnected("desk")),
		},
		"addNewTargetsToAssignment": {
			errorOf(boterr.InvalidArgument, "neither a target nor", "targets[0]", `{"targets": [{"id": "a", "type": "team"}]}`),
			notFound("no assignment", "assignmentId"),
			errorOf(boterr.FailedPrecondition, "has been taken", "assignmentId", `{"assignmentId": "<dora's assignment>"}`),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(disconnected("desk")),
		},
		"reassignAssignment": {
			errorOf(boterr.InvalidArgument, "is not the assignment", "previousAssignment", `{"previousAssignment": {"_id": "another"}}`),
			errorOf(boterr.NotFound, "No assignment belongs", "messageEvent", ofNobody),
			errorOf(boterr.FailedPrecondition, "has ended, or nothing", "label", `{"label": "night"}`),
			errorOf(boterr.Unsupported, "not of type", "channel", `{"channel": {"_id": "hotel"}}`),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(disconnected("desk")),
		},
		"getAssignmentsByMemberId": {errorOf(boterr.InvalidArgument, "other than 1 and -1", "sortBy.createdAt", `{"sortBy": {"createdAt": 2}}`)},
		"getAssignmentsByMeta":     {errorOf(boterr.InvalidArgument, "operator", "meta", `{"meta": {"tier": {"$ne": 1}}}`)},
		"updateAssignmentGroup":    {errorOf(boterr.NotFound, "no group", "group._id", `{"group": {"_id": "none"}}`)},
		"endLiveChat": {
			errorOf(boterr.NotFound, "no assignment belongs", "messageEvent", ofNobody),
			errorOf(boterr.FailedPrecondition, "has ended", "messageEvent", `{}`).after(called),
		},
		"inletEndLiveChat": {
			errorOf(boterr.NotFound, "channel or the member", "member", `{"member": {"_id": "nobody"}}`),
			errorOf(boterr.FailedPrecondition, "no assignment that is open", "member", `{"member": {"_id": "member-1"}}`),
			errorOf(boterr.Unsupported, "cannot recall", "options.recallRelayMessage", `{"channel": {"_id": "family"}, "member": {"_id": "hal"}}`),
		},
		"endBravoLiveChat": {
			errorOf(boterr.InvalidArgument, "different records", "channelId", onDesk),
			notFound("no such group", "bravoGroupId"),
			errorOf(boterr.Unsupported, "not of type bravo", "channelId", `{"channelId": "desk"}`),
		},
	}
}

// groupFailures are those of the operations on groups and agents.
func groupFailures() map[string][]failure {
	notOnBravo := errorOf(boterr.Unsupported, "not of type bravo", "channel", onDesk)
	return map[string][]failure{
		"getGroupByExternalId": {notFound("No group fits", "adminExternalId")},
		"getGroupByInletGroup": {notFound("No group fits", "inletGroupExternalId")},
		"getGroupByMemberId":   {notFound("No group fits", "memberId")},
		"updateGroup": {
			errorOf(boterr.InvalidArgument, "would change app", "group.app", `{"group": {"_id": "<dora's group>", "app": "elsewhere"}}`),
			errorOf(boterr.NotFound, "no group", "group._id", `{"group": {"_id": "none", "name": "x"}}`),
		},
		"handleAdminJoinedGroup":      {notFound("no such group", "bravoGroupId"), notOnBravo},
		"disableBravoGroupInviteLink": {notFound("no such group", "externalId"), notOnBravo},
		"createBravoGroup": {
			notFound("channel does not exist", "channelId"),
			errorOf(boterr.Unsupported, "not of type bravo", "channelId", `{"channelId": "desk"}`),
		},
		"setBravoGroupIcon": {
			errorOf(boterr.InvalidArgument, "no HTTP address", "imageUrl", `{"imageUrl": "kettle.png"}`),
			notFound("no such group", "bravoGroupId"),
			errorOf(boterr.ResourceExhausted, "larger than", "imageUrl", `{"imageUrl": "https://shop.example/huge.png"}`).
				after(func(_ *testing.T, p *fakes.Platform, _ string) {
					huge := strings.Repeat("a", outbound.DefaultMaxResponseBytes+1)
					p.HTTP.Add("GET", "https://shop.example/huge.png", web.Reply{Header: pngHeader(), Body: huge})
				}),
			errorOf(boterr.Unsupported, "not of type bravo", "channelId", `{"channelId": "desk"}`),
		},
		"createHotelChannel": {
			errorOf(boterr.NotFound, "channel does not exist", "channel", `{"channel": {"_id": "none"}}`),
			errorOf(boterr.Unsupported, "not of type hotel", "channel", onDesk),
		},
	}
}

// sideFailures are those of the sends from one side of a live chat to the other.
func sideFailures() map[string][]failure {
	ofGroups := func(inlet, memberID, channelID string) []failure {
		return []failure{
			errorOf(boterr.InvalidArgument, "name different groups", "groupId", `{"group": {"_id": "another"}}`),
			errorOf(boterr.InvalidArgument, "breaks a limit", "response.text", noText),
			notFound("no group", "groupId"),
			errorOf(boterr.FailedPrecondition, "not live any more", "group", `{}`).after(ended(inlet, memberID)),
			errorOf(boterr.ResourceExhausted, "rate limit", "", `{}`).after(limited(channelID)),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(disconnected(channelID)),
		}
	}
	return map[string][]failure{
		"sendMessageToInlet": {
			errorOf(boterr.InvalidArgument, "breaks a limit", "response.text", noText),
			errorOf(boterr.NotFound, "no assignment belongs", "messageEvent", ofNobody),
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
			errorOf(boterr.InvalidArgument, "`responseUrl`", "responseUrl", `{"responseUrl": "ftp://hooks.example/7"}`),
			errorOf(boterr.Unsupported, "not of type", "group", `{"groupId": "<saul's group>"}`).after(func(t *testing.T, p *fakes.Platform, _ string) {
				t.Helper()
				serve(t, p, "account", "saul", channel.Hotel)
			})),
		"saveGroupIdToMember": {errorOf(boterr.NotFound, "no group or member belongs", "messageEvent", ofNobody)},
	}
}
