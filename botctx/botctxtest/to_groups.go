package botctxtest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// groupSend is an operation that sends to the group on one side of a live chat.
type groupSend struct {
	name string
	op   botctx.Op
	// allowed are the types of channels with groups on that side.
	allowed []channel.Type
	// send calls the operation for a place.
	send func(ctx context.Context, p *place, params toGroupParams) (send.Result, error)
	// begin starts a live chat whose group on that side is on a platform. It also returns the ids of the channel and
	// the group.
	begin func(t *trial, platform channel.Type) (k talk, channelID, externalID string)
	// side is the field of the group's record with the id of the channel.
	side string
}

// toGroupParams are the parameters that all operations in groupSends have.
type toGroupParams struct {
	group    *livechat.Group
	groupID  string
	response send.Response
}

var groupSends = []groupSend{
	{
		"SendMessageToInletGroup", botctx.OpSendMessageToInletGroup,
		channel.InletGroups.Types(),
		func(ctx context.Context, p *place, params toGroupParams) (send.Result, error) {
			return p.SendMessageToInletGroup(ctx, livechat.SendMessageToInletGroupParams{
				Group: params.group, GroupID: params.groupID, Response: params.response,
			})
		},
		func(t *trial, platform channel.Type) (talk, string, string) {
			inlet := t.inletOn(platform)
			return t.talkInFamily(inlet), inlet.channel.ID, familyOf(inlet.member.ID)
		},
		"inlet",
	},
	{
		"SendMessageToOutletGroup", botctx.OpSendMessageToOutletGroup,
		channel.OutletGroups.Types(),
		func(ctx context.Context, p *place, params toGroupParams) (send.Result, error) {
			return p.SendMessageToOutletGroup(ctx, livechat.SendMessageToOutletGroupParams{
				Group: params.group, GroupID: params.groupID, Response: params.response,
			})
		},
		func(t *trial, platform channel.Type) (talk, string, string) {
			k := t.talkOn(platform)
			return k, k.desk.ID, k.group.ExternalID
		},
		"outlet",
	},
}

// toGroupRules returns the rules about the operations in groupSends.
func toGroupRules() []Rule {
	var rules []Rule
	for _, g := range groupSends {
		for _, platform := range g.allowed {
			rules = append(rules, Rule{
				Name:  g.name + "On" + strings.ToUpper(string(platform[:1])) + string(platform[1:]),
				Text:  "a message goes to the group, filled from the member of the live chat, and the result has the platform's shape",
				Needs: []Capability{On(platform), readSent},
				check: func(t *trial) { reachesTheGroup(t, g, platform) },
			})
		}
		rules = append(rules, Rule{
			Name:  g.name + "IsForPlatformsWithGroups",
			Text:  "channels of other types are Unsupported with an error that names the allowed types, and nothing is sent",
			check: func(t *trial) { isForPlatformsWithGroups(t, g) },
		})
		for _, rule := range []Rule{
			{
				Name:  g.name + "TakesGroupsAsAddresses",
				Text:  "the group is given by groupId or by group, of which only the _id counts: the record is loaded again",
				Needs: []Capability{readSent},
				check: func(t *trial) { takesGroupsAsAddresses(t, g) },
			},
			{
				Name:  g.name + "GoesOnWithTheLiveChat",
				Text:  "a message to the group restarts the idle time of the live chat",
				Needs: []Capability{moveClock},
				check: func(t *trial) { toGroupGoesOnWithTheLiveChat(t, g) },
			},
			{
				Name:  g.name + "NeedsALiveGroup",
				Text:  "an inactive group is FailedPrecondition, and nothing is sent",
				check: func(t *trial) { needsALiveGroup(t, g) },
			},
		} {
			rule.Needs = append(rule.Needs, On(g.allowed[0]))
			rules = append(rules, rule)
		}
	}
	return rules
}

// in returns the operation for a place.
func (g groupSend) in(p *place) func(context.Context, toGroupParams) (send.Result, error) {
	return func(ctx context.Context, params toGroupParams) (send.Result, error) { return g.send(ctx, p, params) }
}

// requireSent sends a text to a group. It requires success and returns the result.
func (g groupSend) requireSent(t *trial, group *livechat.Group, groupID, text string) send.Result {
	t.Helper()
	result, err := g.send(t.Context(), t.home, toGroupParams{group, groupID, send.Text(text).WithPlaceholders()})
	require.NoError(t, err)
	return result
}

