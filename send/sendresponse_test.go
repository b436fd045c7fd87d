package send_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func TestSendResponse_ToContextMember(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.outbox.delivery = send.Delivery{
		Reply: document.O("message_id", "m-1"), MessageID: "m-1", ChatID: "c-1", From: "page", Timestamp: 17,
	}
	sent, err := p.in("web", "ada").SendResponse(t.Context(), send.SendResponseParams{Response: send.Template("Hi {{firstName}}")})
	require.NoError(t, err)
	require.Equal(t, []send.Result{send.Result{
		Reply: document.O("message_id", "m-1"),
		MessageEvent: send.MessageEvent{
			From: "page", To: "ext-ada", Type: "TEXT", Data: document.O("text", "Hi Ada"), Timestamp: 17, MessageID: "m-1",
		},
		ChatID: "c-1",
	}.For(channel.Webchat)}, sent.Results)

	require.Len(t, p.outbox.sent, 1)
	message := p.outbox.sent[0]
	require.Equal(t, "web", message.Channel.ID)
	require.Equal(t, "ada", message.Member.ID)
	require.Equal(t, "ext-ada", message.To)
	require.NotEmpty(t, message.ID)
	require.Equal(t, send.Text("Hi Ada"), message.Response)
}

func TestSendResponse_ConnectorTellsNothing(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	sent, err := p.in("web", "ada").SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
	require.NoError(t, err)
	require.Equal(t, send.MessageEvent{
		From: "bot-1", To: "ext-ada", Type: "TEXT", Data: document.O("text", "Hi"),
		Timestamp: document.TimestampOf(noon), MessageID: p.outbox.sent[0].ID,
	}, sent.Result().MessageEvent)
	require.Equal(t, `{}`, sent.Result().Reply.String())
}

func TestSendResponse_MemberWithoutBotID(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	_, err := p.channels.Save(t.Context(), &channel.Channel{ID: "page", Type: channel.Alpha, Info: channel.AlphaInfo{PageID: "page-1"}})
	require.NoError(t, err)
	for bot, from := range map[string]string{"": "page-1", "bot-2": "bot-2"} {
		id := "m" + bot
		p.addMember(member.Member{ID: id, Channel: "page", ExternalID: id, BotID: bot})
		sent, err := p.in("page", id).SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
		require.NoError(t, err)
		require.Equal(t, from, sent.Result().MessageEvent.From)
	}
}

func TestSendResponse_ShapeOfEachPlatform(t *testing.T) {
	t.Parallel()
	event := `{"from":"","to":"x","data":{"text":"Hi"},"type":"TEXT","timestamp":1700000000000,"messageId":"m"}`
	shapes := map[channel.Type]string{
		channel.Charlie: `{"ok":true,"channel":"c","ts":"1700000000.000000","message":{"text":"Hi"}}`,
		channel.Echo:    `{"msgType":"text","text":"Hi"}`,
	}
	for _, platform := range platforms {
		p := newPlatform(t)
		p.outbox.delivery = send.Delivery{MessageID: "m", ChatID: "c"}
		p.addChannel("c1", platform)
		p.addMember(member.Member{ID: "m1", Channel: "c1", ExternalID: "x"})
		sent, err := p.in("c1", "m1").SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
		require.NoError(t, err)
		want, ok := shapes[platform]
		if !ok {
			want = `{"result":{},"messageEvent":` + event + `}`
		}
		require.Equal(t, want, marshal(t, sent), platform)
	}
}

func TestSendResponse_ByAddresses(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.addChannel("page", channel.Alpha)
	p.addMember(member.Member{ID: "bob", Channel: "page", ExternalID: "ext-bob"})
	p.addMember(member.Member{ID: "cid", Channel: "page", ExternalID: "ext-cid"})
	forged := &member.Member{ID: "bob", Channel: "web", ExternalID: "ext-ada", FirstName: "Eve"}
	for _, c := range []struct {
		params send.SendResponseParams
		want   []string
	}{
		{send.SendResponseParams{Member: &member.Member{ID: "ada"}}, []string{"ext-ada"}},
		{send.SendResponseParams{ChannelID: "page", MemberID: document.One("bob")}, []string{"ext-bob"}},
		{send.SendResponseParams{Channel: &channel.Channel{ID: "page", Type: channel.Echo}, Member: forged}, []string{"ext-bob"}},
		{
			send.SendResponseParams{
				Channel: &channel.Channel{ID: "page"}, ChannelID: "page", Member: forged, MemberID: document.One("bob", "bob"),
			},
			[]string{"ext-bob"},
		},
		{
			send.SendResponseParams{ChannelID: "page", MemberID: document.One("cid", "bob", "cid", "bob")},
			[]string{"ext-cid", "ext-bob"},
		},
	} {
		p.outbox.sent = nil
		c.params.Response = send.Text("Hi")
		sent, err := p.in("web", "ada").SendResponse(t.Context(), c.params)
		require.NoError(t, err)
		require.Equal(t, c.want, p.outbox.recipients())
		require.Len(t, sent.Results, len(c.want))
		for i, result := range sent.Results {
			require.Equal(t, c.want[i], result.MessageEvent.To)
		}
	}
}

