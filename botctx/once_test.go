package botctx_test

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/around"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// outside records requests to external services.
type outside struct {
	mu    sync.Mutex
	asked []asked
}

type asked struct{ what, key string }

func (o *outside) note(what, key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, asked{what, key})
}

func (o *outside) take() []asked {
	o.mu.Lock()
	defer o.mu.Unlock()
	taken := o.asked
	o.asked = nil
	return taken
}

// around changes a Config so that all requests to services are recorded, and failed runs are tried again without a pause.
func (o *outside) around(c *botctx.Config) {
	all := send.Connectors{}
	for platform, inner := range c.Connectors {
		all[platform] = notingConnector{inner, o}
	}
	payments := c.Payments
	c.Connectors, c.Mailer, c.ObjectStore = all, notingMailer{c.Mailer, o}, notingFiles{c.ObjectStore, o}
	c.Payments = func(app, name string) (utility.PaymentClient, error) {
		client, err := payments(app, name)
		return notingPayments{client, o}, err
	}
	c.Inbox.Backoff, c.Scheduler.Backoff = noPause, noPause
}

type notingMailer struct {
	utility.Mailer

	outside *outside
}

func (n notingMailer) SendMail(ctx context.Context, mail utility.Mail) error {
	n.outside.note("mail", mail.ID)
	return n.Mailer.SendMail(ctx, mail)
}

type notingFiles struct {
	utility.ObjectStore

	outside *outside
}

func (n notingFiles) Put(ctx context.Context, file utility.StoredFile) error {
	n.outside.note("file", file.ID)
	return n.ObjectStore.Put(ctx, file)
}

type notingPayments struct {
	utility.PaymentClient

	outside *outside
}

func (n notingPayments) Charge(ctx context.Context, charge utility.Charge) (*utility.Payment, error) {
	n.outside.note("charge", charge.IdempotencyKey)
	return n.PaymentClient.Charge(ctx, charge)
}

func (n notingPayments) Refund(ctx context.Context, refund utility.Refund) (*utility.Payment, error) {
	n.outside.note("refund", refund.IdempotencyKey)
	return n.PaymentClient.Refund(ctx, refund)
}

// notingConnector wraps a connector and records the requests. It has the same ports as the inner connector.
type notingConnector struct {
	send.Connector

	outside *outside
}

var _ send.PortWrapper = notingConnector{}

func (n notingConnector) Unwrap() send.Connector { return n.Connector }

func (n notingConnector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	n.outside.note("send", message.ID)
	return n.Connector.Send(ctx, message)
}

func (n notingConnector) WrapPort(wanted, inner any) any {
	return around.Port(wanted, inner, func(ctx context.Context, name string, _ *channel.Channel, do func(context.Context) error) error {
		if name != "groupName" && name != "recallTicket" { // These can be repeated, so they have no keys.
			n.outside.note(name, send.KeyOf(ctx))
		}
		return do(ctx)
	})
}

func noPause(int) time.Duration { return 0 }

// tried is a platform for tests in which the run of an accepted event is tried twice.
type tried struct {
	*desk

	t       *testing.T
	outside outside
	// actor is the sender of the event: Bob, who is not in a live chat.
	actor *fakes.Actor
}

// try accepts an event and runs it twice, because the first attempt fails after logic. logic gets the number of the
// attempt. try returns the requests to services in each attempt.
func (w *tried) try(logic func(ctx context.Context, bot *botctx.Context, attempt int) error) (first, second []asked) {
	w.t.Helper()
	attempt := 0
	runtime := w.Runtime()
	w.Handle(&botctx.Node{ID: "go", Trigger: botctx.TextIs("go"), Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
		attempt++
		if err := logic(ctx, bot, attempt); err != nil {
			return err
		}
		if attempt == 1 {
			return boterr.New(boterr.Unavailable, "", "no answer")
		}
		return nil
	}}})
	scope := w.actor.Scope()
	require.NoError(w.t, runtime.Accept(w.t.Context(), botctx.Inbound{App: scope.App, Channel: scope.Channel, Event: send.MessageEvent{
		From: w.actor.ExternalID(), Type: send.TypeText, Data: document.O("text", "go"),
	}}))
	w.outside.take()
	result, err := runtime.RunNextEvent(w.t.Context())
	require.NoError(w.t, err)
	require.ErrorIs(w.t, result.Err, boterr.Unavailable)
	first = w.outside.take()
	result, err = runtime.RunNextEvent(w.t.Context())
	require.NoError(w.t, err)
	require.NoError(w.t, result.Err)
	require.Equal(w.t, 2, attempt)
	return first, w.outside.take()
}

