package bravo_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bravo"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bravofake"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

func TestConnector_KeepsTheContract(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		p := newPlatform()
		server := sendtest.NewServer(t, p, bravofake.Faults())
		connector := connectortest.New(t, bravo.New, bravo.Config{
			APIURL: server.URL + "/v23.0", AppSecret: channel.NewSecret(appSecret), GroupTimeout: 3 * time.Second,
		})
		return &sendtest.Harness{
			Connector: connector, Channel: shop(), Other: desk(),
			Members: []*member.Member{{ID: "m1", ExternalID: ada}, {ID: "m2", ExternalID: bob}},
			Arrived: func() []sendtest.Arrival {
				return p.Arrivals(map[string]string{shopNumber: "shop", deskNumber: "desk"})
			},
			Fail: server.Fail, Group: groupID, Secrets: []string{appSecret},
			Odd: func() []sendtest.Reception { return oddReports(t) },
		}
	})
}

// change returns a report of one change to the shop's number.
func change(field, value string) []byte {
	return []byte(`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"` + field + `","value":{"messaging_product":"whatsapp",` +
		`"metadata":{"phone_number_id":"` + shopNumber + `"},` + value + `}}]}]}`)
}

// oddReports posts reports of unknown kinds to a handler, and returns how it handled each.
func oddReports(t *testing.T) []sendtest.Reception {
	t.Helper()
	return connectortest.Receptions(map[string][]byte{
		"a field of a new kind":       change("of_a_new_kind", `"a":1`),
		"a message of a new kind":     change("messages", `"messages":[{"from":"1","id":"m","type":"of_a_new_kind","of_a_new_kind":{}}]`),
		"a message that says nothing": change("messages", `"messages":[{}]`),
		"an empty text":               change("messages", `"messages":[{"from":"1","id":"m","type":"text","text":{"body":""}}]`),
		"a tap that says nothing":     change("messages", `"messages":[{"from":"1","id":"m","type":"interactive","interactive":{"type":"nfm_reply"}}]`),
		"a status of a new kind":      change("messages", `"statuses":[{"id":"m","status":"of_a_new_kind","recipient_id":"1"}]`),
		"a status that says nothing":  change("messages", `"statuses":[{}]`),
		"a group of a new kind":       change("group_participants_update", `"groups":[{"type":"of_a_new_kind"}]`),
		"a change without a number":   []byte(`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"account_update","value":{}}]}]}`),
		"another object":              []byte(`{"object":"page"}`),
	}, func(body []byte) (*connectortest.Box, int) {
		b := newBox(t)
		return b.Box, b.report(t.Context(), appSecret, body)
	})
}

func replies(count int, with func(i int, reply *send.QuickReply)) send.Response {
	var all []send.QuickReply
	for i := range count {
		reply := send.QuickReply{Title: fmt.Sprintf("T%d", i), Payload: fmt.Sprintf("p%d", i)}
		if with != nil {
			with(i, &reply)
		}
		all = append(all, reply)
	}
	return send.QuickReplies("Which?", all...)
}