func TestSendResponse_Refuses(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.strict = true
	p.addChannel("page", channel.Alpha)
	p.addChannel("fax", "fax")
	p.addMember(member.Member{ID: "bob", Channel: "page"})
	p.addMember(member.Member{ID: "fay", Channel: "fax"})
	p.addMember(member.Member{ID: "zoe", Channel: "web", FirstName: long(send.MaxText)})
	foreign := channels.New(p.env, record.Scope{App: "other"})
	_, err := foreign.Save(t.Context(), &channel.Channel{ID: "theirs", Type: channel.Webchat})
	require.NoError(t, err)
	_, err = members.New(p.env, record.Scope{App: "other"}, foreign).Insert(t.Context(), member.Member{ID: "eve", Channel: "theirs"})
	require.NoError(t, err)

	hi := send.Text("Hi")
	ada := &member.Member{ID: "ada"}
	type params = send.SendResponseParams
	for _, c := range []struct {
		params params
		code   boterr.Code
		field  string
	}{
		{params{}, boterr.InvalidArgument, "response"},
		{params{Response: send.Buttons("?", send.WebURL(long(send.MaxButtonTitle+1), "u"))}, boterr.InvalidArgument, "response.buttons[0].title"},
		{params{Response: send.Template("{{meta.missing}}")}, boterr.InvalidArgument, "response.text"},
		{params{Response: hi.With("x", func() {})}, boterr.InvalidArgument, "response.x"},
		{params{Response: hi, Channel: &channel.Channel{}}, boterr.InvalidArgument, "channel._id"},
		{params{Response: hi, Channel: &channel.Channel{ID: "web"}, ChannelID: "page"}, boterr.InvalidArgument, "channelId"},
		{params{Response: hi, ChannelID: "nowhere"}, boterr.NotFound, "channelId"},
		{params{Response: hi, Channel: &channel.Channel{ID: "theirs", App: "acme"}}, boterr.NotFound, "channel._id"},
		{params{Response: hi, Member: &member.Member{}}, boterr.InvalidArgument, "member._id"},
		{params{Response: hi, Member: ada, MemberID: document.One("zoe")}, boterr.InvalidArgument, "memberId"},
		{params{Response: hi, Member: ada, MemberID: document.One("ada", "zoe")}, boterr.InvalidArgument, "memberId[1]"},
		{params{Response: hi, Member: ada, MemberID: document.OneOrMany[string]{}}, boterr.InvalidArgument, "memberId"},
		{params{Response: hi, MemberID: document.OneOrMany[string]{}}, boterr.InvalidArgument, "memberId"},
		{params{Response: hi, MemberID: document.One("")}, boterr.InvalidArgument, "memberId"},
		{params{Response: hi, MemberID: document.One("ada", "")}, boterr.InvalidArgument, "memberId[1]"},
		{params{Response: hi, MemberID: document.One("ada", "nobody")}, boterr.NotFound, "memberId[1]"},
		{params{Response: hi, Member: &member.Member{ID: "eve", App: "acme", Channel: "web"}}, boterr.NotFound, "member._id"},
		{params{Response: hi, MemberID: document.One("ada", "bob")}, boterr.InvalidArgument, "memberId[1]"},
		{params{Response: hi, ChannelID: "page"}, boterr.InvalidArgument, "memberId"},
		{params{Response: send.Template("Hi {{firstName}}"), MemberID: document.One("ada", "zoe")}, boterr.InvalidArgument, "response.text"},
		{params{Response: hi, ChannelID: "fax", MemberID: document.One("fay")}, boterr.Unsupported, ""},
		{params{Response: hi, MessagingType: "UPDATE"}, boterr.InvalidArgument, "messagingType"},
		{params{Response: hi, MessagingTag: "ACCOUNT_UPDATE"}, boterr.InvalidArgument, "messagingTag"},
	} {
		sent, err := p.in("web", "ada").SendResponse(t.Context(), c.params)
		requireField(t, err, c.code, c.field)
		require.Zero(t, sent)
		require.Empty(t, p.outbox.sent, "%v", err)
	}
}

