package send_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// noon is what the clock of a platform shows.
var noon = time.UnixMilli(1_700_000_000_000).UTC()

// platforms are the types of channels of the specification.
var platforms = []channel.Type{
	channel.Alpha, channel.Bravo, channel.Charlie, channel.Delta, channel.Echo,
	channel.Foxtrot, channel.Hotel, channel.Custom, channel.Webchat,
}

// platform is a store with the channels and members of the app "acme", and connectors
// that keep what they are sent.
type platform struct {
	t        *testing.T
	env      record.Env
	channels *channels.Service
	members  *members.Service
	outbox   *outbox
	strict   bool
}

// newPlatform returns a platform with the channel "web" of type webchat and its member
// "ada".
func newPlatform(t *testing.T) *platform {
	t.Helper()
	var ids struct {
		sync.Mutex
		last int
	}
	env := record.Env{
		Store: memstore.New(),
		Now:   func() time.Time { return noon },
		NewID: func() string {
			ids.Lock()
			defer ids.Unlock()
			ids.last++
			return "id-" + strconv.Itoa(ids.last)
		},
	}
	p := &platform{t: t, env: env, outbox: &outbox{}, channels: channels.New(env, record.Scope{App: "acme"})}
	p.members = members.New(env, record.Scope{App: "acme"}, p.channels)
	p.addChannel("web", channel.Webchat)
	p.addMember(member.Member{ID: "ada", Channel: "web", ExternalID: "ext-ada", FirstName: "Ada", BotID: "bot-1"})
	return p
}

func (p *platform) addChannel(id string, platform channel.Type) {
	p.t.Helper()
	_, err := p.channels.Save(p.t.Context(), &channel.Channel{ID: id, Type: platform})
	require.NoError(p.t, err)
}

func (p *platform) addMember(m member.Member) {
	p.t.Helper()
	_, err := p.members.Insert(p.t.Context(), m)
	require.NoError(p.t, err)
}

// in returns the sends of a scope of the app, with a connector for every type of the
// specification.
func (p *platform) in(channelID, memberID string) *send.Service {
	connectors := map[channel.Type]send.Connector{}
	for _, platform := range platforms {
		connectors[platform] = p.outbox
	}
	return send.New(p.env, record.Scope{App: "acme", Channel: channelID, Member: memberID}, send.Ports{
		Channels: p.channels, Members: p.members, Connectors: connectors, IsStrict: p.strict,
	})
}

// outbox is a connector that keeps what it is sent.
type outbox struct {
	mu   sync.Mutex
	sent []send.Message
	// delivery is what it answers, but for what fails.
	delivery send.Delivery
	// fail are the errors by recipient.
	fail map[string]error
	// before is called for each message, if it is there.
	before func()
}

func (o *outbox) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.before != nil {
		o.before()
	}
	if err := o.fail[message.To]; err != nil {
		return send.Delivery{}, err
	}
	o.sent = append(o.sent, message)
	return o.delivery, nil
}

// recipients returns to whom messages went.
func (o *outbox) recipients() []string {
	to := []string{}
	for _, message := range o.sent {
		to = append(to, message.To)
	}
	return to
}

// requireField asks for an error of a code at a field.
func requireField(t *testing.T, err error, code boterr.Code, field string) {
	t.Helper()
	require.ErrorIs(t, err, code)
	e, _ := boterr.AsError(err)
	require.Equal(t, field, e.Field, "%v", err)
}

// marshal returns a value as JSON by its own MarshalJSON.
func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := document.EncodeJSON(v)
	require.NoError(t, err)
	return string(text)
}
