package fakes_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// claimed is a bot that claims a coupon and plans a reminder.
func claimed(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: "coupons", Filter: document.O("taken", false), Patch: document.Set("taken", true),
	})
	if err != nil {
		return err
	}
	bot.Member.Meta.Set("coupon.code", "SPRING")
	_, err = bot.NewAgenda(ctx, agenda.NewParams{
		MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(time.Hour)),
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Your code: SPRING"))
}

func TestDiff_TimesAreReadable(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(&botctx.Node{ID: "reminder", Entry: true, Responses: botctx.Say("Now.")})
	bot := p.AddMember(member.Member{FirstName: "Ada"}).Context()
	must(t, bot.NewAgenda, agenda.NewParams{
		MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(p.Now().Add(time.Hour)),
	})
	before := p.Snapshot()
	must(t, bot.UpdateAgenda, agenda.UpdateParams{MemberID: bot.Member.ID, NextRunAt: document.TimestampOf(p.Now().Add(2 * time.Hour))})
	require.Contains(t, p.Since(before).String(), `: nextRunAt: "2026-01-01T01:00:00.000Z" -> "2026-01-01T02:00:00.000Z"`)
	require.Contains(t, p.Transcript(), `"nextRunAt":"2026-01-01T02:00:00.000Z"`)
	require.NotContains(t, p.Transcript(), "17672")
}

func TestDiff_OfATurn(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(
		&botctx.Node{ID: "coupon", Trigger: botctx.TextIs("coupon"), Pre: botctx.Do(claimed), SavesPosition: true},
		&botctx.Node{ID: "reminder", Responses: botctx.Say("Still yours.")},
	)
	p.AddData("coupons", document.O("_id", "a", "code", "SPRING", "taken", false), document.O("_id", "b", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	before := p.Snapshot()
	ada.Says("coupon")
	changes := p.Since(before)

	require.Equal(t, "SPRING", document.Get(changes.Members[0].After.Meta, "coupon.code", ""))
	code, isChanged := changes.Members[0].Field("meta.coupon.code")
	require.Equal(t, fakes.FieldChange{Path: "meta.coupon.code", After: "SPRING", IsThere: true}, code)
	require.True(t, isChanged)
	_, isChanged = changes.Members[0].Field("firstName")
	require.False(t, isChanged)
	require.Equal(t, "coupons", changes.Data[0].In)
	require.True(t, changes.Agendas[0].IsNew())
	require.Equal(t, "reminder", changes.Agendas[0].After.NodeCompositeID)
	require.Equal(t, "Your code: SPRING", changes.Sent[0].Response.Text())
	require.Equal(t, strings.TrimSpace(`
+ Ada <- "Your code: SPRING"
~ member member-1: botMeta.nodeCompositeId: none -> "coupon"
~ member member-1: botMeta.tree: none -> ""
~ member member-1: meta.coupon.code: none -> "SPRING"
~ entry a of coupons: taken: false -> true
+ agenda id-1: {"app":"app-1","channel":"channel-1","member":"member-1","nodeCompositeId":"reminder","nextRunAt":"2026-01-01T01:00:00.000Z","priority":0,"meta":{},"completed":false}`), changes.String())

	before = p.Snapshot()
	p.Advance(time.Hour)
	require.Contains(t, p.Since(before).String(), "completed: false -> true")
}

func TestDiff_FieldsByTheirPaths(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ada := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("address", document.O("city", "Oslo", "zip", "0150"))})
	before := p.Snapshot()
	ada.Patch(document.O("meta", document.O("address", document.O("city", "Bergen"))))
	require.Equal(t, strings.TrimSpace(`
~ member member-1: meta.address.city: "Oslo" -> "Bergen"
~ member member-1: meta.address.zip: "0150" -> none`), p.Since(before).String())
}

