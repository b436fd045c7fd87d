package botctxtest

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// prepared is what there is in a place for the operations on its platform. Where nothing was
// prepared, nothing of it exists.
type prepared struct {
	// broadcast is a message that Alpha has stored, label a label of the member there.
	broadcast send.BroadcastID
	label     string
	// conversation is the id on Charlie of the conversation with the member, message that of
	// a message in it.
	conversation string
	message      send.MessageTS
	// bravoGroup is the id on Bravo of a group with an invitation link.
	bravoGroup string
}

// on returns the place in a channel of a platform in the home app, with what the operations
// of the platform work on.
func (t *trial) on(platform channel.Type) *place {
	t.Helper()
	return t.onIn(t.home, platform)
}

// onIn is on in the app of a place.
func (t *trial) onIn(base *place, platform channel.Type) *place {
	t.Helper()
	if p := base.platforms[platform]; p != nil {
		return p
	}
	p := t.newPlaceOn(base.scope.App, platform)
	if base.platforms == nil {
		base.platforms = map[channel.Type]*place{}
	}
	base.platforms[platform] = p
	switch {
	case !t.offers(Sends) || !t.offers(On(platform)):
	case platform == channel.Alpha:
		t.prepareAlpha(p)
	case platform == channel.Charlie:
		p.prepared.conversation, p.prepared.message = t.sendOnCharlie(p, p.member)
	}
	return p
}

// newPlaceOn makes a channel of a platform with a member in it, and the operations for
// them. A channel of Charlie has a broadcast group, which is a conversation.
func (t *trial) newPlaceOn(app string, platform channel.Type) *place {
	t.Helper()
	added := channel.Channel{App: app, Type: platform, Name: "Front desk"}
	if platform == channel.Charlie {
		group := newBroadcastGroup(platform)
		added.BroadcastGroups = []channel.BroadcastGroup{{Label: "default", Groups: []channel.BroadcastGroupMember{group}}}
	}
	p := &place{channel: t.AddChannel(added)}
	p.prepared = prepared{broadcast: "1", label: "2", conversation: "C1", message: "1.000001", bravoGroup: "group"}
	p.member = t.newMember(member.Member{App: app, Channel: p.channel.ID, FirstName: "Ada"})
	p.scope = record.Scope{App: app, Channel: p.channel.ID, Member: p.member.ID}
	p.Operations = t.Operations(p.scope)
	return p
}

// prepareAlpha stores a message to broadcast and labels the member.
func (t *trial) prepareAlpha(p *place) {
	t.Helper()
	if t.offers(Broadcasts) {
		p.prepared.broadcast = t.store(p, send.Text("News"))
	}
	if t.offers(Labels) {
		p.prepared.label = newLabel()
		t.label(p, p.member, p.prepared.label)
	}
}

// beside makes another member in the channel of a place.
func (t *trial) beside(p *place, m member.Member) *member.Member {
	t.Helper()
	m.App, m.Channel = p.scope.App, p.scope.Channel
	return t.newMember(m)
}

// newLabel returns the id of a label that nobody has used before, a number as Alpha's are.
func newLabel() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // It never fails.
	return strconv.FormatUint(binary.BigEndian.Uint64(random[:])>>1, 10)
}

// store stores a message to broadcast, without an error.
func (t *trial) store(p *place, response send.Response) send.BroadcastID {
	t.Helper()
	stored, err := p.AlphaCreateBroadcast(t.ctx(), send.AlphaCreateBroadcastParams{Response: response})
	require.NoError(t, err)
	require.Len(t, stored.Result, 1)
	var id send.BroadcastID
	require.NoError(t, id.DecodeValue(document.O("response", stored.Result[0].Response)), "Alpha's reply holds the id")
	return id
}

// label puts a label on a member, without an error, and returns its number.
func (t *trial) label(p *place, m *member.Member, label string) int64 {
	t.Helper()
	saved, err := p.AlphaSaveCustomLabel(t.ctx(), send.AlphaSaveCustomLabelParams{Member: m, LabelID: label})
	require.NoError(t, err)
	return saved.ID
}

// sendOnCharlie sends a text to a member and returns the conversation and the message.
func (t *trial) sendOnCharlie(p *place, to *member.Member) (string, send.MessageTS) {
	t.Helper()
	sent, err := p.SendResponse(t.ctx(), send.SendResponseParams{Member: to, Response: send.Text("Hello")})
	require.NoError(t, err)
	reply := t.object(sent)
	ts := send.MessageTS(document.Get(reply, "ts", "")) // A number would be no text, and give "".
	conversation := document.Get(reply, "channel", "")
	require.NotEmpty(t, conversation)
	require.NotEmpty(t, ts)
	return conversation, ts
}

// object returns a value in JSON, which must be an object.
func (t *trial) object(v any) document.Object {
	t.Helper()
	value, err := document.ParseJSON([]byte(textOf(t, v)))
	require.NoError(t, err)
	object, ok := value.(document.Object)
	require.True(t, ok, "an object and not %v", value)
	return object
}

// textsOfSent returns messages as they can be compared.
func textsOfSent(all []Sent) []string {
	texts := make([]string, 0, len(all))
	for _, s := range all {
		texts = append(texts, fmt.Sprintf("%s to %s: %s", s.Channel, s.To, s.Response))
	}
	return texts
}

// requireArrived checks what has arrived, in order, since there were so many messages.
func (t *trial) requireArrived(before int, expected ...Sent) {
	t.Helper()
	all := t.Sent()
	require.GreaterOrEqual(t, len(all), before)
	require.Equal(t, textsOfSent(expected), textsOfSent(all[before:]))
}

// requireEachArrived is requireArrived in any order, since those who are sent to at once
// need not be served one after the other.
func (t *trial) requireEachArrived(before int, expected ...Sent) {
	t.Helper()
	all := t.Sent()
	require.GreaterOrEqual(t, len(all), before)
	require.ElementsMatch(t, textsOfSent(expected), textsOfSent(all[before:]))
}

// writeDelivered writes what was delivered beside messages to platforms.
func (t *trial) writeDelivered(state *strings.Builder) {
	t.Helper()
	if t.Comments != nil {
		for _, p := range []*place{t.home, t.away} {
			fmt.Fprintln(state, textOf(t, t.Comments(p.scope.App)))
		}
	}
	if t.Mails != nil {
		fmt.Fprintln(state, len(t.Mails()))
	}
	if t.Files != nil {
		for _, file := range t.Files() {
			fmt.Fprintf(state, "%s %s %s %s %q\n", file.App, file.Channel, file.Name, file.ContentType, file.Content)
		}
	}
}
