package botctx_test

import (
	"io"
	"strings"
	"testing"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/send"
)

// sendFailures are those of the sends to members of one channel.
func sendFailures() map[string][]failure {
	toMembers := func(memberID, channelID string) []failure {
		return []failure{
			errorOf(boterr.InvalidArgument, "different records", "channelId", `{"channel": {"_id": "account"}}`),
			errorOf(boterr.InvalidArgument, "breaks a limit", "response.text", noText),
			errorOf(boterr.InvalidArgument, "is in another channel", "memberId", `{"memberId": "saul"}`),
			errorOf(boterr.NotFound, "does not exist", "memberId", `{"memberId": "none"}`),
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
				p.RefuseSendsTo(boterr.FailedPrecondition, channelID, "external "+other)
			})
	}
	notOnPlatform := errorOf(boterr.Unsupported, "not of type", "channelId", `{"channelId": "account", "memberId": "saul"}`)
	return map[string][]failure{
		"sendResponse": append(toMembers("member-1", "channel-1"),
			errorOf(boterr.Unsupported, "no connector", "", `{"channelId": "loft", "memberId": "pia"}`).after(pigeon),
			silent("member-1", "channel-1"), toSome("channel-1", "member-1", "bob")),
		"sendAlphaResponse":            append(toMembers("paul", "page"), notOnPlatform, silent("paul", "page")),
		"sendAlphaResponseToMemberIds": append(toMembers("paul", "page"), notOnPlatform, toSome("page", "paul", "quinn")),
		"sendDeltaResponse":            append(toMembers("hal", "family"), notOnPlatform, silent("hal", "family"), toSome("family", "hal", "ivy")),
	}
}

// alphaFailures are those of what Alpha alone can do.
func alphaFailures() map[string][]failure {
	notOnAlpha := errorOf(boterr.Unsupported, "not of type alpha", "channel", `{"channel": {"_id": "account"}, "member": {"_id": "saul"}}`)
	noChannel := errorOf(boterr.NotFound, "channel", "channel", `{"channel": {"_id": "none"}}`)
	toMember := func(memberID string) []failure {
		return []failure{
			notOnAlpha, noChannel,
			errorOf(boterr.InvalidArgument, "is in another channel", "member", `{"member": {"_id": "saul"}}`),
			errorOf(boterr.FailedPrecondition, "no id on the platform", "member", `{}`).after(unknown(memberID)),
		}
	}
	return map[string][]failure{
		"alphaCreateBroadcast": {notOnAlpha, noChannel, errorOf(boterr.InvalidArgument, "breaks a limit", "response.text", noText)},
		"alphaSendBroadcast": {
			notOnAlpha,
			errorOf(boterr.InvalidArgument, "holds no id", "broadcastId", `{"broadcastId": {}}`),
			errorOf(boterr.NotFound, "message or label", "", `{"labelId": "none"}`),
			errorOf(boterr.ResourceExhausted, "rate limit", "", `{}`).after(limited("page")),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(disconnected("page")),
		},
		"alphaGetAttachmentId": {
			notOnAlpha, noChannel, errorOf(boterr.InvalidArgument, "no kind of file", "type", `{"type": "template"}`),
		},
		"alphaPassThreadControl": append(toMember("tess"),
			errorOf(boterr.FailedPrecondition, "another application", "", `{}`).after(called)),
		"alphaSaveCustomLabel":   toMember("paul"),
		"alphaRemoveCustomLabel": toMember("paul"),
	}
}

// platformFailures are those of what another platform alone can do, and of the comments on posts.
func platformFailures() map[string][]failure {
	noChannel := errorOf(boterr.NotFound, "channel", "channel", `{"channel": {"_id": "none"}}`)
	onPage := `{"channel": {"_id": "page"}, "member": {"_id": "paul"}}`
	return map[string][]failure{
		"sendHotelResponse": {
			noChannel,
			errorOf(boterr.InvalidArgument, "`receiverType` is `user`", "recipientId", `{"recipientId": null}`),
			errorOf(boterr.InvalidArgument, "breaks a limit", "response.text", noText),
			errorOf(boterr.Unsupported, "not of type hotel", "channel", onPage),
			errorOf(boterr.ResourceExhausted, "rate limit", "", `{}`).after(limited("hotel")),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(disconnected("hotel")),
		},
		"savePostCommentAnalytics": {
			errorOf(boterr.InvalidArgument, "is in another channel", "memberId", `{"memberId": "paul"}`),
			errorOf(boterr.NotFound, "does not exist", "memberId", `{"memberId": "none"}`),
		},
		"charlieArchiveConversation": {
			errorOf(boterr.InvalidArgument, "does not say which conversation", "messageEvent.to", `{"messageEvent": {"from": "u"}}`),
			errorOf(boterr.NotFound, "no such conversation", "", `{"messageEvent": {"to": "D999999"}}`),
			errorOf(boterr.Unsupported, "not of type charlie", "channel", onPage),
		},
		"updateMessage": {
			errorOf(boterr.InvalidArgument, "different messages", "messageTs", `{"messageEvent": {"messageId": "1.000001"}}`),
			errorOf(boterr.InvalidArgument, "characters", "text", `{"text": "`+strings.Repeat("é", send.MaxText+1)+`"}`),
			errorOf(boterr.NotFound, "no such message", "", `{"messageTs": "1.000001"}`),
			errorOf(boterr.Unsupported, "cannot change messages", "channel", onPage),
		},
		"EchoSaveMemberTag": {
			errorOf(boterr.InvalidArgument, "is in another channel", "member", `{"member": {"_id": "paul"}}`),
			errorOf(boterr.InvalidArgument, "is negative", "tagId", `{"tagId": -1}`),
			errorOf(boterr.NotFound, "does not exist", "member", `{"member": {"_id": "none"}}`),
			errorOf(boterr.FailedPrecondition, "no id on the platform", "member", `{}`).after(unknown("saul")),
			errorOf(boterr.Unsupported, "not of type echo", "channel", onPage),
		},
	}
}

// utilityFailures are those of the operations that mail, charge and upload.
func utilityFailures() map[string][]failure {
	return map[string][]failure{
		"sendEmail": {
			errorOf(boterr.InvalidArgument, "cannot be read", "destination.ToAddresses", `{"destination": {"ToAddresses": ["ada"]}}`),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(func(_ *testing.T, p *fakes.Platform, _ string) {
				p.FailNextMail(io.ErrUnexpectedEOF)
			}),
		},
		"golf": {notFound("no account", "golfName")},
		"uploadFileToObjectStore": {
			errorOf(boterr.InvalidArgument, "no HTTP address", "url", `{"url": "ftp://shop.example/bill"}`),
			errorOf(boterr.InvalidArgument, "could not be a name", "filename", `{"filename": "../7.pdf"}`),
			notFound("channel does not exist", "channel"),
			errorOf(boterr.ResourceExhausted, "larger", "url", `{}`).on(fakes.Config(func(c *botctx.Config) { c.Upload.MaxBytes = 5 })),
			errorOf(boterr.Unavailable, "did not answer", "", `{}`).after(func(_ *testing.T, p *fakes.Platform, _ string) {
				p.FailNextFile(io.ErrUnexpectedEOF)
			}),
		},
	}
}
