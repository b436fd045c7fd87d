package botctxtest

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// platformOperationRules are the rules that all operations of package send beside
// sendResponse have in common.
func platformOperationRules() []Rule {
	var rules []Rule
	for _, o := range platformOperations() {
		rules = append(rules, o.rules()...)
	}
	return rules
}

// name is the operation's name as those of its rules begin.
func (o platformOperation) name() string { return strings.ToUpper(string(o.op[:1])) + string(o.op[1:]) }

// has reports whether the operation has one of the parameters.
func (o platformOperation) has(parameters ...string) bool {
	return slices.ContainsFunc(parameters, func(one string) bool { return slices.Contains(o.takes, one) })
}

func (o platformOperation) rules() []Rule {
	rules := []Rule{
		{
			Name:  o.name() + "TakesTheContextsOwn",
			Text:  "channel and member are the context's own where no other is named",
			check: func(t *trial) { o.takesTheContextsOwn(t) },
		}, {
			Name:  o.name() + "AnswersAsDocumented",
			Text:  "the JSON of the result has exactly the keys that the specification shows, and says that it is done",
			check: func(t *trial) { o.answersAsDocumented(t) },
		}, {
			Name:  o.name() + "FindsNoOthers",
			Text:  "channels and members that do not exist, or are of another app, are NotFound, whatever the records say, and nothing changes",
			check: func(t *trial) { o.findsNoOthers(t) },
		}, {
			Name:  o.name() + "RefusesContradictions",
			Text:  "parameters that contradict each other, or records without _id, are InvalidArgument, and nothing changes",
			check: func(t *trial) { o.refusesContradictions(t) },
		},
	}
	if o.has(byChannel, byMember) {
		rules = append(rules, Rule{
			Name:  o.name() + "TakesRecordsAsAddresses",
			Text:  "of a channel and a member that are passed in only the _id counts: the records are loaded again",
			check: func(t *trial) { o.takesRecordsAsAddresses(t) },
		})
	}
	if o.platform != "" && o.op != botctx.OpUpdateMessage {
		rules = append(rules, Rule{
			Name:  o.name() + "RefusesOtherPlatforms",
			Text:  "a channel of another platform is Unsupported with an error that names the platforms allowed, and nothing changes",
			check: func(t *trial) { o.refusesOtherPlatforms(t) },
		})
	}
	if o.has(byMember, byMemberID) && o.platform != "" {
		rules = append(rules, Rule{
			Name:  o.name() + "NeedsAnExternalID",
			Text:  "a member whom the platform does not know is FailedPrecondition, and nothing changes",
			Needs: []Capability{Members},
			check: func(t *trial) { o.needsAnExternalID(t) },
		})
	}
	return needing(o.capabilities(), rules)
}

// capabilities are what an implementation must offer for the operation to succeed.
func (o platformOperation) capabilities() []Capability {
	var needed []Capability
	if o.platform != "" {
		needed = append(needed, On(o.platform))
	}
	if o.needs != "" {
		needed = append(needed, o.needs)
	}
	if o.op == botctx.OpAlphaSendBroadcast {
		needed = append(needed, Labels) // Labels come into being on members.
	}
	return needed
}

// place returns where the operation succeeds.
func (o platformOperation) place(t *trial) *place {
	t.Helper()
	if o.platform == "" {
		return t.home
	}
	return t.on(o.platform)
}

// far returns a place of the operation in the other app.
func (o platformOperation) far(t *trial) *place {
	t.Helper()
	if o.platform == "" {
		return t.away
	}
	return t.newPlaceOn(t.away.scope.App, o.platform)
}

func (o platformOperation) takesTheContextsOwn(t *trial) {
	p := o.place(t)
	before := len(t.sentIfKnown())
	_, err := o.call(t.ctx(), p, addressee{})
	require.NoError(t, err)
	for _, sent := range t.sentIfKnown()[before:] {
		require.Equal(t, p.channel.ID, sent.Channel)
		require.Equal(t, p.member.ExternalID, sent.To)
	}
}

// sentIfKnown returns what has arrived, nothing where the harness does not know.
func (t *trial) sentIfKnown() []Sent {
	if t.Sent == nil {
		return nil
	}
	return t.Sent()
}

func (o platformOperation) answersAsDocumented(t *trial) {
	done, err := o.call(t.ctx(), o.place(t), addressee{})
	require.NoError(t, err)
	if o.keys == nil {
		value, err := document.ParseJSON([]byte(textOf(t, done)))
		require.NoError(t, err)
		array, ok := value.(document.Array)
		require.True(t, ok, "an array also for one member, and not %v", value)
		require.Equal(t, 1, array.Len())
		return
	}
	object := t.object(done)
	require.Equal(t, slices.Sorted(slices.Values(o.keys)), slices.Sorted(slices.Values(object.Keys())))
	for key, value := range object.All() {
		if key != "errcode" {
			require.NotContains(t, []any{nil, false, int64(0), ""}, value, key)
		}
	}
}

// forged returns a place's channel and member with nothing true in them but the _id.
func (o platformOperation) forged(p *place, app string) addressee {
	to := addressee{}
	if o.has(byChannel) {
		to.channel = &channel.Channel{ID: p.channel.ID, App: app, Type: "forged", Name: "Forged"}
	}
	if o.has(byMember) {
		to.member = &member.Member{ID: p.member.ID, App: app, Channel: "forged", ExternalID: "forged", FirstName: "Forged"}
	}
	if !o.has(byMember) && o.has(byMemberID) {
		to.memberID = p.member.ID
	}
	return to
}