func TestSend_ErrorsNameTheirSubject(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.addChannel("fax", "fax")
	p.addMember(member.Member{ID: "fay", Channel: "fax"})
	p.addMember(member.Member{ID: "zoe", Channel: "web", FirstName: long(send.MaxText)})
	_, err := p.in("fax", "fay").SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
	require.ErrorContains(t, err, `channels of type "fax"`)
	_, err = p.in("web", "").SendResponse(t.Context(), send.SendResponseParams{
		Response: send.Template("Hi {{firstName}}"), MemberID: document.One("ada", "zoe"),
	})
	require.EqualError(t, err, fmt.Sprintf(
		"invalid argument: response.text: for member zoe: has %d characters, and at most %d are allowed", send.MaxText+3, send.MaxText))
}

func TestSend_EmptyContext(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	_, err := p.in("", "ada").SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
	requireField(t, err, boterr.InvalidArgument, "channelId")
	_, err = p.in("web", "").SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
	requireField(t, err, boterr.InvalidArgument, "memberId")
	_, err = p.in("", "").SendResponse(t.Context(), send.SendResponseParams{
		ChannelID: "web", MemberID: document.One("ada"), Response: send.Text("Hi"),
	})
	require.NoError(t, err)
}

func TestSendResponse_EmptyListInJSON(t *testing.T) {
	t.Parallel()
	params := send.SendResponseParams{MemberID: document.OneOrMany[string]{}, Response: send.Text("Hi")}
	require.Equal(t, params, decoded[send.SendResponseParams](t, marshal(t, params)))
}

// decoded reads JSON as a T by the rules of package document.
func decoded[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	require.NoError(t, document.DecodeJSON([]byte(text), &value))
	return value
}

func TestMessaging_OnAlphaAlone(t *testing.T) {
	t.Parallel()
	for platform, want := range map[channel.Type]string{channel.Alpha: "RESPONSE/TAG", channel.Bravo: "/"} {
		p := newPlatform(t)
		p.addChannel("c1", platform)
		p.addMember(member.Member{ID: "m1", Channel: "c1"})
		_, err := p.in("c1", "m1").SendResponse(t.Context(), send.SendResponseParams{
			Response: send.Text("Hi"), MessagingType: "RESPONSE", MessagingTag: "TAG",
		})
		require.NoError(t, err)
		require.Equal(t, want, p.outbox.sent[0].MessagingType+"/"+p.outbox.sent[0].MessagingTag)
	}
}

func TestSendResponse_Literal(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	said := send.MessageEvent{Type: send.TypeText, Data: document.O("text", "{{botMeta}}")}
	_, err := p.in("web", "ada").SendResponse(t.Context(), send.SendResponseParams{Response: said.Response()})
	require.NoError(t, err)
	require.Equal(t, send.Text("{{botMeta}}"), p.outbox.sent[0].Response)
}

func TestSendResponse_Credentials(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	_, err := p.channels.Save(t.Context(), &channel.Channel{
		ID: "page", Type: channel.Alpha, Info: channel.AlphaInfo{AccessToken: channel.NewSecret("s3cret")},
	})
	require.NoError(t, err)
	p.addMember(member.Member{ID: "bob", Channel: "page"})
	_, err = p.in("page", "bob").SendResponse(t.Context(), send.SendResponseParams{
		Channel: &channel.Channel{ID: "page"}, Response: send.Text("Hi"),
	})
	require.NoError(t, err)
	info, ok := p.outbox.sent[0].Channel.Info.(channel.AlphaInfo)
	require.True(t, ok)
	require.Equal(t, "s3cret", info.AccessToken.Reveal())
}

// crm is a host's own members: one of them, who is Grace.
type crm struct{ externalID string }

func (c crm) GetMember(_ context.Context, p member.GetMemberParams) (*member.Member, error) {
	return &member.Member{ID: p.MemberID, Channel: "web", ExternalID: c.externalID, FirstName: "Grace"}, nil
}

func TestSendResponse_MembersOfHost(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	ports := send.Ports{Channels: p.channels, Members: crm{"g-1"}, Connectors: map[channel.Type]send.Connector{channel.Webchat: p.outbox}}
	scope := record.Scope{App: "acme", Channel: "web", Member: "grace"}
	_, err := send.New(p.env, scope, ports).SendResponse(t.Context(), send.SendResponseParams{Response: send.Template("{{firstName}}")})
	require.NoError(t, err)
	require.Equal(t, "Grace", p.outbox.sent[0].Response.Text())
	require.Equal(t, "g-1", p.outbox.sent[0].To)

	ports.Members = crm{}
	_, err = send.New(p.env, scope, ports).SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
	require.ErrorIs(t, err, boterr.FailedPrecondition)
}

func TestService_ConcurrentUse(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	service := p.in("web", "ada")
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			_, err := service.SendResponse(t.Context(), send.SendResponseParams{Response: send.Template("Hi {{firstName}}")})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	ids := map[string]bool{}
	for _, message := range p.outbox.sent {
		ids[message.ID] = true
	}
	require.Len(t, ids, 20, "each message has an id of its own")
}
