package fakes_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

var users = map[fakes.Service]func(t *testing.T, bot *botctx.Context) error{
	fakes.ServiceStore: func(t *testing.T, bot *botctx.Context) error {
		t.Helper()
		_, err := bot.GetMember(t.Context(), member.GetParams{MemberID: bot.Member.ID})
		return err
	},
	fakes.ServiceDataSources: func(t *testing.T, bot *botctx.Context) error {
		t.Helper()
		_, err := bot.CountDataSource(t.Context(), datasource.CountParams{DataSourceID: "orders"})
		return err
	},
	fakes.ServiceMail: func(t *testing.T, bot *botctx.Context) error {
		t.Helper()
		_, err := bot.SendEmail(t.Context(), mailTo("ada@example.com"))
		return err
	},
	fakes.ServiceFiles: func(t *testing.T, bot *botctx.Context) error {
		t.Helper()
		var site web.Replies
		_, err := bot.UploadFileToObjectStore(t.Context(), upload(&site))
		return err
	},
	fakes.ServicePayments: func(t *testing.T, bot *botctx.Context) error {
		t.Helper()
		golf, err := bot.Golf(t.Context(), utility.GolfParams{GolfName: "shop"})
		if err == nil {
			_, err = golf.Client.Charge(t.Context(), tenEuro())
		}
		return err
	},
	fakes.ServiceHTTP: func(t *testing.T, bot *botctx.Context) error {
		t.Helper()
		_, err := bot.Fetch(t.Context(), outbound.Request{URL: "https://api.example.com/"})
		return err
	},
	fakes.ServiceMessages: func(t *testing.T, bot *botctx.Context) error {
		t.Helper()
		return bot.Reply(t.Context(), send.Text("hi"))
	},
}

// openFor returns a platform with what users use, and a context of one of its members.
func openFor(t *testing.T, options ...fakes.Option) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(append(options, fakes.For(t))...)
	p.HTTP.Add("GET", "https://api.example.com/", web.Text(200, "one"))
	upload(p.HTTP)
	p.AddAccount("shop")
	ada := p.AddMember(member.Member{})
	return p, ada
}

// failing returns the services that do not work.
func failing(t *testing.T, bot *botctx.Context) (list []fakes.Service) {
	t.Helper()
	for service := fakes.ServiceStore; service <= fakes.ServiceMessages; service++ {
		if err := users[service](t, bot); err != nil {
			require.ErrorIs(t, err, boterr.Unavailable)
			require.ErrorContains(t, err, "the test has disconnected")
			list = append(list, service)
		}
	}
	return list
}

func TestDisconnectService_UntilReconnected(t *testing.T) {
	t.Parallel()
	for service, want := range map[fakes.Service][]fakes.Service{
		// Files are stored for a channel, and messages are sent to a member whose channel is read.
		fakes.ServiceStore:       {fakes.ServiceStore, fakes.ServiceDataSources, fakes.ServiceFiles, fakes.ServiceMessages},
		fakes.ServiceDataSources: {fakes.ServiceDataSources},
		fakes.ServiceMail:        {fakes.ServiceMail},
		fakes.ServiceFiles:       {fakes.ServiceFiles},
		fakes.ServicePayments:    {fakes.ServicePayments},
		fakes.ServiceHTTP:        {fakes.ServiceFiles, fakes.ServiceHTTP}, // A file is fetched before it is stored.
		fakes.ServiceMessages:    {fakes.ServiceMessages},
	} {
		p, ada := openFor(t)
		bot := ada.Context()
		require.Empty(t, failing(t, bot))
		p.DisconnectService(service)
		fork := p.Fork()
		require.Equal(t, want, failing(t, bot), "%s is disconnected", service)
		require.Equal(t, want, failing(t, bot), "%s stays disconnected", service)
		p.ReconnectService(service)
		require.Empty(t, failing(t, bot), "%s is connected", service)
		require.Equal(t, want, failing(t, ada.In(fork).Context()), "%s is disconnected on the fork", service)
		require.Contains(t, p.Transcript(), "disconnected: "+service.String()+"\n")
	}
}

func TestDisconnectDataSource_OfThreeOne(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.DisconnectDataSource("orders/2026")
	for source, want := range map[string]boterr.Code{"orders/2026": boterr.Unavailable, "orders": "", "2026": ""} {
		_, err := p.Operations(record.Scope{}).CountDataSource(t.Context(), datasource.CountParams{DataSourceID: source})
		require.Equal(t, want, boterr.CodeOf(err), source)
	}
	other := p.Operations(record.Scope{App: "app-2"})
	_, err := other.CountDataSource(t.Context(), datasource.CountParams{DataSourceID: "orders/2026"})
	require.NoError(t, err, "that of another app is another one")
	p.ReconnectDataSource("orders/2026")
	_, err = p.Operations(record.Scope{}).CountDataSource(t.Context(), datasource.CountParams{DataSourceID: "orders/2026"})
	require.NoError(t, err)
}