func (o platformOperation) takesRecordsAsAddresses(t *trial) {
	p := o.place(t)
	before := len(t.sentIfKnown())
	_, err := o.call(t.ctx(), p, o.forged(p, t.away.scope.App))
	require.NoError(t, err)
	for _, sent := range t.sentIfKnown()[before:] {
		require.Equal(t, p.channel.ID, sent.Channel)
		require.Equal(t, p.member.ExternalID, sent.To)
	}
}

// fault is a call that must fail.
type fault struct {
	name  string
	to    addressee
	field string
}

// keep returns those of the faults that the operation can be called with.
func (o platformOperation) keep(faults []fault) []fault {
	return slices.DeleteFunc(faults, func(f fault) bool {
		return f.to.channel != nil && !o.has(byChannel) || f.to.channelID != "" && !o.has(byChannelID) ||
			f.to.member != nil && !o.has(byMember) || f.to.memberID != "" && !o.has(byMemberID)
	})
}

// requireFaults checks that calls fail with a code, and change nothing.
func (o platformOperation) requireFaults(t *trial, p *place, code boterr.Code, faults []fault) {
	t.Helper()
	now := t.state()
	for _, f := range faults {
		t.try(f.name, func(t *trial) {
			done, err := o.call(t.ctx(), p, f.to)
			before := now
			now = t.state()
			t.requireError(o.op, code, f.field, err)
			require.Zero(t, done, "the result beside an error")
			require.Equal(t, before, now, "a call that is refused changes nothing")
		})
	}
}

func (o platformOperation) findsNoOthers(t *trial) {
	p, far := o.place(t), o.far(t)
	forgedChannel, forgedMember := *p.channel, *p.member
	forgedChannel.ID, forgedMember.ID = far.channel.ID, far.member.ID
	o.requireFaults(t, p, boterr.NotFound, o.keep([]fault{
		{"a channel of nobody", addressee{channel: &channel.Channel{ID: unique("channel")}}, byChannel},
		{"a channel of another app", addressee{channel: far.channel}, byChannel},
		{"a forged channel", addressee{channel: &forgedChannel}, byChannel},
		{"a channel's id of nobody", addressee{channelID: unique("channel")}, byChannelID},
		{"a channel's id of another app", addressee{channelID: far.channel.ID}, byChannelID},
		{"a member of nobody", addressee{member: &member.Member{ID: unique("member")}}, byMember},
		{"a member of another app", addressee{member: far.member}, byMember},
		{"a forged member", addressee{member: &forgedMember}, byMember},
		{"a member's id of nobody", addressee{memberID: unique("member")}, byMemberID},
		{"a member's id of another app", addressee{memberID: far.member.ID}, byMemberID},
	}))
}

func (o platformOperation) refusesOtherPlatforms(t *trial) {
	p := o.place(t)
	others := map[channel.Type]*place{}
	for _, platform := range platforms {
		if platform != o.platform && t.offers(On(platform)) {
			others[platform] = t.newPlaceOn(p.scope.App, platform)
			others[platform].prepared = p.prepared
		}
	}
	before := t.state()
	for platform, other := range others {
		o.refusesPlace(t, "a context on "+string(platform), other, addressee{}, "")
		o.refusesPlace(t, "the channel on "+string(platform), p, addressee{channel: other.channel}, byChannel)
		if o.has(byChannelID) {
			o.refusesPlace(t, "the channel's id on "+string(platform), p, addressee{channelID: other.channel.ID}, byChannelID)
		}
	}
	require.Equal(t, before, t.state(), "calls that are refused change nothing")
}

// refusesPlace checks that a call through a channel of another platform is Unsupported, at a
// parameter where one names the channel.
func (o platformOperation) refusesPlace(t *trial, name string, p *place, to addressee, field string) {
	t.Helper()
	t.try(name, func(t *trial) {
		done, err := o.call(t.ctx(), p, to)
		t.requireCode(boterr.Unsupported, err)
		require.ErrorContains(t, err, string(o.platform), "the error names the platform that is allowed")
		require.Zero(t, done, "the result beside an error")
		if field != "" {
			t.requireError(o.op, boterr.Unsupported, field, err)
		}
	})
}

func (o platformOperation) refusesContradictions(t *trial) {
	p := o.place(t)
	platform := o.platform
	if platform == "" {
		platform = t.platform()
	}
	other := t.newPlaceOn(p.scope.App, platform)
	o.requireFaults(t, p, boterr.InvalidArgument, o.keep([]fault{
		{"a channel without _id", addressee{channel: &channel.Channel{Name: "Front desk"}}, "channel._id"},
		{"channel and channelId", addressee{channel: p.channel, channelID: other.channel.ID}, byChannelID},
		{"a member without _id", addressee{member: &member.Member{FirstName: "Ada"}}, "member._id"},
		{"member and memberId", addressee{member: p.member, memberID: other.member.ID}, byMemberID},
		{"a member elsewhere", addressee{member: other.member}, byMember},
		{"a member's id elsewhere", addressee{memberID: other.member.ID}, byMemberID},
	}))
}

func (o platformOperation) needsAnExternalID(t *trial) {
	p := o.place(t)
	unknown := t.beside(p, member.Member{})
	t.update("_id", unknown.ID, "externalId", "")
	for _, f := range o.keep([]fault{
		{name: "member", to: addressee{member: unknown}}, {name: "memberId", to: addressee{memberID: unknown.ID}},
	}) {
		t.try(f.name, func(t *trial) {
			before := t.state()
			t.requireCode(boterr.FailedPrecondition, errorOf(o.call(t.ctx(), p, f.to)))
			require.Equal(t, before, t.state(), "a call that is refused changes nothing")
		})
	}
}