func TestDiff_IsEmptyWhereNothingChanged(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.CountDataSource(ctx, datasource.CountParams{DataSourceID: "coupons"})
		return err
	})
	p.AddData("coupons", document.O("taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	before := p.Snapshot()
	ada.Says("hi")
	p.Advance(time.Hour)
	p.Inject(fakes.Fails(botctx.OpGetMember, boterr.Unavailable)).Optional()
	require.Empty(t, p.Since(before))
	require.Equal(t, "no changes", p.Since(before).String())
}

func TestDiff_OfNothing(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	require.Empty(t, fakes.Diff(nil, nil))
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	all := p.Since(nil)
	require.Equal(t, ada.Member().ID, all.Members[0].After.ID)
	require.True(t, all.Members[0].IsNew())
	require.False(t, fakes.Diff(p.Snapshot(), nil).Members[0].IsNew())
}

func TestDiff_OfWhatLeftThePlatform(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Charlie})
	account := p.AddAccount("shop")
	p.ReplyHTTP("GET", "https://shop.example/bill", web.Text(200, "a bill"))
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "page"})
	bot := ada.Context()
	paid := must(t, account.Charge, utility.Charge{Amount: 2500, Currency: "eur", PaymentMethod: "card"})
	sent := must(t, bot.SendResponse, send.SendResponseParams{Response: send.Text("Wait.")})
	before := p.Snapshot()

	must(t, account.Refund, utility.Refund{PaymentID: paid.ID, Amount: 500})
	must(t, bot.UpdateMessage, send.UpdateMessageParams{
		ExternalChannelID: sent.Results[0].ChatID, MessageEvent: &sent.Results[0].MessageEvent, Text: "Done.",
	})
	must(t, bot.UploadFileToObjectStore, utility.UploadFileToObjectStoreParams{
		URL: "https://shop.example/bill", Filename: "bill.txt", ContentType: "text/plain",
	})
	must(t, bot.SendEmail, utility.SendEmailParams{
		Destination: utility.EmailDestination{ToAddresses: []string{"ada@example.com"}},
		Message: utility.EmailMessage{
			Subject: utility.EmailText{Data: "Your bill"}, Body: utility.EmailBody{Text: &utility.EmailText{Data: "Attached."}},
		},
	})

	changes := p.Since(before)
	require.Empty(t, changes.Sent)
	require.Equal(t, "Done.", changes.Shown[0].Shown.Text())
	require.Equal(t, "a bill", string(changes.Files[0].Content))
	require.Equal(t, strings.TrimSpace(`
~ message 1767225600.000100 to Ada: "Done."
+ mail to ada@example.com: Your bill
+ file app-1/page/bill.txt: text/plain, 6 bytes
~ payment payment-1 of shop: refunded: 0 -> 500`), changes.String())
}

func TestDiff_OfALiveChat(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ada, grace := desk(p)
	before := p.Snapshot()
	grace.AddConversation(ada)
	changes := p.Since(before)
	require.Equal(t, livechat.Taken, changes.Assignments[0].After.State())
	require.Len(t, changes.Groups, 1)
	require.True(t, changes.Groups[0].IsNew())
	require.NotEmpty(t, changes.Sent)
	liveChat, _ := changes.Members[0].Field("botMeta.liveChat")
	require.Equal(t, true, liveChat.After)
}

func TestDiff_OfAForkAndOfWhatIsGone(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddData("coupons", document.O("_id", 7, "tags", document.A("a", "b"), "by", document.O("name", "Ada")), document.O("_id", "b"))
	fork := p.Fork()
	other := fork.Operations(botctx.Scope{App: "other"})
	must(t, other.UpsertDataToDataSource, datasource.UpsertParams{
		DataSourceID: "a/b", Data: document.OneOrMany[document.Object]{document.O("_id", "x")},
	})
	_, err := fork.Operations(botctx.Scope{}).PatchDataToDataSource(t.Context(), datasource.PatchParams{
		DataSourceID: "coupons", Filter: document.O("_id", 7), WithModifier: true,
		Patch: document.O("$set", document.O("tags", document.A("a")), "$unset", document.O("by", "")),
	})
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(`
~ entry 7 of coupons: tags: ["a","b"] -> ["a"]
~ entry 7 of coupons: by.name: "Ada" -> none
+ entry x of other/a/b: {}`), fakes.Diff(p.Snapshot(), fork.Snapshot()).String())

	back := fakes.Diff(fork.Snapshot(), p.Snapshot())
	require.True(t, back.Data[1].IsGone())
	require.Contains(t, back.String(), "- entry x of other/a/b: {}")
}

func TestDiff_HidesSecrets(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	before := p.Snapshot()
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha, Info: channel.AlphaInfo{AccessToken: channel.NewSecret("hush-hush")}})
	p.AddData("keys", document.O("_id", "a", "access_token", "hush-hush"))
	text := p.Since(before).String()
	require.Contains(t, text, "+ channel page")
	require.NotContains(t, text, "hush-hush")
}

