package fakes_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// page is a channel on a platform with two members.
type page struct {
	*fakes.Platform
	ada, lise *fakes.Actor
}

func pageOn(t *testing.T, platform channel.Type) *page {
	t.Helper()
	p := fakes.New(fakes.For(t))
	in := p.AddChannel(channel.Channel{ID: "page", Type: platform})
	return &page{
		Platform: p,
		ada:      p.AddMember(member.Member{Channel: in.ID, FirstName: "Ada"}),
		lise:     p.AddMember(member.Member{Channel: in.ID, FirstName: "Lise"}),
	}
}

// call calls an operation for Ada and returns its result as an object.
func (p *page) call(t *testing.T, name, args string) (document.Object, error) {
	t.Helper()
	text, err := p.ada.Context().Call(t.Context(), name, []byte(args))
	if err != nil {
		return document.Object{}, err
	}
	value, err := document.ParseJSON(text)
	require.NoError(t, err)
	return value.(document.Object), nil
}

// mustCall is call where the operation succeeds.
func (p *page) mustCall(t *testing.T, name, args string) document.Object {
	t.Helper()
	result, err := p.call(t, name, args)
	require.NoError(t, err)
	return result
}

func TestLabels_OnMember(t *testing.T) {
	t.Parallel()
	p := pageOn(t, channel.Alpha)
	p.mustCall(t, "alphaSaveCustomLabel", `{"labelId": "buyers"}`)
	p.mustCall(t, "alphaSaveCustomLabel", `{"labelId": "buyers"}`)
	require.Equal(t, []string{"buyers"}, p.ada.Labels())
	p.mustCall(t, "alphaRemoveCustomLabel", `{"labelId": "buyers"}`)
	require.Empty(t, p.ada.Labels())
}

func TestBroadcasts_CreatedThenSent(t *testing.T) {
	t.Parallel()
	p := pageOn(t, channel.Alpha)
	p.mustCall(t, "alphaSaveCustomLabel", `{"labelId": "buyers"}`)
	stored := p.mustCall(t, "alphaCreateBroadcast", `{"response": {"type": "TEXT", "text": "Hello {{firstName}}"}}`)
	first, _ := stored.Lookup("result.0.response")
	sent := p.mustCall(t, "alphaSendBroadcast",
		fmt.Sprintf(`{"broadcastId": %v, "labelId": "buyers", "notificationType": "REGULAR"}`, first))
	require.Equal(t, p.Broadcasts("page")[0].ID, document.Get(sent, "broadcast_id", int64(0)))
	require.Equal(t, "Hello {{firstName}}", p.ada.Last())
	require.Empty(t, p.lise.Messages())
	require.NotContains(t, p.Transcript(), "token-of-page")
}

func TestAttachments_SentByID(t *testing.T) {
	t.Parallel()
	p := pageOn(t, channel.Alpha)
	given := p.mustCall(t, "alphaGetAttachmentId", `{"type": "image", "url": "https://shop.example/kettle.png"}`)
	id := document.Get(given, "attachment_id", "")
	require.Equal(t, p.Attachments("page")[0].ID, id)
	p.mustCall(t, "sendResponse", fmt.Sprintf(`{"response": {"type": "IMAGE", "attachment_id": %q}}`, id))
	_, err := p.call(t, "sendResponse", `{"response": {"type": "IMAGE", "attachment_id": "8"}}`)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	refused, _ := boterr.AsError(err)
	require.Equal(t, "response.attachment_id", refused.Field)
}

func TestThread_BotWaitsForReturn(t *testing.T) {
	t.Parallel()
	p := pageOn(t, channel.Alpha)
	p.mustCall(t, "alphaPassThreadControl", `{}`)
	require.False(t, p.ada.Thread().IsWithBot())
	_, err := p.call(t, "sendResponse", `{"response": {"type": "TEXT", "text": "hi"}}`)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	p.ada.ReturnThread()
	p.mustCall(t, "sendResponse", `{"response": {"type": "TEXT", "text": "hi"}}`)
}

func TestTags_BeyondTheLimit(t *testing.T) {
	t.Parallel()
	p := pageOn(t, channel.Echo)
	for id := range send.MaxMemberTags {
		saved := p.mustCall(t, "EchoSaveMemberTag", fmt.Sprintf(`{"tagId": %d}`, id))
		require.Equal(t, document.O("errcode", 0, "errmsg", "ok"), saved)
	}
	refused := p.mustCall(t, "EchoSaveMemberTag", fmt.Sprintf(`{"tagId": %d}`, send.MaxMemberTags))
	require.Equal(t, 45059, document.Get(refused, "errcode", 0))
	require.Len(t, p.ada.Tags(), send.MaxMemberTags)
}

