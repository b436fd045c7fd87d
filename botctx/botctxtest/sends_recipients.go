package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var recipientRules = []Rule{
	{
		Name:  "SendResponseReachesSeveralMembers",
		Text:  "a message to several members reaches each once, filled for each, with a result for each in their order",
		Needs: []Capability{readSent},
		check: sendResponseReachesSeveralMembers,
	},
	{
		Name:  "SendResponseLoadsRecordsAgain",
		Text:  "of a channel and a member that are passed in only the _id counts: the records are loaded again",
		Needs: []Capability{readSent},
		check: sendResponseTakesRecordsAsAddresses,
	},
	{
		Name:  "SendResponseTakesAnotherChannel",
		Text:  "a message goes through the channel that is named, to members of that channel",
		Needs: []Capability{readSent},
		check: sendResponseTakesAnotherChannel,
	},
	{
		Name:  "SendResponseGoesToTheGroup",
		Text:  "in a group a message that names nobody goes there, filled from the member; who is named gets it alone",
		Needs: []Capability{readSent},
		check: sendResponseGoesToTheGroup,
	},
	{
		Name:  "SendResponseSendsToAllOrNone",
		Text:  "everything is checked before the first message goes out",
		check: sendResponseSendsToAllOrNone,
	},
	{
		Name:  "SendResponseNeedsAnExternalID",
		Text:  "a member whom the platform does not know is FailedPrecondition, and nothing is sent",
		Needs: []Capability{Members},
		check: sendResponseNeedsAnExternalID,
	},
}

func sendResponseReachesSeveralMembers(t *trial) {
	bob, eve := t.neighbour(member.Member{FirstName: "Bob"}), t.neighbour(member.Member{FirstName: "Eve"})
	sent := t.send(send.SendResponseParams{
		MemberID: document.One(eve.ID, t.home.member.ID, bob.ID, eve.ID), Response: send.Template("Hello {{firstName}}"),
	})
	t.requireSent(
		to(eve, send.Text("Hello Eve")), to(t.home.member, send.Text("Hello Ada")), to(bob, send.Text("Hello Bob")))
	require.Len(t, sent.Results, 3)
	for _, result := range sent.Results {
		require.NoError(t, result.Err)
	}
	if t.offers(commonShape) {
		require.Equal(t, eve.ExternalID, sent.Results[0].MessageEvent.To)
		require.Equal(t, bob.ExternalID, sent.Results[2].MessageEvent.To)
	}
}

func sendResponseTakesRecordsAsAddresses(t *trial) {
	t.send(send.SendResponseParams{
		Channel: &channel.Channel{ID: t.home.channel.ID, App: t.away.scope.App, Type: "forged"},
		Member: &member.Member{
			ID: t.home.member.ID, App: t.away.scope.App, Channel: "forged", ExternalID: "forged", FirstName: "Forged",
		},
		Response: send.Template("Hello {{firstName}}"),
	})
	t.requireSent(to(t.home.member, send.Text("Hello Ada")))
}

func sendResponseTakesAnotherChannel(t *trial) {
	second := t.newChannel(t.home.scope.App)
	there := t.newMember(member.Member{App: second.App, Channel: second.ID})
	for _, params := range []send.SendResponseParams{
		{ChannelID: second.ID, MemberID: document.One(there.ID)},
		{Channel: second, Member: there},
		{Channel: second, ChannelID: second.ID, Member: there, MemberID: document.One(there.ID)},
	} {
		params.Response = send.Text("Hello")
		t.send(params)
	}
	hello := to(there, send.Text("Hello"))
	t.requireSent(hello, hello, hello)
}

func sendResponseGoesToTheGroup(t *trial) {
	family := unique("family")
	inFamily := t.inGroup(t.home, family)
	for _, params := range []send.SendResponseParams{
		{}, {ChannelID: t.home.channel.ID}, {MemberID: document.One(t.home.member.ID)}, {Member: t.home.member},
	} {
		params.Response = send.Template("Hello {{firstName}}")
		_, err := inFamily.SendResponse(t.ctx(), params)
		require.NoError(t, err)
	}
	alone := to(t.home.member, send.Text("Hello Ada"))
	there := Sent{Channel: t.home.channel.ID, To: family, Response: send.Text("Hello Ada")}
	t.requireSent(there, there, alone, alone)
}

func sendResponseSendsToAllOrNone(t *trial) {
	bob, eve := t.neighbour(member.Member{FirstName: "Bob"}), t.neighbour(member.Member{})
	several := document.One(bob.ID, eve.ID)
	t.try("a text that is empty for one", func(t *trial) {
		t.requireNothingSent(boterr.InvalidArgument, "response.text", send.SendResponseParams{
			MemberID: several, Response: send.Template("{{firstName}}"),
		})
	})
	t.try("a member that does not exist", func(t *trial) {
		t.requireNothingSent(boterr.NotFound, "memberId", send.SendResponseParams{MemberID: append(several, "nobody")})
	})
}

func sendResponseNeedsAnExternalID(t *trial) {
	bob := t.neighbour(member.Member{})
	t.update("_id", bob.ID, "externalId", "")
	t.requireNothingSent(boterr.FailedPrecondition, "memberId", send.SendResponseParams{MemberID: document.One(bob.ID)})
	t.requireNothingSent(boterr.FailedPrecondition, "memberId", send.SendResponseParams{
		MemberID: document.One(t.home.member.ID, bob.ID),
	})
}
