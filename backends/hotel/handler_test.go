package hotel_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/hotel"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/hotelfake"
	"github.com/botctx/go-sdk/send"
)

const thread = teamID + ";messageid=1700"

func parsed(t *testing.T, text string) document.Object {
	t.Helper()
	var object document.Object
	require.NoError(t, object.UnmarshalJSON([]byte(text)))
	return object
}

func TestHandler_Events(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		group, fields string
		kind          send.Type
		// data is the expected data, or "" if it is the whole activity as event.
		data string
	}{
		"text":                     {"", `{"text":" *Hi*\n"}`, send.TypeText, `{"text":" *Hi*\n"}`},
		"text with a mention":      {thread, `{"text":"<at>Bot</at> book <at>Bob</at>","entities":[{"type":"mention","text":"<at>Bot</at>","mentioned":{"id":"28:app-of-the-shop"}},{"type":"mention","text":"<at>Bob</at>","mentioned":{"id":"29:bob-2"}}]}`, send.TypeText, `{"text":"book <at>Bob</at>"}`},
		"a mention and an odd one": {thread, `{"text":"<at>Bot</at> book <at>Bob</at>","entities":[7,{"type":"mention","text":"<at>Bot</at>","mentioned":{"id":"28:app-of-the-shop"}},{"type":"mention","text":"<at>Bob</at>","mentioned":{"id":"29:bob-2"}}]}`, send.TypeText, `{"text":"book <at>Bob</at>"}`},
		"text and its markup":      {"", `{"text":"Hi","attachments":[{"contentType":"text/html","content":"<p>Hi</p>"}]}`, send.TypeText, `{"text":"Hi"}`},
		"tap":                      {"", `{"value":{"payload":"book"}}`, send.TypePayload, `{"payload":"book"}`},
		"tap with a value":         {"", `{"value":{"payload":{"payload":"book","value":[2]},"time":"19:30"}}`, send.TypePayload, `{"payload":{"payload":"book","value":[2]},"time":"19:30"}`},
		"tap with a text":          {"", `{"text":"Yes","value":"{\"payload\":\"book\",\"value\":2}"}`, send.TypePayload, `{"payload":{"payload":"book","value":2},"text":"Yes"}`},
		"tap of another form":      {"", `{"value":{"answer":7}}`, send.TypePayload, `{"payload":{"payload":"","value":{"answer":7}}}`},
		"odd payload":              {"", `{"value":{"payload":7}}`, send.TypePayload, `{"payload":{"payload":"","value":{"payload":7}}}`},
		"universal action":         {"", `{"type":"invoke","name":"adaptiveCard/action","value":{"action":{"type":"Action.Execute","data":{"payload":"book"}}}}`, send.TypePayload, `{"payload":"book"}`},
		"picture":                  {"", `{"text":"Look","attachments":[{"contentType":"image/*","contentUrl":"https://smba.trafficmanager.net/emea/v3/attachments/1"}]}`, send.TypeMisc, `{"attachments":[{"type":"image","payload":{"url":"https://smba.trafficmanager.net/emea/v3/attachments/1"},"title":"","mimeType":"image/*"}],"text":"Look"}`},
		"shared file":              {"", `{"attachments":[{"contentType":"application/vnd.microsoft.teams.file.download.info","name":"a.mp3","contentUrl":"https://x.sharepoint.com/a.mp3","content":{"downloadUrl":"https://x.sharepoint.com/d?t=1","fileType":"mp3"}}]}`, send.TypeMisc, `{"attachments":[{"type":"audio","payload":{"url":"https://x.sharepoint.com/d?t=1"},"title":"a.mp3","mimeType":"application/vnd.microsoft.teams.file.download.info"}]}`},
		"card":                     {"", `{"attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","content":{"type":"AdaptiveCard"}}]}`, send.TypeMisc, ``},
		"card with a text":         {"", `{"text":"See","attachments":[{"contentType":"card","content":{}}]}`, send.TypeText, `{"text":"See","cards":[{"contentType":"card","content":{}}]}`},
		"card with a file":         {"", `{"attachments":[{"contentType":"card"},{"contentType":"video/mp4","contentUrl":"https://x.test/a"}]}`, send.TypeMisc, `{"attachments":[{"type":"video","payload":{"url":"https://x.test/a"},"title":"","mimeType":"video/mp4"}],"cards":[{"contentType":"card"}]}`},
		"nothing in it":            {"", `{"text":""}`, send.TypeMisc, ``},
		"installed":                {"", `{"type":"conversationUpdate","membersAdded":[{"id":"28:app-of-the-shop"}]}`, send.TypeOptIn, ``},
		"installed in a team":      {teamID, `{"type":"conversationUpdate","membersAdded":[{"id":"28:app-of-the-shop"}]}`, send.TypeMisc, ``},
		"somebody joined":          {teamID, `{"type":"conversationUpdate","membersAdded":[{"id":"29:bob-2"}]}`, send.TypeMisc, ``},
		"removed":                  {"", `{"type":"installationUpdate","action":"remove"}`, send.TypeMisc, ``},
		"reaction":                 {"", `{"type":"messageReaction","replyToId":"1","reactionsAdded":[{"type":"like"}]}`, send.TypeMisc, ``},
		"edited":                   {"", `{"type":"messageUpdate","text":"Hello"}`, send.TypeMisc, ``},
		"read":                     {"", `{"type":"event","name":"application/vnd.microsoft.readReceipt","value":{"lastReadMessageId":"1"}}`, send.TypeRead, `{"lastReadMessageId":"1"}`},
		"another event":            {"", `{"type":"event","name":"application/vnd.microsoft.meetingStart","value":{}}`, send.TypeMisc, ``},
		"an unknown kind":          {"", `{"type":"hologram"}`, send.TypeMisc, ``},
		"in a group of old kind":   {"", `{"text":"Hi","conversation":{"id":"19:x@unq.gbl.spaces","isGroup":true}}`, send.TypeText, `{"text":"Hi"}`},
		"without a time of its":    {"", `{"text":"Hi","timestamp":"yesterday"}`, send.TypeText, `{"text":"Hi"}`},
		"in the tenant's channel":  {"", `{"text":"Hi","conversation":{"id":"a:1"}}`, send.TypeText, `{"text":"Hi"}`},
	} {
		b := newUsualBox(t)
		activity := b.platform.Activity(shopApp(), adaID, c.group, parsed(t, c.fields))
		answer := b.Ask(b.platform.Report(t.Context(), "/hotel", shopApp().ID, activity))
		require.Equal(t, http.StatusOK, answer.Code, name)
		require.Len(t, b.Got, 1, name)
		got := b.Got[0]
		require.Equal(t, c.kind, got.Event.Type, name)
		if c.data == "" {
			require.Equal(t, document.O("event", activity).String(), got.Event.Data.String(), name)
		} else {
			require.JSONEq(t, c.data, got.Event.Data.String(), name)
		}
		require.Equal(t, []string{"app-1", "shop", adaID}, []string{got.App, got.Channel, got.Event.From}, name)
		conversation := document.Get(activity, "conversation.id", "")
		if c.group != "" || document.Get(activity, "conversation.isGroup", false) {
			require.Equal(t, []string{conversation, conversation}, []string{got.Event.To, got.GroupExternalID}, name)
		} else {
			require.Equal(t, []string{"28:app-of-the-shop", ""}, []string{got.Event.To, got.GroupExternalID}, name)
		}
	}
}