func TestDisconnect_OfTwoAccountsOne(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	shop, club := p.AddAccount("shop"), p.AddAccount("club")
	shop.Disconnect()
	_, err := shop.Charge(t.Context(), tenEuro())
	require.EqualError(t, err, "unavailable: the test has disconnected the account shop")
	mustCharge(t, club, tenEuro())
	shop.Reconnect()
	mustCharge(t, shop, tenEuro())
	require.Len(t, shop.Payments(), 1, "what failed was not done")
}

func TestDisconnectService_LeavesTheTestItsView(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(greet)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	p.DisconnectService(fakes.ServiceStore)
	p.AddData("orders", document.O("_id", "7"))
	require.Len(t, p.Data("orders"), 1)
	require.Equal(t, "Ada", ada.Member().FirstName)
	require.Equal(t, "Bob", p.AddMember(member.Member{FirstName: "Bob"}).Member().FirstName)
	require.ErrorIs(t, ada.TrySays("hi"), boterr.Unavailable)
}

func TestDisconnectService_AgendasWaitForTheStore(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(claim)
	p.Handle(nodes()...)
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{})
	ada.Says("coupon")
	p.DisconnectService(fakes.ServiceStore)
	require.ErrorIs(t, p.TryAdvance(25*time.Hour), boterr.Unavailable)
	p.ReconnectService(fakes.ServiceStore)
	p.Advance(0)
	require.Equal(t, "Still yours: SPRING", ada.Last())
}

func TestDisconnectService_MustExist(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "fakes: there is no service 77: give a constant such as ServiceMail",
		func() { fakes.New().DisconnectService(77) })
	require.Panics(t, func() { fakes.New().ReconnectService(-1) })
}

// counts returns the codes of so many calls of countDataSource.
func counts(t *testing.T, p *fakes.Platform, calls int) []boterr.Code {
	t.Helper()
	bot := p.AddMember(member.Member{}).Context()
	var codes []boterr.Code
	for range calls {
		_, err := bot.CountDataSource(t.Context(), datasource.CountParams{DataSourceID: "orders"})
		codes = append(codes, boterr.CodeOf(err))
	}
	return codes
}

func TestFaults_TwiceMeansTwoCalls(t *testing.T) {
	t.Parallel()
	for name, plan := range map[string]func(p *fakes.Platform){
		"FailNext": func(p *fakes.Platform) {
			p.FailNext(botctx.OpCountDataSource, boterr.Unavailable)
			p.FailNext(botctx.OpCountDataSource, boterr.Unavailable)
		},
		"TimeOutNext": func(p *fakes.Platform) {
			p.TimeOutNext(botctx.OpCountDataSource)
			p.TimeOutNext(botctx.OpCountDataSource)
		},
		"each other": func(p *fakes.Platform) {
			p.TimeOutNext(botctx.OpCountDataSource)
			p.FailNext(botctx.OpCountDataSource, boterr.Unavailable)
		},
		"FailNth before": func(p *fakes.Platform) {
			p.FailNth(botctx.OpCountDataSource, 1, boterr.Unavailable)
			p.FailNext(botctx.OpCountDataSource, boterr.Unavailable)
		},
	} {
		p := fakes.New(fakes.For(t))
		plan(p)
		require.Equal(t, []boterr.Code{boterr.Unavailable, boterr.Unavailable, ""}, counts(t, p, 3), name)
	}
}

func TestFaults_TwiceMeansTwoLateCalls(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.DelayNext(botctx.OpCountDataSource, time.Minute)
	p.DelayNext(botctx.OpCountDataSource, time.Hour)
	counts(t, p, 1)
	require.Equal(t, time.Minute, p.Now().Sub(fakes.Start()))
	counts(t, p, 2)
	require.Equal(t, time.Hour+time.Minute, p.Now().Sub(fakes.Start()))
}

func TestFaults_ACallIsLateAndFails(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.FailNext(botctx.OpCountDataSource, boterr.Conflict)
	p.DelayNext(botctx.OpCountDataSource, time.Minute)
	require.Equal(t, []boterr.Code{boterr.Conflict, ""}, counts(t, p, 2))
	require.Equal(t, time.Minute, p.Now().Sub(fakes.Start()))
}