func TestSendResponse_TimestampFindsIt(t *testing.T) {
	t.Parallel()
	p := pageOn(t, channel.Charlie)
	sent := p.mustCall(t, "sendResponse", `{"response": {"type": "TEXT", "text": "kettle?"}}`)
	conversation, ts := document.Get(sent, "channel", ""), document.Get(sent, "ts", "")
	changed := p.mustCall(t, "updateMessage",
		fmt.Sprintf(`{"externalChannelId": %q, "messageTs": %q, "text": "Kettle!"}`, conversation, ts))
	require.Equal(t, document.O("ok", true, "channel", conversation, "ts", ts, "text", "Kettle!"), changed)
	require.Equal(t, "Kettle!", p.Sent()[0].Shown.Text())
}

func TestIsArchived(t *testing.T) {
	t.Parallel()
	p := pageOn(t, channel.Charlie)
	sent := p.mustCall(t, "sendResponse", `{"response": {"type": "TEXT", "text": "Goodbye."}}`)
	conversation := document.Get(sent, "channel", "")
	p.mustCall(t, "charlieArchiveConversation", fmt.Sprintf(`{"messageEvent": {"to": %q}}`, conversation))
	require.True(t, p.IsArchived("page", conversation))
	_, err := p.call(t, "sendResponse", `{"response": {"type": "TEXT", "text": "One thing more."}}`)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
}

func TestRefuseSends_SomeOfSeveral(t *testing.T) {
	t.Parallel()
	for _, platform := range []channel.Type{channel.Webchat, channel.Alpha, channel.Delta} {
		p := pageOn(t, platform)
		p.RefuseSends(boterr.FailedPrecondition, p.ada)
		_, err := p.ada.Context().SendResponse(t.Context(), send.SendResponseParams{
			MemberID: document.OneOrMany[string]{p.ada.ID(), p.lise.ID()}, Response: send.Text("hi"),
		})
		undelivered, isUndelivered := errors.AsType[*send.UndeliveredError](err)
		require.True(t, isUndelivered)
		require.Len(t, undelivered.Failures, 1)
		require.Equal(t, p.ada.ID(), undelivered.Failures[0].MemberID)
		require.ErrorIs(t, undelivered.Failures[0].Err, boterr.FailedPrecondition)
		require.Equal(t, "hi", p.lise.Last())
	}
}

func TestSendDeltaResponse_EachMember(t *testing.T) {
	t.Parallel()
	p := pageOn(t, channel.Delta)
	p.RefuseSends(boterr.NotFound, p.lise)
	result, err := p.ada.Context().SendDeltaResponse(t.Context(), send.SendDeltaResponseParams{
		MemberID: document.OneOrMany[string]{p.ada.ID(), p.lise.ID()}, Response: send.Template("hi {{firstName}}"),
	})
	require.ErrorIs(t, err, boterr.Unavailable)
	require.Equal(t, "PARTIAL", result.Status)
	require.NoError(t, result.Results[0].Err)
	require.ErrorIs(t, result.Results[1].Err, boterr.NotFound)
	require.Equal(t, "hi Ada", p.ada.Last())
}

func TestLimitSends_UntilItsTime(t *testing.T) {
	t.Parallel()
	p := pageOn(t, channel.Bravo)
	p.LimitSends("page", 1, time.Minute)
	p.mustCall(t, "sendResponse", `{"response": {"type": "TEXT", "text": "1"}}`)
	_, err := p.call(t, "sendResponse", `{"response": {"type": "TEXT", "text": "2"}}`)
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	p.Advance(time.Minute)
	p.mustCall(t, "sendResponse", `{"response": {"type": "TEXT", "text": "2"}}`)
}

func TestPostComments(t *testing.T) {
	t.Parallel()
	p := pageOn(t, channel.Alpha)
	require.Empty(t, p.PostComments())
	for _, text := range []string{"kettle", "tea"} {
		p.mustCall(t, "savePostCommentAnalytics",
			fmt.Sprintf(`{"comment": %q, "fbId": "7", "name": "Ada", "postId": "42", "isMatched": true}`, text))
	}
	require.Len(t, p.PostComments(), 2)
	require.Equal(t, "kettle", p.PostComments()[0].Comment)
	require.True(t, p.PostComments()[1].IsMatched)
}