// An activity may have any number of attachments. None may copy the others.
func TestHandler_ManyAttachments(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	const many = 4_000
	b := newUsualBox(t)
	fields := parsed(t, `{"attachments":[`+strings.Repeat(`{"contentType":"card"},`, many-1)+`{"contentType":"card"}]}`)
	activity := b.platform.Activity(shopApp(), adaID, "", fields)
	allocated := func() uint64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.TotalAlloc
	}
	before := allocated()
	answer := b.Ask(b.platform.Report(t.Context(), "/hotel", shopApp().ID, activity))
	require.Equal(t, http.StatusOK, answer.Code)
	require.Len(t, b.Got, 1)
	require.Less(t, allocated()-before, uint64(15_000*many))
}

func TestHandler_CommonFields(t *testing.T) {
	t.Parallel()
	b := newUsualBox(t)
	b.reports(t.Context(), document.O("text", "Hi", "timestamp", "2023-11-14T22:13:20.5Z", "locale", "de-DE"))
	got := b.Got[0]
	require.Equal(t, document.Timestamp(1_700_000_000_500), got.Event.Timestamp)
	require.Equal(t, "message a:app-of-the-shop-with-29:ada-1 1600000000001", got.Key)
	require.Equal(t, "1600000000001", got.Event.MessageID)
	require.Equal(t, "Ada Lovelace", got.Profile.FirstName)
	require.Equal(t, "de-DE", got.Profile.Locale)
	require.Equal(t, "hotel", got.Profile.Platform)
	require.Equal(t, "directory-29:ada-1", document.Get(got.Profile.Profile, "aadObjectId", ""))
}