// newTried returns a platform whose outlet has the given type.
func newTried(t *testing.T, outlet channel.Type) *tried {
	t.Helper()
	w := &tried{t: t}
	w.desk = newDesk(t, channel.Channel{Type: outlet}, nil, fakes.Config(w.outside.around))
	w.actor = w.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
	return w
}

// on adds a channel of a type, and a member who becomes the actor.
func (w *tried) on(platform channel.Type) *fakes.Actor {
	w.AddChannel(channel.Channel{ID: "here", Type: platform})
	w.actor = w.AddMember(member.Member{Channel: "here", FirstName: "Bob"})
	return w.actor
}

func (w *tried) group() *livechat.Group {
	w.t.Helper()
	g, err := w.ada.Context().GetGroupByMemberID(w.t.Context(), livechat.GetGroupByMemberIDParams{Inlet: "web", MemberID: w.ada.ID()})
	require.NoError(w.t, err)
	require.NotNil(w.t, g)
	return g
}

// atDesk returns the arguments channel and messageEvent for a message of Grace, and the given further arguments.
func (w *tried) atDesk(pairs ...any) document.Object {
	event := document.O("from", w.grace.ExternalID(), "to", w.group().ExternalID)
	return document.O(append([]any{"channel", document.O("_id", "desk"), "messageEvent", event}, pairs...)...)
}

func (w *tried) bravoGroup() string {
	w.t.Helper()
	made, err := w.ada.Context().CreateBravoGroup(w.t.Context(), livechat.CreateBravoGroupParams{ChannelID: "desk", Name: "Orders"})
	require.NoError(w.t, err)
	return made.GroupID
}

var helloObject = document.O("type", "TEXT", "text", "Hello")

