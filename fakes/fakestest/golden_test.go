package fakestest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
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
	"github.com/botctx/go-sdk/fakes/fakestest"
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
		MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.At(bot.Now().Add(24 * time.Hour)), Tag: "booking",
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
	require.NotContains(t, fakestest.Effects(p), "hush")
	fakestest.Golden(t, p, "testdata/booking.golden")
	p.Advance(24 * time.Hour)
	fakestest.Golden(t, p, "testdata/reminded.golden")
}

func TestEffects_AreTheSameAgain(t *testing.T) {
	t.Parallel()
	first, second := booked(t), booked(t)
	require.Equal(t, fakestest.Effects(first), fakestest.Effects(second))
	require.Empty(t, fakestest.Effects(fakes.New()))
}

func TestEffects_AnOpenBracketHidesNothingElse(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(&botctx.Node{ID: "ask", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Your password: [", "And your name?")})
	p.AddMember(member.Member{FirstName: "Ada"}).Says("hi")
	require.Contains(t, fakestest.Effects(p), "And your name?")
	require.Contains(t, fakestest.Effects(p), "# members\n")
}

// failing is a test that fails and goes on.
type failing struct{ said string }

func (f *failing) Helper() {}

func (f *failing) Name() string { return "TestBooking" }

func (f *failing) Errorf(format string, args ...any) { f.said += fmt.Sprintf(format, args...) }

func (f *failing) Fatalf(format string, args ...any) { f.Errorf(format, args...) }

func (f *failing) Logf(string, ...any) {}

func TestGolden_ShowsWhatDiffers(t *testing.T) {
	t.Parallel()
	if flag.Lookup("update").Value.String() == "true" {
		t.Skip("SKIPPED: with -update nothing differs")
	}
	p := fakes.New(fakes.For(t))
	p.AddMember(member.Member{FirstName: "Ada"})
	path := filepath.Join(t.TempDir(), "ada.golden")
	var missing failing
	fakestest.Golden(&missing, p, path)
	require.Contains(t, missing.said, "ada.golden differs: - is the file, + what came\n@@ -0,0 +1,2 @@\n+# members\n+member-1 ")
	require.Contains(t, missing.said, "go test -run '^TestBooking$' -update writes it.")

	require.NoError(t, os.WriteFile(path, []byte(fakestest.Effects(p)), 0o600))
	var same failing
	fakestest.Golden(&same, p, path)
	require.Empty(t, same.said)
}

func TestGolden_TakesAnyLineEnds(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddMember(member.Member{FirstName: "Ada"})
	path := filepath.Join(t.TempDir(), "ada.golden")
	checkedOut := []byte(strings.ReplaceAll(fakestest.Effects(p), "\n", "\r\n"))
	require.NoError(t, os.WriteFile(path, checkedOut, 0o600))
	var same failing
	fakestest.Golden(&same, p, path)
	require.Empty(t, same.said)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, checkedOut, after, "it is not written anew either")
}