func TestSend_EachType(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		response send.Response
		want     string
	}{
		"text":            {send.Text("Hello"), `"type":"text","text":{"body":"Hello"}`},
		"preview":         {send.Text("https://x.test").With("preview_url", true), `"type":"text","text":{"body":"https://x.test","preview_url":true}`},
		"image":           {send.Image("https://x.test/a.png").With("caption", "A"), `"type":"image","image":{"link":"https://x.test/a.png","caption":"A"}`},
		"file":            {send.File("https://x.test/a.pdf").With("filename", "a.pdf"), `"type":"document","document":{"link":"https://x.test/a.pdf","filename":"a.pdf"}`},
		"audio by id":     {send.Attachment(send.TypeAudio, "77"), `"type":"audio","audio":{"id":"77"}`},
		"1 quick reply":   {replies(1, nil), `"type":"interactive","interactive":{"type":"button","body":{"text":"Which?"},"action":{"buttons":[{"type":"reply","reply":{"id":"p0","title":"T0"}}]}}`},
		"a location":      {send.QuickReplies("Where?", send.QuickReply{ContentType: "location"}), `"type":"interactive","interactive":{"type":"location_request_message","body":{"text":"Where?"},"action":{"name":"send_location"}}`},
		"postbacks":       {send.Buttons("Now?", send.PostbackValue("Yes", "book", 2)), `"type":"interactive","interactive":{"type":"button","body":{"text":"Now?"},"action":{"buttons":[{"type":"reply","reply":{"id":"{\"payload\":\"book\",\"value\":2}","title":"Yes"}}]}}`},
		"an address":      {send.Buttons("Now?", send.WebURL("Menu", "https://x.test")), `"type":"interactive","interactive":{"type":"cta_url","body":{"text":"Now?"},"action":{"name":"cta_url","parameters":{"display_text":"Menu","url":"https://x.test"}}}`},
		"template":        {send.BravoTemplate("order", "en", document.O("type", "body")), `"type":"template","template":{"name":"order","language":{"code":"en"},"components":[{"type":"body"}]}`},
		"the platform's":  {send.Other("REACTION", document.O("reaction", document.O("message_id", "w", "emoji", "x"))), `"type":"reaction","reaction":{"message_id":"w","emoji":"x"}`},
		"with a context":  {send.Text("x").With("context", document.O("message_id", "w")), `"type":"text","text":{"body":"x"},"context":{"message_id":"w"}`},
		"a member's":      {send.Text("x").With("context", document.O("from", "1", "id", "w")), `"type":"text","text":{"body":"x"}`}, // A live chat relayed it.
		"platform's list": {send.Other("CONTACTS", document.O("contacts", document.A(document.O("a", 1)))), `"type":"contacts","contacts":[{"a":1}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			delivery, err := over(t, p).Send(t.Context(), to(ada, c.response))
			require.NoError(t, err)
			sent := p.Sent()[0]
			require.Equal(t, sent.ID, delivery.MessageID)
			require.JSONEq(t, `{"messaging_product":"whatsapp","recipient_type":"individual","to":"`+ada+`","biz_opaque_callback_data":"send-1",`+c.want+`}`, sent.Body.String())
		})
	}
}

func TestSend_QuickRepliesOfEachNumber(t *testing.T) {
	t.Parallel()
	for count := range send.MaxQuickReplies + 1 {
		if count == 0 {
			continue
		}
		p := newPlatform()
		_, err := over(t, p).Send(t.Context(), to(ada, replies(count, nil).With("listButton", "Pick")))
		if count > 10 {
			refused, _ := boterr.AsError(err)
			require.NotNil(t, refused)
			require.Equal(t, boterr.InvalidArgument, refused.Code)
			require.Equal(t, "quickReplies", refused.Field)
			require.Empty(t, p.Sent())
			continue
		}
		require.NoError(t, err)
		body := p.Sent()[0].Body
		if count <= 3 {
			require.Equal(t, "button", document.Get(body, "interactive.type", ""))
			require.Len(t, document.Get(body, "interactive.action.buttons", []document.Object{}), count)
			continue
		}
		require.Equal(t, "list", document.Get(body, "interactive.type", ""))
		require.Equal(t, "Pick", document.Get(body, "interactive.action.button", ""))
		require.Len(t, document.Get(body, "interactive.action.sections[0].rows", []document.Object{}), count)
	}
}

func TestSend_Refuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 1025)
	try := func(recipient string) func(t *testing.T, response send.Response) error {
		return func(t *testing.T, response send.Response) error {
			t.Helper()
			p := newPlatform()
			_, err := over(t, p).Send(t.Context(), to(recipient, response))
			require.Empty(t, p.Sent())
			return err
		}
	}
	connectortest.RequireUnsendable(t, map[string]connectortest.Unsendable{
		"a long text above buttons":       {send.Buttons(long, send.Postback("A", "a")), boterr.InvalidArgument, "text"},
		"a long text above an address":    {send.Buttons(long, send.WebURL("A", "https://x.test")), boterr.InvalidArgument, "text"},
		"a long text above quick replies": {send.QuickReplies(long, send.QuickReply{Title: "A"}), boterr.InvalidArgument, "text"},
		"two of a title":                  {replies(4, func(_ int, r *send.QuickReply) { r.Title = "same" }), boterr.InvalidArgument, "quickReplies[1].title"},
		"two of a payload": {
			send.Buttons("x", send.Postback("A", "a"), send.Postback("B", "a")), boterr.InvalidArgument, "buttons[1].payload",
		},
		"a long payload of a button": {
			send.Buttons("x", send.Postback("A", strings.Repeat("a", 257))), boterr.InvalidArgument, "buttons[0].payload",
		},
		"a long payload in a list": {
			replies(4, func(i int, r *send.QuickReply) { r.Payload = strings.Repeat("x", 200+i/3) }), boterr.InvalidArgument, "quickReplies[1].payload",
		},
		"a long button of a list":        {replies(4, nil).With("listButton", strings.Repeat("x", 21)), boterr.InvalidArgument, "listButton"},
		"a quick reply of another kind":  {send.QuickReplies("x", send.QuickReply{ContentType: "user_email"}), boterr.Unsupported, "quickReplies[0].content_type"},
		"two addresses":                  {send.Buttons("x", send.WebURL("A", "https://x.test"), send.WebURL("B", "https://x.test")), boterr.InvalidArgument, "buttons[0].type"},
		"a button of another kind":       {send.Other(send.TypeButton, document.O("text", "x", "buttons", document.A(document.O("type", "phone_number")))), boterr.Unsupported, "buttons[0].type"},
		"an address that is not the web": {send.Image("data:x"), boterr.InvalidArgument, "url"},
		"a button's address":             {send.Buttons("x", send.WebURL("A", "tel:1")), boterr.InvalidArgument, "buttons[0].url"},
		"a caption of audio":             {send.Audio("https://x.test/a").With("caption", "A"), boterr.InvalidArgument, "caption"},
		"a long caption":                 {send.Image("https://x.test/a").With("caption", long), boterr.InvalidArgument, "caption"},
		"nothing that was read":          {send.Other("MARK_SEEN", document.O()), boterr.InvalidArgument, "message_id"},
	}, try(ada))
	connectortest.RequireUnsendable(t, map[string]connectortest.Unsendable{
		"buttons to a group":       {send.Buttons("x", send.Postback("A", "a")), boterr.InvalidArgument, "type"},
		"quick replies to a group": {replies(2, nil), boterr.InvalidArgument, "type"},
	}, try(groupID))
}

func TestSend_TypingAndRead(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p)
	for _, response := range []send.Response{
		send.Typing(1), send.Typing(1).With("message_id", "wamid.1"), send.Other("MARK_SEEN", document.O("message_id", "wamid.2")),
	} {
		_, err := connector.Send(t.Context(), to(ada, response))
		require.NoError(t, err)
	}
	require.Equal(t, []string{"wamid.1 typing", "wamid.2"}, p.Marks())
}

func TestSend_CredentialsOfTheChannel(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	connector := connectortest.New(t, bravo.New, bravo.Config{HTTPClient: nil, Now: func() time.Time { return now }})
	message := to(ada, send.Text("x"))
	for text, info := range map[string]channel.BravoInfo{
		"lacks a token or a number":   {WaID: shopNumber},
		"set adminAuthToken and waId": {AdminAuthToken: channel.NewSecret(token)},
		"has expired; make a new one": {
			AdminAuthToken: channel.NewSecret(token), WaID: shopNumber, AdminAuthTokenExpiry: channel.NewSecretTime(document.TimestampOf(now)),
		},
		"is not an HTTP or HTTPS": {AdminAuthToken: channel.NewSecret(token), WaID: shopNumber, APIPath: "ftp://x"},
	} {
		message.Channel.Info = info
		_, err := connector.Send(t.Context(), message)
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.ErrorContains(t, err, text)
	}
}
