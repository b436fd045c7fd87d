package botctx_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// filledByOthers are the fields of records that nothing in the SDK fills, and who does.
func filledByOthers() map[string]map[string]string {
	const (
		platform = "the platform, by Inbound.Profile, when the member first arrives"
		logic    = "bot logic, or the host"
	)
	return map[string]map[string]string{
		"member": {
			"firstName": platform, "lastName": platform, "gender": platform, "email": platform, "locale": platform,
			"profilePic": platform, "profile": platform,
			"customLocale": logic, "group": logic, "admin": logic, "tags": logic, "meta": logic,
		},
		"group":  {"meta": logic},
		"agenda": {"meta": logic},
	}
}

// familyDesk is a platform on which Ada, who is not known yet, asks in a group for a person,
// and Grace hands her on to Hedy.
func familyDesk(t *testing.T) *fakes.Platform {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "family", Type: channel.Delta, Info: channel.DeltaInfo{TbID: "bot-1"}})
	p.AddChannel(channel.Channel{
		ID: "desk", Type: channel.Charlie, Info: channel.CharlieInfo{BotID: "bot-2"}, BroadcastGroups: []channel.BroadcastGroup{
			{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
			{Label: "sales", Groups: []channel.BroadcastGroupMember{{ID: "sales", Type: "public_channel"}}},
		},
	})
	p.Pair("family", "desk")
	p.Handle(
		&botctx.Node{
			ID: "person", Tree: "main", SavesPosition: true, Trigger: botctx.TextIs("a person"), Pre: []botctx.Action{callAgent},
			Responses: []send.Response{send.Text("One moment.")},
		},
		&botctx.Node{ID: "transfer", Tree: "main", Trigger: botctx.TextIs("/sales"), Pre: []botctx.Action{transferInGroup}},
	)
	grace, hedy := p.AddAgent("desk", "Grace", "support"), p.AddAgent("desk", "Hedy", "sales")
	require.NoError(t, p.Runtime().Receive(t.Context(), botctx.Inbound{
		App: fakes.DefaultApp, Channel: "family", GroupExternalID: "hall", Event: send.MessageEvent{
			From: "ada", Type: send.TypeText, Data: document.O("text", "a person"), MessageID: "m-1",
		},
	}))
	grace.Takes(grace.Ticket())
	grace.Says("/sales")
	hedy.Takes(hedy.Ticket())
	return p
}

// transferInGroup hands a live chat in a group on to the sales.
func transferInGroup(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.ReassignAssignment(ctx, livechat.ReassignAssignmentParams{
		MessageEvent: bot.MessageEvent, Label: "sales", InletGroup: true,
	})
	return err
}

// recordsOf returns, by kind, what operations show of what happened on a platform.
func recordsOf(t *testing.T, p *fakes.Platform) map[string]gjson.Result {
	t.Helper()
	all, err := p.Runtime().LiveChats(fakes.DefaultApp).FindAssignments(t.Context(), record.Query{})
	require.NoError(t, err)
	r := all[len(all)-1]
	bot := p.Operations(record.Scope{Channel: "family", Member: r.Member})
	redirected := callf(t, bot, "redirectMemberToNode",
		`{"memberId": %q, "channelId": "family", "nodeCompositeId": "person", "redirectOptions": {"runPreAction": false}}`, r.Member).Get("sendResults.0")
	return map[string]gjson.Result{
		"member":           callf(t, bot, "getMember", `{"memberId": %q}`, r.Member),
		"assignment":       callf(t, bot, "getAssignment", `{"assignmentId": %q}`, r.ID),
		"target":           callf(t, bot, "getAssignment", `{"assignmentId": %q}`, r.ID).Get("targets.0"),
		"group":            callf(t, bot, "getGroup", `{"groupId": %q}`, r.Group),
		"admin":            callf(t, bot, "getAdminByExternalId", `{"externalId": %q}`, r.Assignee),
		"channelReference": callf(t, bot, "getChannel", `{"channelId": "family"}`),
		"agenda": callf(t, bot, "newAgenda",
			`{"memberId": %q, "nodeCompositeId": "person", "nextRunAt": 5, "tag": "once"}`, r.Member),
		"nodeSendResult": redirected,
		"sendResult":     redirected.Get("result.0"),
		"messageEvent":   redirected.Get("result.0.messageEvent"),
	}
}

func TestRecords_EachFieldIsFilled(t *testing.T) {
	t.Parallel()
	for name, shown := range recordsOf(t, familyDesk(t)) {
		kind, ok := operations.KindNamed(name)
		require.True(t, ok, name)
		var empty []string
		for _, field := range kind.Fields {
			if slices.Contains([]string{"", "null", `""`, "{}", "[]"}, shown.Get(field.Name).Raw) {
				empty = append(empty, field.Name)
			}
		}
		require.ElementsMatch(t, slices.Collect(maps.Keys(filledByOthers()[name])), empty, "%s: %s", name, shown.Raw)
	}
}

func TestReceive_KeepsProfile(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha, Info: channel.AlphaInfo{PageID: "p1"}})
	var met []member.Member
	p.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
		met = append(met, *bot.Member)
		return nil
	})
	for _, name := range []string{"Ada", "Augusta"} {
		require.NoError(t, p.Runtime().Receive(t.Context(), botctx.Inbound{
			App: fakes.DefaultApp, Channel: "page", Event: send.MessageEvent{From: "1815", Type: send.TypeText, Data: document.O("text", "hi")},
			Profile: member.Member{
				FirstName: name, LastName: "King", Gender: "f", Email: "ada@example.com", Locale: "en_GB",
				ProfilePic: "https://example.com/ada.png", Profile: document.O("timezone", 0), Tags: document.A("vip"), Admin: "a1",
			},
		}))
	}
	require.Equal(t, met[0], met[1], "a member who is known stays as it is")
	ada := met[0]
	require.Equal(t, []string{"Ada", "King", "f", "ada@example.com", "en_GB", "https://example.com/ada.png", "alpha", "p1", "a1"},
		[]string{ada.FirstName, ada.LastName, ada.Gender, ada.Email, ada.Locale, ada.ProfilePic, ada.Platform, ada.BotID, ada.Admin})
	require.JSONEq(t, `{"profile": {"timezone": 0}, "tags": ["vip"]}`,
		document.O("profile", ada.Profile, "tags", ada.Tags).String())
}