var leaving = map[botctx.Op]struct {
	// outlet is the type of the outlet. The default is charlie.
	outlet channel.Type
	// args prepares a call and returns its arguments.
	args func(w *tried) document.Object
	// asks is the name of the request that the operation makes to a service.
	asks string
	// isLast is true if the bot cannot write to the member after the operation.
	isLast bool
}{
	botctx.OpSendResponse: {asks: "send", args: func(*tried) document.Object { return document.O("response", helloObject) }},
	botctx.OpSendAlphaResponse: {asks: "send", args: func(w *tried) document.Object {
		w.on(channel.Alpha)
		return document.O("response", helloObject)
	}},
	botctx.OpSendAlphaResponseToMemberIDs: {asks: "send", args: func(w *tried) document.Object {
		return document.O("response", helloObject, "memberId", document.A(w.on(channel.Alpha).ID()))
	}},
	botctx.OpSendHotelResponse: {asks: "send", args: func(w *tried) document.Object {
		return document.O("response", helloObject, "recipientId", w.on(channel.Hotel).ExternalID())
	}},
	botctx.OpSendDeltaResponse: {asks: "sendBatch", args: func(w *tried) document.Object {
		w.on(channel.Delta)
		return document.O("response", helloObject)
	}},
	botctx.OpUpdateMessage: {asks: "updateMessage", args: func(w *tried) document.Object {
		w.on(channel.Charlie)
		sent, err := w.actor.Context().SendResponse(w.t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
		require.NoError(w.t, err)
		return document.O("externalChannelId", sent.Results[0].ChatID, "messageTs", sent.Results[0].MessageEvent.MessageID, "text", "Bye")
	}},
	botctx.OpCharlieArchiveConversation: {asks: "archiveConversation", args: func(w *tried) document.Object {
		w.AddChannel(channel.Channel{ID: "rooms", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
			{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "room", Type: "public_channel"}}},
		}})
		return document.O("channel", document.O("_id", "rooms"), "messageEvent", document.O("to", "room"))
	}},
	botctx.OpEchoSaveMemberTag: {asks: "saveTag", args: func(w *tried) document.Object {
		w.on(channel.Echo)
		return document.O("tagId", 100)
	}},
	botctx.OpAlphaCreateBroadcast: {asks: "createBroadcast", args: func(w *tried) document.Object {
		w.on(channel.Alpha)
		return document.O("response", helloObject)
	}},
	botctx.OpAlphaSendBroadcast: {asks: "sendBroadcast", args: func(w *tried) document.Object {
		bot := w.on(channel.Alpha).Context()
		_, err := bot.AlphaSaveCustomLabel(w.t.Context(), send.AlphaSaveCustomLabelParams{LabelID: "vip"})
		require.NoError(w.t, err)
		made, err := bot.AlphaCreateBroadcast(w.t.Context(), send.AlphaCreateBroadcastParams{Response: send.Text("Sale")})
		require.NoError(w.t, err)
		return document.O("broadcastId", string(made.Result[0].ID()), "labelId", "vip", "notificationType", "REGULAR")
	}},
	botctx.OpAlphaGetAttachmentID: {asks: "uploadAttachment", args: func(w *tried) document.Object {
		w.on(channel.Alpha)
		return document.O("type", "IMAGE", "url", "https://example.com/a.png")
	}},
	botctx.OpAlphaPassThreadControl: {asks: "passThreadControl", isLast: true, args: func(w *tried) document.Object {
		w.on(channel.Alpha)
		return document.O()
	}},
	botctx.OpAlphaSaveCustomLabel: {asks: "saveLabel", args: func(w *tried) document.Object {
		w.on(channel.Alpha)
		return document.O("labelId", "vip")
	}},
	botctx.OpAlphaRemoveCustomLabel: {asks: "removeLabel", args: func(w *tried) document.Object {
		_, err := w.on(channel.Alpha).Context().AlphaSaveCustomLabel(w.t.Context(), send.AlphaSaveCustomLabelParams{LabelID: "vip"})
		require.NoError(w.t, err)
		return document.O("labelId", "vip")
	}},
	botctx.OpCreateAssignment: {asks: "send", args: func(w *tried) document.Object {
		return document.O("member", document.O("_id", w.ada.ID()))
	}},
	botctx.OpAddNewTargetsToAssignment: {asks: "send", args: func(w *tried) document.Object {
		asked, err := w.ada.Context().CreateAssignment(w.t.Context(), livechat.CreateAssignmentParams{})
		require.NoError(w.t, err)
		return document.O("assignmentId", asked.AssignmentID, "targets", document.A(document.O("channel", "desk", "label", "sales")))
	}},
	botctx.OpReassignAssignment: {asks: "send", args: func(w *tried) document.Object {
		w.connect(w.t)
		return w.atDesk("label", "sales")
	}},
	botctx.OpRemovePendingAssignmentByMemberID: {args: func(w *tried) document.Object {
		w.ask(w.t)
		return document.O("memberId", w.ada.ID())
	}},
	botctx.OpEndLiveChat: {args: func(w *tried) document.Object {
		w.connect(w.t)
		return w.atDesk()
	}},
	botctx.OpInletEndLiveChat: {args: func(w *tried) document.Object {
		w.connect(w.t)
		return document.O("member", document.O("_id", w.ada.ID()))
	}},
	botctx.OpEndBravoLiveChat: {outlet: channel.Bravo, args: func(w *tried) document.Object {
		w.connect(w.t)
		return document.O("channelId", "desk", "adminExternalId", w.grace.ExternalID(), "bravoGroupId", w.group().ExternalID)
	}},
	botctx.OpHandleAdminJoinedGroup: {outlet: channel.Bravo, asks: "disableInviteLink", args: func(w *tried) document.Object {
		return document.O("channel", document.O("_id", "desk"), "externalId", w.grace.ExternalID(), "bravoGroupId", w.bravoGroup())
	}},
	botctx.OpCreateBravoGroup: {outlet: channel.Bravo, asks: "createGroup", args: func(*tried) document.Object {
		return document.O("channelId", "desk", "name", "Orders")
	}},
	botctx.OpDisableBravoGroupInviteLink: {outlet: channel.Bravo, asks: "disableInviteLink", args: func(w *tried) document.Object {
		return document.O("channel", document.O("_id", "desk"), "externalId", w.bravoGroup())
	}},
	botctx.OpSetBravoGroupIcon: {outlet: channel.Bravo, asks: "setGroupIcon", args: func(w *tried) document.Object {
		w.ReplyHTTP("GET", "https://example.com/icon.png", web.Reply{Header: pngHeader(), Body: "png"})
		return document.O("channelId", "desk", "bravoGroupId", w.bravoGroup(), "imageUrl", "https://example.com/icon.png")
	}},
	botctx.OpCreateHotelChannel: {asks: "createChannel", args: func(w *tried) document.Object {
		w.on(channel.Hotel)
		return document.O("hotelGroupId", "floor", "displayName", "Lobby")
	}},
	botctx.OpSendMessageToInlet: {asks: "send", args: func(w *tried) document.Object {
		w.connect(w.t)
		return w.atDesk("response", helloObject)
	}},
	botctx.OpSendMessageToInletGroup: {asks: "send", args: func(w *tried) document.Object {
		w.AddChannel(channel.Channel{ID: "here", Type: channel.Bravo})
		w.Pair("here", "desk")
		bob := w.AddMember(member.Member{Channel: "here", FirstName: "Bob"}).InGroup("family")
		_, err := bob.Context().CreateAssignment(w.t.Context(), livechat.CreateAssignmentParams{})
		require.NoError(w.t, err)
		w.grace.Takes(w.grace.Ticket())
		g, err := bob.Context().GetGroupByMemberID(w.t.Context(), livechat.GetGroupByMemberIDParams{Inlet: "here", MemberID: bob.ID()})
		require.NoError(w.t, err)
		return document.O("groupId", g.ID, "response", helloObject)
	}},
	botctx.OpSendMessageToOutletGroup: {asks: "send", args: func(w *tried) document.Object {
		w.connect(w.t)
		return document.O("groupId", w.group().ID, "response", helloObject)
	}},
	botctx.OpSendEmail: {asks: "mail", args: func(*tried) document.Object {
		return document.O("destination", document.O("ToAddresses", document.A("ada@example.com")),
			"message", document.O("Subject", document.O("Data", "Hi"), "Body", document.O("Text", document.O("Data", "Hi"))))
	}},
	botctx.OpUploadFileToObjectStore: {asks: "file", args: func(w *tried) document.Object {
		w.ReplyHTTP("GET", "https://example.com/a.pdf", web.Text(200, "pdf"))
		return document.O("url", "https://example.com/a.pdf", "filename", "a.pdf", "contentType", "application/pdf")
	}},
}