func TestHandler_KeysOfEditsDiffer(t *testing.T) {
	t.Parallel()
	b := newUsualBox(t)
	keys := map[string]bool{}
	for _, fields := range []document.Object{
		document.O("text", "a"), document.O("text", "a"), document.O("type", "messageUpdate"),
		document.O("type", "messageUpdate", "timestamp", "2023-11-14T22:14:20Z"),
		document.O("text", "a", "conversation", document.O("id", "a:other")),
	} {
		b.reports(t.Context(), fields.With("id", "7"))
		keys[b.Got[len(b.Got)-1].Key] = true
	}
	require.Len(t, keys, 4, "a repetition has the same key")
	b.reports(t.Context(), document.O("text", "a", "id", nil))
	require.Empty(t, b.Got[len(b.Got)-1].Key)
}

func TestHandler_Drops(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields string
		reason send.DropReason
		status int
	}{
		"typing":                  {`{"type":"typing"}`, send.DropUnsupported, 200},
		"a search":                {`{"type":"invoke","name":"composeExtension/query"}`, send.DropUnsupported, 501},
		"another channel":         {`{"channelId":"webchat","text":"Hi"}`, send.DropUnsupported, 200},
		"a bot":                   {`{"from":{"id":"28:other"},"text":"Hi"}`, send.DropFromBot, 200},
		"a bot by its role":       {`{"from":{"id":"x","role":"bot"},"text":"Hi"}`, send.DropFromBot, 200},
		"no user":                 {`{"from":null,"text":"Hi"}`, send.DropIncomplete, 200},
		"no conversation":         {`{"conversation":{},"text":"Hi"}`, send.DropIncomplete, 200},
		"no kind":                 {`{"type":null,"text":"Hi"}`, send.DropInvalid, 200},
		"an action without a bot": {`{"type":"invoke","name":"adaptiveCard/action","from":null}`, send.DropIncomplete, 501},
	} {
		b := newUsualBox(t)
		require.Equal(t, c.status, b.reports(t.Context(), parsed(t, c.fields)).Code, name)
		require.Empty(t, b.Got, name)
		require.EqualValues(t, 1, b.DroppedFor(c.reason), name)
	}
}

func TestHandler_AnswersAnAction(t *testing.T) {
	t.Parallel()
	b := newUsualBox(t)
	answer := b.reports(t.Context(), parsed(t, `{"type":"invoke","name":"adaptiveCard/action","value":{"action":{"data":{"payload":"x"}}}}`))
	require.Equal(t, "application/json", answer.Header().Get("Content-Type"))
	require.Equal(t, 200, document.Get(parsed(t, answer.Body.String()), "statusCode", 0))
}

func TestHandler_LikeAllHandlers(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	receiver := connectortest.Receiver{
		Open: func(t *testing.T, lookUp connectortest.LookUp, bodyTime time.Duration) *connectortest.Box {
			t.Helper()
			find := func(context.Context, hotel.Bot) (*channel.Channel, error) { return shop(), nil }
			return newBox(t, p, p, func(config *hotel.Config) {
				config.FindChannel, config.BodyTime = connectortest.Find(lookUp, find), bodyTime
			}).Box
		},
		Request: func(ctx context.Context, body string) *http.Request {
			return hotelfake.Request(ctx, "/hotel", p.Token(shopApp().ID, hotelfake.ServiceURL), []byte(body))
		},
		Report:    p.Activity(shopApp(), adaID, "", document.O("text", "Hi")).String(),
		NoReports: []string{"", "[]", `{"text":`},
		Forge:     func(r *http.Request) { r.Header.Set("Authorization", "Bearer token") },
		Refused:   http.StatusForbidden,
	}
	receiver.Run(t)
}