func reachesTheGroup(t *trial, g groupSend, platform channel.Type) {
	k, channelID, externalID := g.begin(t, platform)
	before := len(t.Sent())
	requireShape(t, platform, g.requireSent(t, nil, k.group.ID, "Hello"))
	g.requireSent(t, nil, k.group.ID, "For {{firstName}}")
	t.requireLastSent(before, channelID, externalID, "Hello", "For "+k.inlet.member.FirstName)
}

func isForPlatformsWithGroups(t *trial, g groupSend) {
	k := t.talkInFamily(t.home)
	for _, platform := range platforms {
		if slices.Contains(g.allowed, platform) || !t.offers(On(platform)) {
			continue
		}
		t.setGroup(t.home, k.group.ID, g.side, t.newChannelOf(t.home, platform).ID)
		t.try(string(platform), func(t *trial) {
			params := toGroupParams{nil, k.group.ID, send.Text("Hello")}
			requireFails(t, g.op, g.in(t.home), boterr.Unsupported, []badInput[toGroupParams]{{"the group", params, "group"}})
			_, err := g.send(t.Context(), t.home, params)
			for _, allowed := range g.allowed {
				require.ErrorContains(t, err, string(allowed))
			}
		})
	}
}

func takesGroupsAsAddresses(t *trial, g groupSend) {
	k, channelID, externalID := g.begin(t, g.allowed[0])
	id := k.group.ID
	forged := &livechat.Group{
		ID: id, App: t.away.scope.App, Inlet: "forged", Outlet: "forged", ExternalID: "forged", InletGroupExternalID: "forged",
		Member: t.away.member.ID, Type: "forged",
	}
	before := len(t.Sent())
	g.requireSent(t, forged, "", "For {{firstName}}")
	g.requireSent(t, forged, id, "For {{firstName}}")
	g.requireSent(t, nil, id, "For {{firstName}}")
	text := "For " + k.inlet.member.FirstName
	t.requireLastSent(before, channelID, externalID, text, text, text)
}

func toGroupGoesOnWithTheLiveChat(t *trial, g groupSend) {
	k, _, _ := g.begin(t, g.allowed[0])
	t.Advance(time.Minute)
	g.requireSent(t, nil, k.group.ID, "Hello")
	require.Greater(t, t.assignment(t.home, k.assignment.ID).Expiry, k.assignment.Expiry)
}

func needsALiveGroup(t *trial, g groupSend) {
	k, _, _ := g.begin(t, g.allowed[0])
	t.putOutOfUse(k.group.ID)
	requireFails(t, g.op, g.in(t.home), boterr.FailedPrecondition, []badInput[toGroupParams]{
		{"an inactive group", toGroupParams{nil, k.group.ID, send.Text("Hello")}, "group"},
	})
}

var toInletGroupRules = []Rule{
	rule(sendMessageToInletGroupNeedsAGroupThere,
		"if the conversation on the inlet's side is not a group, sendMessageToInletGroup is FailedPrecondition, and nothing is sent",
		On(channel.Bravo)),
}

func sendMessageToInletGroupNeedsAGroupThere(t *trial) {
	g := groupSends[0]
	inlet := t.inletOn(channel.Bravo)
	k := t.talkWith(t.openDesk(inlet, t.ticketing()), inlet)
	requireFails(t, g.op, g.in(t.home), boterr.FailedPrecondition, []badInput[toGroupParams]{
		{"no group there", toGroupParams{nil, k.group.ID, send.Text("Hello")}, "group"},
	})
}

var toOutletGroupRules = []Rule{
	rule(sendMessageToOutletGroupPostsToTheResponseURL,
		"on Charlie a message with responseUrl is posted there as JSON, and not sent to the group", On(channel.Charlie), serveFiles, readSent),
	rule(sendMessageToOutletGroupRefusesBadAddresses,
		"a responseUrl that is not a URL is InvalidArgument, and nothing is sent", On(channel.Charlie)),
}

func sendMessageToOutletGroupPostsToTheResponseURL(t *trial) {
	k := t.talkOn(channel.Charlie)
	page := t.Serve("application/json", `{"ok": true}`)
	before := len(t.Sent())
	result := must(t, t.home.SendMessageToOutletGroup, livechat.SendMessageToOutletGroupParams{
		GroupID: k.group.ID, Response: send.Template("For {{firstName}}"), ResponseURL: page.URL,
	})
	require.Contains(t, textOf(t, result), `"ok":true`)
	require.Len(t, page.Requests(), 1)
	require.Equal(t, http.MethodPost, page.Requests()[0].Method)
	require.JSONEq(t, `{"type": "TEXT", "text": "For Ada"}`, page.Requests()[0].Body)
	require.Len(t, t.Sent(), before, "nothing goes to the group")
}