func TestDiff_HidesSecretsThatChange(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(&botctx.Node{ID: "ask", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Your password: [", "And your name?")})
	ada := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("token", "hush-1", "table", 1, "secret", "hush-2")})
	before := p.Snapshot()
	ada.Patch(document.O("$set", document.O("meta.token", "hush-3", "meta.password", document.O("of", "hush-4"), "meta.table", 2),
		"$unset", document.O("meta.secret", true)))
	ada.Says("hi")
	text := p.Since(before).String() + "\n"
	require.NotContains(t, text, "hush")
	for _, line := range []string{
		": meta.token: [redacted] -> [redacted]\n", ": meta.password.of: none -> [redacted]\n", ": meta.secret: [redacted] -> none\n",
		": meta.table: 1 -> 2\n", "And your name?",
	} {
		require.Contains(t, text, line)
	}
}

var _ = flag.Bool("update", false, "write the files that tests compare with")

const billURL = "https://shop.example/bill"

// book is an action with an effect of each kind, and with a credential in every place that can hold one.
func book(ctx context.Context, bot *botctx.Context) error {
	bot.Member.Meta.Set("accessToken", "hush-1")
	_, notKept := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{DataSourceID: "bookings", Data: []document.Object{
		document.O("by", bot.Member.ID, "password", "hush-2", "link", "https://me:hush-3@shop.example/?key=hush-4"),
	}})
	_, notPlanned := bot.NewAgenda(ctx, agenda.NewParams{
		MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(24 * time.Hour)), Tag: "booking",
		Meta: document.O("api_key", "hush-5"),
	})
	_, notCalled := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: "A big party, Authorization: Bearer hush-6"},
	})
	_, notMailed := bot.SendEmail(ctx, utility.SendEmailParams{
		Destination: utility.EmailDestination{ToAddresses: []string{"ada@example.com"}},
		Message: utility.EmailMessage{
			Subject: utility.EmailText{Data: "Your table"},
			Body:    utility.EmailBody{Text: &utility.EmailText{Data: "Friday.\nsecret: hush-7"}},
		},
	})
	_, notStored := bot.UploadFileToObjectStore(ctx, utility.UploadFileToObjectStoreParams{
		URL: billURL, Filename: "bill.txt", ContentType: "text/plain",
	})
	golf, notPaid := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
	if notPaid == nil {
		_, notPaid = golf.Client.Charge(ctx, utility.Charge{
			Amount: 2500, Currency: "eur", PaymentMethod: "card", Description: "token=hush-8", Metadata: map[string]string{"secret": "hush-9"},
		})
	}
	notSaid := bot.Reply(ctx, send.Text("Booked. https://shop.example/?sig=hush-10"))
	return errors.Join(notKept, notPlanned, notCalled, notMailed, notStored, notPaid, notSaid)
}

// booked returns a platform on which Ada has booked.
func booked(t *testing.T) *fakes.Platform {
	t.Helper()
	p, _ := bookedBy(t)
	return p
}

// bookedBy returns a platform on which a member has booked, and the member.
func bookedBy(t *testing.T) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.Handle(
		&botctx.Node{ID: "book", Trigger: botctx.TextIs("book"), Pre: botctx.Do(book)},
		&botctx.Node{ID: "reminder", Entry: true, Responses: botctx.Say("See you today.")},
	)
	p.ReplyHTTP("GET", billURL, web.Text(200, "25 euros"))
	p.AddAccount("shop")
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	p.AddChannel(channel.Channel{
		ID: "desk", Type: channel.Charlie,
		PriorityGroups:  []channel.PriorityGroup{{Group: "everybody", Trees: []string{"agents"}}},
		BroadcastGroups: []channel.BroadcastGroup{{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support"}}}},
	})
	p.Pair(ada.Scope().Channel, "desk")
	ada.Says("book")
	return p, ada
}

func TestGolden_EveryEffect(t *testing.T) {
	t.Parallel()
	p := booked(t)
	p.Golden("testdata/booking.golden")
	booked(t).Golden("testdata/booking.golden")
	file, err := os.ReadFile("testdata/booking.golden")
	require.NoError(t, err)
	require.NotContains(t, string(file), "hush")
	p.Advance(24 * time.Hour)
	p.Golden("testdata/reminded.golden")
}

// differing returns the failure output for a file that differs from the bot's effects.
func differing(t *testing.T, file string, act func(p *fakes.Platform)) string {
	t.Helper()
	if flag.Lookup("update").Value.String() == "true" {
		t.Skip("SKIPPED: with -update nothing differs")
	}
	test := &recordedTB{}
	p := fakes.New(fakes.For(test))
	act(p)
	require.Panics(t, func() { p.Golden(file) })
	require.Len(t, test.failures, 1)
	return test.failures[0]
}

func addAda(p *fakes.Platform) { p.AddMember(member.Member{FirstName: "Ada"}) }

func TestGolden_ShowsWhatDiffers(t *testing.T) {
	t.Parallel()
	said := differing(t, filepath.Join(t.TempDir(), "ada.golden"), addAda)
	require.Contains(t, said, "ada.golden differs: - is the file, + is the output\n@@ -0,0 +1,2 @@\n+# members\n+member member-1: ")
	require.Contains(t, said, "go test -run '^TestRecorded$' -update")
}

func TestGolden_MissingFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing.golden")
	said := differing(t, path, func(*fakes.Platform) {})
	require.Contains(t, said, "there is no file "+path+", and there is no output to compare with it. If the output is right")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	fakes.New(fakes.For(t)).Golden(path)
}

func TestGolden_AnOpenBracketHidesNothingElse(t *testing.T) {
	t.Parallel()
	said := differing(t, filepath.Join(t.TempDir(), "ask.golden"), func(p *fakes.Platform) {
		p.Handle(&botctx.Node{ID: "ask", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Your password: [", "And your name?")})
		p.AddMember(member.Member{FirstName: "Ada"}).Says("hi")
	})
	require.Contains(t, said, "And your name?")
	require.Contains(t, said, "# members\n")
}

func TestGolden_TakesAnyLineEnds(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/booking.golden")
	require.NoError(t, err)
	checkedOut := strings.ReplaceAll(string(file), "\n", "\r\n")
	path := filepath.Join(t.TempDir(), "booking.golden")
	require.NoError(t, os.WriteFile(path, []byte(checkedOut), 0o600))
	booked(t).Golden(path)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, checkedOut, string(after), "it is not written anew either")
}