func TestHandler_FindChannel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		found  *channel.Channel
		status int
	}{
		"another bot's channel":   {channelOf(deskApp()), 403},
		"without credentials":     {&channel.Channel{ID: "shop", App: "app-1", Type: channel.Hotel}, 403},
		"the channel of this bot": {shop(), 200},
	} {
		p := newPlatform()
		var asked hotel.Bot
		b := newBox(t, p, p, func(config *hotel.Config) {
			config.FindChannel = func(_ context.Context, of hotel.Bot) (*channel.Channel, error) {
				asked = of
				return c.found, nil
			}
		})
		require.Equal(t, c.status, b.reports(t.Context(), document.O("text", "Hi")).Code, name)
		require.Equal(t, name == "without credentials", b.Dropped("request", send.DropNoSecret) == 1, name)
		require.Equal(t, hotel.Bot{AppID: "app-of-the-shop", TenantID: "7d3a1c9e-8f42-4b6d-a1e0-6c5b4a392817"}, asked)
	}
}

func TestHandler_OddRequests(t *testing.T) {
	t.Parallel()
	b := newUsualBox(t)
	token := b.platform.Token(shopApp().ID, hotelfake.ServiceURL)
	for body, status := range map[string]int{
		"{}": 403,
		// If a field occurs twice, the last one counts, both in the check and in the event.
		`{"serviceUrl":"` + hotelfake.ServiceURL + `","channelId":"msteams","serviceUrl":"https://evil.test/"}`: 403,
	} {
		require.Equal(t, status, b.Ask(hotelfake.Request(t.Context(), "/hotel", token, []byte(body))).Code, "%.100s", body)
	}
	require.Empty(t, b.Got)
}

func FuzzHandler(f *testing.F) {
	f.Add(`{"type":"message","text":"Hi","from":{"id":"29:ada-1"},"conversation":{"id":"a:1"}}`)
	f.Add(`{"type":"message","value":{"payload":{"payload":"x"}},"from":{"id":"29:ada-1"},"conversation":{"id":"a:1"}}`)
	f.Add(`{"type":"invoke","name":"adaptiveCard/action","value":{"action":[]},"from":{"id":"29:ada-1"},"conversation":{"id":"a:1"}}`)
	f.Add(`{"type":"message","attachments":[7,{"contentType":"image/png","content":[]}],"entities":[{"type":"mention"}],"from":{"id":"x"},"conversation":{"id":"a:1","isGroup":1}}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, body string) {
		b := newUsualBox(t)
		var told document.Object
		if told.UnmarshalJSON([]byte(body)) == nil {
			body = told.With("serviceUrl", hotelfake.ServiceURL).With("channelId", "msteams").String()
		}
		answer := b.Ask(hotelfake.Request(t.Context(), "/hotel", b.platform.Token(shopApp().ID, hotelfake.ServiceURL), []byte(body)))
		require.Contains(t, []int{200, 400, 403, 413, 501}, answer.Code)
		if answer.Code == http.StatusOK {
			dropped := int64(0)
			for _, count := range b.Drops.Counts() {
				dropped += count.Count
			}
			require.EqualValues(t, 1, int64(len(b.Got))+dropped, "%s leaves one trace", body)
		}
		b.RequireComplete(t)
	})
}

func FuzzToken(f *testing.F) {
	p := newPlatform()
	f.Add(p.Token(shopApp().ID, hotelfake.ServiceURL))
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Add("a.b.c")
	valid := p.Token(shopApp().ID, hotelfake.ServiceURL)
	f.Fuzz(func(t *testing.T, token string) {
		b := newUsualBox(t)
		body := b.platform.Activity(shopApp(), adaID, "", document.O("text", "Hi"))
		answer := b.Ask(hotelfake.Request(t.Context(), "/hotel", token, []byte(body.String())))
		if token != valid {
			require.Equal(t, http.StatusForbidden, answer.Code)
			require.Empty(t, b.Got)
		}
	})
}