// TestTriedAgain_DoesNotRepeatWhatLeftTheStore calls each operation that makes a request to a service, in a run that
// fails afterwards. The next attempt does not repeat the request, gets the same result, and sends later messages.
func TestTriedAgain_DoesNotRepeatWhatLeftTheStore(t *testing.T) {
	t.Parallel()
	for op, row := range leaving {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			w := newTried(t, cmp.Or(row.outlet, channel.Charlie))
			args, err := row.args(w).MarshalJSON()
			require.NoError(t, err)
			var answers []json.RawMessage
			first, second := w.try(func(ctx context.Context, bot *botctx.Context, attempt int) error {
				answer, err := bot.Call(ctx, string(op), args)
				require.NoError(t, err)
				answers = append(answers, answer)
				if attempt == 2 && !row.isLast {
					return bot.Reply(ctx, send.Text("done"))
				}
				return nil
			})
			if !row.isLast {
				require.Len(t, second, 1, "the second attempt asks for its own message alone: %v, after %v", second, first)
				require.Equal(t, "send", second[0].what)
			}
			requireKeys(t, slices.Concat(first, second))
			if row.asks != "" {
				require.True(t, slices.ContainsFunc(first, func(a asked) bool { return a.what == row.asks }), "%v", first)
			}
			requireSameAnswer(t, answers[0], answers[1])
		})
	}
}