func TestFaults_OneCallFailsOnce(t *testing.T) {
	t.Parallel()
	var tb recordedTB
	tb.run(func(p *fakes.Platform) {
		p.FailNth(botctx.OpCountDataSource, 2, boterr.Conflict)
		p.TimeOutNth(botctx.OpCountDataSource, 2)
	})
	require.Equal(t, []string{"fakes: call 2 of countDataSource has such a fault already"}, tb.failures)
}

// unmet are faults that nothing meets, by what the test is told of them.
var unmet = map[string]func(p *fakes.Platform) *fakes.Fault{
	"countDataSource fails with Conflict": func(p *fakes.Platform) *fakes.Fault {
		return p.FailNext(botctx.OpCountDataSource, boterr.Conflict)
	},
	"call 3 from there on: countDataSource fails with Conflict": func(p *fakes.Platform) *fakes.Fault {
		return p.FailNth(botctx.OpCountDataSource, 3, boterr.Conflict)
	},
	"countDataSource takes 1m0s": func(p *fakes.Platform) *fakes.Fault {
		return p.DelayNext(botctx.OpCountDataSource, time.Minute)
	},
	"countDataSource reports a time-out": func(p *fakes.Platform) *fakes.Fault {
		return p.TimeOutNext(botctx.OpCountDataSource)
	},
	"a mail fails: down": func(p *fakes.Platform) *fakes.Fault { return p.FailNextMail(errors.New("down")) },
	"a file fails: down": func(p *fakes.Platform) *fakes.Fault { return p.FailNextFile(errors.New("down")) },
	"a request to the account shop fails: down": func(p *fakes.Platform) *fakes.Fault {
		return p.AddAccount("shop").FailNext(errors.New("down"))
	},
	"a request to the account shop fails: lost": func(p *fakes.Platform) *fakes.Fault {
		return p.AddAccount("shop").TimeOutNext(errors.New("lost"))
	},
	"a charge of the account shop is declined: expired_card": func(p *fakes.Platform) *fakes.Fault {
		return p.AddAccount("shop").DeclineNext("expired_card")
	},
}

func TestFaults_ThatNothingMeetsFailTheTest(t *testing.T) {
	t.Parallel()
	for what, plan := range unmet {
		var tb recordedTB
		tb.run(func(p *fakes.Platform) { plan(p) })
		require.Len(t, tb.failures, 1, what)
		require.Contains(t, tb.failures[0], "nothing met the fault of outages_test.go:")
		require.Contains(t, tb.failures[0], ", "+what+":")
		require.Len(t, tb.logged, 1, "the transcript is printed, too")
	}
}

func TestFaults_ThatAreOptionalMayStayUnmet(t *testing.T) {
	t.Parallel()
	for what, plan := range unmet {
		var tb recordedTB
		tb.run(func(p *fakes.Platform) { plan(p).Optional() })
		require.Empty(t, tb.failures, what)
	}
}

func TestFaults_OfATestThatFailedAreNotReported(t *testing.T) {
	t.Parallel()
	var tb recordedTB
	tb.run(func(p *fakes.Platform) {
		p.FailNext(botctx.OpCountDataSource, boterr.Conflict)
		tb.Fatalf("another reason")
	})
	require.Equal(t, []string{"another reason"}, tb.failures)
}

func TestFaults_AreMetOnAFork(t *testing.T) {
	t.Parallel()
	var tb recordedTB
	tb.run(func(p *fakes.Platform) {
		p.FailNext(botctx.OpCountDataSource, boterr.Conflict)
		require.Equal(t, []boterr.Code{boterr.Conflict}, counts(t, p.Fork(), 1))
	})
	require.Empty(t, tb.failures)
}

func TestFaults_NeedAnError(t *testing.T) {
	t.Parallel()
	for name, misuse := range map[string]func(p *fakes.Platform){
		"a mail":             func(p *fakes.Platform) { p.FailNextMail(nil) },
		"a file":             func(p *fakes.Platform) { p.FailNextFile(nil) },
		"the account shop":   func(p *fakes.Platform) { p.AddAccount("shop").FailNext(nil) },
		"cannot take 0s":     func(p *fakes.Platform) { p.DelayNext(botctx.OpGetMember, 0) },
		`there is no code "`: func(p *fakes.Platform) { p.FailNext(botctx.OpGetMember, "") },
	} {
		var tb recordedTB
		tb.run(misuse)
		require.Len(t, tb.failures, 1, name)
		require.Contains(t, tb.failures[0], name)
	}
}