func sendMessageToOutletGroupRefusesBadAddresses(t *trial) {
	type params = livechat.SendMessageToOutletGroupParams
	k := t.talkOn(channel.Charlie)
	var cases []badInput[params]
	for _, url := range []string{"nonsense", "file:///etc/hostname", "https://"} {
		given := params{GroupID: k.group.ID, Response: send.Text("Hello"), ResponseURL: url}
		cases = append(cases, badInput[params]{url, given, "responseUrl"})
	}
	requireRefused(t, botctx.OpSendMessageToOutletGroup, t.home.SendMessageToOutletGroup, cases)
}

var toInletRules = []Rule{
	rule(sendMessageToInletReachesTheMember,
		"a message goes only to the member of the event's live chat, once, with paths filled from that member",
		readSent),
	rule(sendMessageToInletAnswersAsThePlatform, "the result of sendMessageToInlet has the shape of the inlet's platform"),
	rule(sendMessageToInletGoesOnWithTheLiveChat, "a message to the inlet restarts the idle time of the live chat", moveClock),
	rule(sendMessageToInletNeedsAnExternalID,
		"a member without an external id on the inlet's side is FailedPrecondition, and nothing is sent", Members),
}

// toInlet calls sendMessageToInlet from the desk of a live chat.
func (t *trial) toInlet(k talk, response send.Response) send.Result {
	t.Helper()
	return must(t, t.home.SendMessageToInlet, livechat.SendMessageToInletParams{
		Channel: k.desk.Channel, MessageEvent: eventIn(k.group), Response: response,
	})
}

// requireLastSent checks the messages that arrived. It skips the first ones; before is their number.
func (t *trial) requireLastSent(before int, channelID, externalID string, texts ...string) {
	t.Helper()
	all := t.Sent()
	require.Len(t, all, before+len(texts), "the number of sent messages")
	for i, text := range texts {
		require.Equal(t, []string{channelID, externalID, text}, []string{all[before+i].Channel, all[before+i].To, all[before+i].Response.Text()})
	}
}

func sendMessageToInletReachesTheMember(t *trial) {
	first := t.talk()
	second := t.talkBeside(first)
	before := len(t.Sent())
	t.toInlet(second, send.Template("Hello {{firstName}}, {{meta.nothing}}!"))
	t.requireLastSent(before, t.home.channel.ID, second.inlet.member.ExternalID, "Hello Bob, !")
	hologram := send.Raw(document.O("type", "HOLOGRAM", "depth", 3))
	t.toInlet(first, hologram)
	t.requireLastSent(before+1, t.home.channel.ID, first.inlet.member.ExternalID, "")
	require.Equal(t, textOf(t, hologram), textOf(t, t.Sent()[before+1].Response))
}

// inletOn adds a channel of a type to the app home, and a member in it. It returns the place for them.
func (t *trial) inletOn(platform channel.Type) *place {
	t.Helper()
	c := t.newChannelOf(t.home, platform)
	return t.at(t.home, c, t.newMember(member.Member{App: c.App, Channel: c.ID, FirstName: "Eve"}))
}

func sendMessageToInletAnswersAsThePlatform(t *trial) {
	for _, platform := range platforms {
		if t.offers(On(platform)) {
			t.try(string(platform), func(t *trial) {
				inlet := t.inletOn(platform)
				requireShape(t, platform, t.toInlet(t.talkWith(t.openDesk(inlet, t.ticketing()), inlet), send.Text("Hello")))
			})
		}
	}
}

func sendMessageToInletGoesOnWithTheLiveChat(t *trial) {
	k := t.talk()
	t.Advance(time.Minute)
	t.toInlet(k, send.Text("Hello"))
	require.Greater(t, t.assignment(t.home, k.assignment.ID).Expiry, k.assignment.Expiry)
}

func sendMessageToInletNeedsAnExternalID(t *trial) {
	k := t.talk()
	t.update("_id", t.home.member.ID, "externalId", "")
	type params = livechat.SendMessageToInletParams
	requireFails(t, botctx.OpSendMessageToInlet, t.home.SendMessageToInlet, boterr.FailedPrecondition, []badInput[params]{
		{"no externalId", params{Channel: k.desk.Channel, MessageEvent: eventIn(k.group), Response: send.Text("Hello")}, ""},
	})
}