func requireKeys(t *testing.T, all []asked) {
	t.Helper()
	seen := map[string]bool{}
	for _, each := range all {
		require.NotEmpty(t, each.key, each.what)
		require.False(t, seen[each.key], "two things have the key %s: %v", each.key, all)
		seen[each.key] = true
	}
}

// requireSameAnswer compares the results of two calls, except for values that differ in each call.
func requireSameAnswer(t *testing.T, first, second json.RawMessage) {
	t.Helper()
	var one, other document.Object
	if one.UnmarshalJSON(first) != nil || other.UnmarshalJSON(second) != nil {
		require.JSONEq(t, string(first), string(second))
		return
	}
	for _, field := range []string{"clientMutationId", "member"} {
		one, other = one.Without(field), other.Without(field)
	}
	require.JSONEq(t, one.String(), other.String())
}

// staying are the operations that only use the store, so they need no key. Golf is one of them: only the client that it
// returns makes requests.
var staying = []botctx.Op{
	botctx.OpFindAndModifyMember, botctx.OpFindAndModifyDataFromDataSource, botctx.OpUpsertDataToDataSource, botctx.OpCountDataSource,
	botctx.OpFetchDataFromDataSource, botctx.OpFetchDistinctDataFromDataSource, botctx.OpFetchGeoNearFromDataSource,
	botctx.OpPatchDataToDataSource, botctx.OpGetMember, botctx.OpPatchMembers, botctx.OpUpdateMember,
	botctx.OpCheckAndSaveMemberReferFrom, botctx.OpNewAgenda, botctx.OpUpdateAgenda, botctx.OpDeleteMemberAgenda,
	botctx.OpRedirectMemberToNode, botctx.OpGetAssignment, botctx.OpGetAssignmentByOutlet, botctx.OpGetAssignmentByBravoGroupID,
	botctx.OpGetAssignmentsByMemberID, botctx.OpGetAssignmentsByMeta, botctx.OpGetAssignmentsByParentAssignmentID,
	botctx.OpUpdateAssignmentGroup, botctx.OpUpdateAssignmentMeta, botctx.OpGetGroup, botctx.OpGetGroupByExternalID,
	botctx.OpGetGroupByGroupExternalID, botctx.OpGetGroupByInletGroup, botctx.OpGetGroupByMemberID, botctx.OpUpdateGroup,
	botctx.OpUpdateGroupMeta, botctx.OpInactivateGroup, botctx.OpGetAdmin, botctx.OpGetAdminByExternalID, botctx.OpGetChannel,
	botctx.OpSavePostCommentAnalytics, botctx.OpSaveGroupIDToMember, botctx.OpGolf,
}

func TestTriedAgain_KnowsEachOperation(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, botctx.Ops(), slices.Concat(slices.Collect(maps.Keys(leaving)), staying))
}

var tenEuro = utility.Charge{Amount: 1000, Currency: "eur", PaymentMethod: "card"}

func shopOf(ctx context.Context, t *testing.T, bot *botctx.Context) utility.PaymentClient {
	t.Helper()
	shop, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
	require.NoError(t, err)
	require.NotNil(t, shop.Provider)
	return shop.Client
}

