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

var _ = flag.Bool("update", false, "write the files that tests compare with")

const billURL = "https://shop.example/bill"

// book is an action with an effect of each kind, and a credential in each place where one can stand.
func book(ctx context.Context, bot *botctx.Context) error {
	bot.Member.Meta.Set("accessToken", "hush-1")
	_, notKept := bot.UpsertDataToDataSource(ctx, datasource.UpsertDataToDataSourceParams{DataSourceID: "bookings", Data: []document.Object{
		document.O("by", bot.Member.ID, "password", "hush-2", "link", "https://me:hush-3@shop.example/?key=hush-4"),
	}})
	_, notPlanned := bot.NewAgenda(ctx, agenda.NewAgendaParams{
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

// booked returns a platform where Ada has booked.
func booked(t *testing.T) *fakes.Platform {
	t.Helper()
	p, _ := bookedBy(t)
	return p
}

// bookedBy returns a platform where a member has booked, and the member.
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

// differing returns what a platform says of a file that differs from what a bot did on it.
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
	require.Contains(t, said, "ada.golden differs: - is the file, + what came\n@@ -0,0 +1,2 @@\n+# members\n+member-1 ")
	require.Contains(t, said, "go test -run '^TestRecorded$' -update writes it.")
}

func TestGolden_OfNothing(t *testing.T) {
	t.Parallel()
	fakes.New(fakes.For(t)).Golden(filepath.Join(t.TempDir(), "missing.golden"))
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