func TestTriedAgain_ChargesAndRefundsOnce(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	account := w.AddAccount("shop")
	var paid []utility.Payment
	first, second := w.try(func(ctx context.Context, bot *botctx.Context, _ int) error {
		shop := shopOf(ctx, t, bot)
		for range 2 {
			payment, err := shop.Charge(ctx, tenEuro)
			require.NoError(t, err)
			paid = append(paid, *payment)
		}
		payment, err := shop.Refund(ctx, utility.Refund{PaymentID: paid[0].ID, Amount: 300})
		require.NoError(t, err)
		paid = append(paid, *payment)
		return nil
	})
	require.Len(t, first, 3)
	requireKeys(t, first)
	require.Empty(t, second)
	require.Equal(t, paid[:3], paid[3:])
	require.NotEqual(t, paid[0].ID, paid[1].ID, "two charges of one run")
	require.Len(t, account.Payments(), 2)
	require.Equal(t, int64(300), account.Payments()[0].Refunded)
}

func TestTriedAgain_AnotherChargeIsAConflict(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	account := w.AddAccount("shop")
	w.try(func(ctx context.Context, bot *botctx.Context, attempt int) error {
		charge := tenEuro
		charge.Amount += int64(attempt)
		payment, err := shopOf(ctx, t, bot).Charge(ctx, charge)
		if attempt == 2 {
			require.ErrorIs(t, err, boterr.Conflict)
			require.Nil(t, payment)
			return nil
		}
		return err
	})
	require.Len(t, account.Payments(), 1)
}

func TestTriedAgain_ChargeWithAKeyGoesToTheProvider(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	account := w.AddAccount("shop")
	first, second := w.try(func(ctx context.Context, bot *botctx.Context, _ int) error {
		charge := tenEuro
		charge.IdempotencyKey = "order-7"
		_, err := shopOf(ctx, t, bot).Charge(ctx, charge)
		return err
	})
	require.Equal(t, []asked{{"charge", "order-7"}}, first)
	require.Equal(t, first, second)
	require.Len(t, account.Payments(), 1)
}

func TestTriedAgain_BatchSendsWhatWasNotTaken(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	ada := w.on(channel.Delta)
	bob := w.AddMember(member.Member{Channel: "here", FirstName: "Bob"})
	w.Inject(fakes.Refuses(bob, boterr.Unavailable))
	var results [][]send.Result
	first, second := w.try(func(ctx context.Context, bot *botctx.Context, attempt int) error {
		if attempt == 2 {
			w.Lift(fakes.Refuses(bob, boterr.Unavailable))
		}
		sent, err := bot.SendDeltaResponse(ctx, send.SendDeltaResponseParams{
			Response: send.Text("Hello"), MemberID: document.One(ada.ID(), bob.ID()),
		})
		results = append(results, sent.Results)
		return err
	})
	require.Len(t, first, 1)
	require.Len(t, second, 1)
	requireKeys(t, append(first, second...))
	require.Len(t, ada.Messages(), 1)
	require.Len(t, bob.Messages(), 1)
	require.Error(t, results[0][1].Err)
	require.Equal(t, results[0][0].MessageEvent.MessageID, results[1][0].MessageEvent.MessageID)
	require.NoError(t, results[1][1].Err)
}

// TestTriedAgain_MailsEachRecipient sends mails in a different order in the second attempt.
func TestTriedAgain_MailsEachRecipient(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	w.try(func(ctx context.Context, bot *botctx.Context, attempt int) error {
		recipients := map[int][]string{1: {"ada@example.com"}, 2: {"bob@example.com", "ada@example.com"}}
		for _, to := range recipients[attempt] {
			_, err := bot.SendEmail(ctx, utility.SendEmailParams{
				Destination: utility.EmailDestination{ToAddresses: []string{to}},
				Message: utility.EmailMessage{
					Subject: utility.EmailText{Data: "Hi"}, Body: utility.EmailBody{Text: &utility.EmailText{Data: "Hi"}},
				},
			})
			require.NoError(t, err)
		}
		return nil
	})
	require.Len(t, w.Mailbox("ada@example.com"), 1)
	require.Len(t, w.Mailbox("bob@example.com"), 1)
}

// TestTriedAgain_RunsWithin redirects another member and the own member of a run, and calls Receive in that run. The
// messages of these inner runs are not sent again.
func TestTriedAgain_RunsWithin(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	eve := w.AddMember(member.Member{Channel: "web", FirstName: "Eve"})
	w.Handle(
		&botctx.Node{ID: "other", Responses: []send.Response{send.Text("one"), send.Text("one")}, Redirect: botctx.To("more")},
		&botctx.Node{ID: "more", Responses: []send.Response{send.Text("one")}},
		&botctx.Node{ID: "heard", Trigger: botctx.TextIs("heard"), Responses: []send.Response{send.Text("one")}},
	)
	first, second := w.try(func(ctx context.Context, bot *botctx.Context, _ int) error {
		for _, who := range []string{w.actor.ID(), eve.ID(), eve.ID()} {
			err := redirectsTo(who, "other")(ctx, bot)
			require.NoError(t, err)
		}
		return w.Runtime().Receive(ctx, botctx.Inbound{App: bot.Scope().App, Channel: "web", Event: send.MessageEvent{
			From: eve.ExternalID(), Type: send.TypeText, Data: document.O("text", "heard"),
		}})
	})
	require.Len(t, first, 10)
	requireKeys(t, first)
	require.Empty(t, second)
}

// TestTriedAgain_MakesEachAgendaOnce schedules a node twice in one run. The next attempt creates no more agendas, and
// the messages of the two agendas have different keys.
func TestTriedAgain_MakesEachAgendaOnce(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	w.Handle(&botctx.Node{ID: "reminder", Responses: []send.Response{send.Text("Do not forget.")}})
	var made []string
	w.try(func(ctx context.Context, bot *botctx.Context, attempt int) error {
		for range 2 {
			one, err := bot.NewAgenda(ctx, agenda.NewParams{
				MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(time.Duration(attempt) * time.Hour)),
			})
			require.NoError(t, err)
			made = append(made, one.ID)
		}
		_, err := bot.NewAgenda(ctx, agenda.NewParams{
			MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(time.Hour)), Tag: "one", Replace: true,
		})
		return err
	})
	require.Equal(t, made[:2], made[2:])
	require.NotEqual(t, made[0], made[1])
	require.Len(t, w.actor.Agendas(), 3)
	w.Advance(2 * time.Hour)
	sent := w.outside.take()
	require.Len(t, sent, 3)
	requireKeys(t, sent)
}

// TestTriedAgain_AgendaSendsUnderTheSameKeys fails the run of an agenda after its requests. The next attempt makes
// the requests with the same keys.
func TestTriedAgain_AgendaSendsUnderTheSameKeys(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	account := w.AddAccount("shop")
	w.on(channel.Alpha)
	var keys []string
	w.Handle(&botctx.Node{ID: "due", Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.AlphaCreateBroadcast(ctx, send.AlphaCreateBroadcastParams{Response: send.Text("Sale")})
		require.NoError(t, err)
		_, err = shopOf(ctx, t, bot).Charge(ctx, tenEuro)
		require.NoError(t, err)
		if keys = append(keys, bot.Agenda.Key); len(keys) == 1 {
			return boterr.New(boterr.Unavailable, "", "no answer")
		}
		return nil
	}}})
	plan(t, w.actor.Context(), w.actor.ID(), "due", 0)
	w.outside.take()
	var sent [][]asked
	for range 2 {
		result, err := w.Runtime().RunNextAgenda(t.Context())
		require.NoError(t, err)
		require.True(t, result.Ran)
		sent = append(sent, w.outside.take())
	}
	require.Equal(t, keys[0], keys[1])
	require.Len(t, sent[0], 2)
	requireKeys(t, sent[0])
	require.Equal(t, sent[0], sent[1])
	require.Len(t, account.Payments(), 1)
}
