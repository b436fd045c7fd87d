package fakes_test

import (
	"context"
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

// openFor returns a platform on which every service of the platform works, and its member.
func openFor(t *testing.T, options ...fakes.Option) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(append(options, fakes.For(t))...)
	p.HTTP.Add("GET", "https://api.example.com/", web.Text(200, "one"))
	upload(p.HTTP)
	p.AddAccount("shop")
	ada := p.AddMember(member.Member{})
	return p, ada
}

// failing returns the services whose requests fail.
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

func TestDown_UntilReconnected(t *testing.T) {
	t.Parallel()
	for service, want := range map[fakes.Service][]fakes.Service{
		// Uploads and messages fail, too, because their channel is loaded from the store first.
		fakes.ServiceStore:       {fakes.ServiceStore, fakes.ServiceDataSources, fakes.ServiceFiles, fakes.ServiceMessages},
		fakes.ServiceDataSources: {fakes.ServiceDataSources},
		fakes.ServiceMail:        {fakes.ServiceMail},
		fakes.ServiceFiles:       {fakes.ServiceFiles},
		fakes.ServicePayments:    {fakes.ServicePayments},
		fakes.ServiceHTTP:        {fakes.ServiceFiles, fakes.ServiceHTTP}, // A file is downloaded before it is stored.
		fakes.ServiceMessages:    {fakes.ServiceMessages},
	} {
		p, ada := openFor(t)
		bot := ada.Context()
		require.Empty(t, failing(t, bot))
		p.Inject(fakes.Down(service))
		fork := p.Fork()
		require.Equal(t, want, failing(t, bot), "%s is disconnected", service)
		require.Equal(t, want, failing(t, bot), "%s stays disconnected", service)
		p.Lift(fakes.Down(service))
		require.Empty(t, failing(t, bot), "%s is connected", service)
		require.Equal(t, want, failing(t, ada.In(fork).Context()), "%s is disconnected on the fork", service)
		require.Contains(t, p.Transcript(), "disconnected: "+service.String()+"\n")
	}
}

func TestDown_DataSourceOfThreeOne(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Inject(fakes.Down(fakes.ServiceDataSources).Of("orders/2026"))
	for source, want := range map[string]boterr.Code{"orders/2026": boterr.Unavailable, "orders": "", "2026": ""} {
		_, err := p.Operations(botctx.Scope{}).CountDataSource(t.Context(), datasource.CountParams{DataSourceID: source})
		require.Equal(t, want, boterr.CodeOf(err), source)
	}
	other := p.Operations(botctx.Scope{App: "app-2"})
	_, err := other.CountDataSource(t.Context(), datasource.CountParams{DataSourceID: "orders/2026"})
	require.NoError(t, err, "that of another app is another one")
	p.Lift(fakes.Down(fakes.ServiceDataSources).Of("orders/2026"))
	_, err = p.Operations(botctx.Scope{}).CountDataSource(t.Context(), datasource.CountParams{DataSourceID: "orders/2026"})
	require.NoError(t, err)
}

func TestDown_LeavesTheTestItsView(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(greet)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	p.Inject(fakes.Down(fakes.ServiceStore))
	p.AddData("orders", document.O("_id", "7"))
	require.Len(t, p.Data("orders"), 1)
	require.Equal(t, "Ada", ada.Member().FirstName)
	require.Equal(t, "Bob", p.AddMember(member.Member{FirstName: "Bob"}).Member().FirstName)
	require.ErrorIs(t, ada.TrySays("hi"), boterr.Unavailable)
}

func TestDown_AgendasWaitForTheStore(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(claim)
	p.Handle(nodes()...)
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{})
	ada.Says("coupon")
	p.Inject(fakes.Down(fakes.ServiceStore))
	require.ErrorIs(t, p.TryAdvance(25*time.Hour), boterr.Unavailable)
	p.Lift(fakes.Down(fakes.ServiceStore))
	p.Advance(0)
	require.Equal(t, "Still yours: SPRING", ada.Last())
}

func TestDown_MustExist(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "fakes: there is no service 77: give a constant such as ServiceMail",
		func() { fakes.New().Inject(fakes.Down(77)) })
	require.Panics(t, func() { fakes.New().Lift(fakes.Down(-1)) })
}

// counts makes calls of countDataSource and returns their error codes.
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
		"fails": func(p *fakes.Platform) {
			p.Inject(fakes.Fails(botctx.OpCountDataSource, boterr.Unavailable))
			p.Inject(fakes.Fails(botctx.OpCountDataSource, boterr.Unavailable))
		},
		"times out": func(p *fakes.Platform) {
			p.Inject(fakes.TimesOut(botctx.OpCountDataSource))
			p.Inject(fakes.TimesOut(botctx.OpCountDataSource))
		},
		"each other": func(p *fakes.Platform) {
			p.Inject(fakes.TimesOut(botctx.OpCountDataSource))
			p.Inject(fakes.Fails(botctx.OpCountDataSource, boterr.Unavailable))
		},
		"the first before": func(p *fakes.Platform) {
			p.Inject(fakes.Fails(botctx.OpCountDataSource, boterr.Unavailable).At(1))
			p.Inject(fakes.Fails(botctx.OpCountDataSource, boterr.Unavailable))
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
	p.Inject(fakes.Delays(botctx.OpCountDataSource, time.Minute))
	p.Inject(fakes.Delays(botctx.OpCountDataSource, time.Hour))
	counts(t, p, 1)
	require.Equal(t, time.Minute, p.Now().Sub(fakes.Start()))
	counts(t, p, 2)
	require.Equal(t, time.Hour+time.Minute, p.Now().Sub(fakes.Start()))
}

func TestFaults_ACallIsLateAndFails(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Inject(fakes.Fails(botctx.OpCountDataSource, boterr.Conflict))
	p.Inject(fakes.Delays(botctx.OpCountDataSource, time.Minute))
	require.Equal(t, []boterr.Code{boterr.Conflict, ""}, counts(t, p, 2))
	require.Equal(t, time.Minute, p.Now().Sub(fakes.Start()))
}

func TestFaults_OneCallFailsOnce(t *testing.T) {
	t.Parallel()
	for want, plan := range map[string][2]fakes.Fault{
		"countDataSource": {
			fakes.Fails(botctx.OpCountDataSource, boterr.Conflict).At(2), fakes.TimesOut(botctx.OpCountDataSource).At(2),
		},
		"a request to mail": {fakes.Down(fakes.ServiceMail).At(2), fakes.Down(fakes.ServiceMail).At(2).Lasting(time.Hour)},
	} {
		var tb recordedTB
		tb.run(func(p *fakes.Platform) {
			p.Inject(plan[0])
			p.Inject(plan[1])
		})
		require.Equal(t, []string{"fakes: call 2 of " + want + " has such a fault already: choose another call with At"}, tb.failures)
	}
}

// unmet are faults that no call meets, keyed by the text of the test's failure.
var unmet = map[string]func(p *fakes.Platform) *fakes.Injected{
	"countDataSource fails with Conflict": func(p *fakes.Platform) *fakes.Injected {
		return p.Inject(fakes.Fails(botctx.OpCountDataSource, boterr.Conflict))
	},
	"call 3 from there on: countDataSource fails with Conflict": func(p *fakes.Platform) *fakes.Injected {
		return p.Inject(fakes.Fails(botctx.OpCountDataSource, boterr.Conflict).At(3))
	},
	"countDataSource takes 1m0s": func(p *fakes.Platform) *fakes.Injected {
		return p.Inject(fakes.Delays(botctx.OpCountDataSource, time.Minute))
	},
	"countDataSource reports a time-out": func(p *fakes.Platform) *fakes.Injected {
		return p.Inject(fakes.TimesOut(botctx.OpCountDataSource))
	},
	"a request to mail fails: down": func(p *fakes.Platform) *fakes.Injected {
		return p.Inject(fakes.Fails(fakes.ServiceMail, errors.New("down")))
	},
	"a request to files fails: down": func(p *fakes.Platform) *fakes.Injected {
		return p.Inject(fakes.Fails(fakes.ServiceFiles, errors.New("down")))
	},
	"a request to payments fails: down": func(p *fakes.Platform) *fakes.Injected {
		return p.Inject(fakes.Fails(fakes.ServicePayments, errors.New("down")))
	},
	"a request to the account shop reports a time-out": func(p *fakes.Platform) *fakes.Injected {
		p.AddAccount("shop")
		return p.Inject(fakes.TimesOut(fakes.ServicePayments).Of("shop"))
	},
	"call 2 from there on: mail is out of service": func(p *fakes.Platform) *fakes.Injected {
		return p.Inject(fakes.Down(fakes.ServiceMail).At(2))
	},
	"call 2 from there on: mail refuses messages to ada@example.com: NotFound": func(p *fakes.Platform) *fakes.Injected {
		return p.Inject(fakes.Refuses("ada@example.com", boterr.NotFound).At(2))
	},
	"everything from the messaging platforms arrives twice": func(p *fakes.Platform) *fakes.Injected {
		return p.Inject(fakes.Repeats(fakes.ServiceMessages))
	},
	"a charge of the account shop is declined: expired_card": func(p *fakes.Platform) *fakes.Injected {
		p.AddAccount("shop")
		return p.Inject(fakes.Declines("shop", "expired_card"))
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

		tb = recordedTB{}
		tb.run(func(p *fakes.Platform) { plan(p).Optional() })
		require.Empty(t, tb.failures, what)
	}
}

func TestFaults_OfATestThatFailedAreNotReported(t *testing.T) {
	t.Parallel()
	var tb recordedTB
	tb.run(func(p *fakes.Platform) {
		p.Inject(fakes.Fails(botctx.OpCountDataSource, boterr.Conflict))
		tb.Fatalf("another reason")
	})
	require.Equal(t, []string{"another reason"}, tb.failures)
}

func TestFaults_AreMetOnAFork(t *testing.T) {
	t.Parallel()
	var tb recordedTB
	tb.run(func(p *fakes.Platform) {
		p.Inject(fakes.Fails(botctx.OpCountDataSource, boterr.Conflict))
		fork := p.Fork()
		require.Equal(t, []boterr.Code{boterr.Conflict, ""}, counts(t, fork, 2))
		require.Equal(t, []boterr.Code{boterr.Conflict}, counts(t, p.Fork(), 1), "the fork has taken nothing from the platform")
	})
	require.Empty(t, tb.failures)
}

func TestInject_Refuses(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fakes.Fault{
		"mail needs an error to fail with":  fakes.Fails(fakes.ServiceMail, nil),
		"files needs an error to fail with": fakes.Fails(fakes.ServiceFiles, nil),
		"the account shop":                  fakes.Fails(fakes.ServicePayments, nil).Of("shop"),
		"cannot be delayed by 0s":           fakes.Delays(botctx.OpGetMember, 0),
		`there is no code "`:                fakes.Fails(botctx.OpGetMember, boterr.Code("")),
		"For is set, but the kind fails":    fakes.Fails(botctx.OpGetMember, boterr.Unavailable).Lasting(time.Hour),
		"For is set, but the kind crashes":  fakes.Crashes(botctx.OpGetMember).Lasting(-1),
		"Reason is set, but the kind fails": {Op: botctx.OpGetMember, Err: boterr.Unavailable, Reason: "expired_card"},
		"Err is set, but the kind crashes":  {Op: botctx.OpGetMember, Kind: fakes.KindCrashes, Err: boterr.Unavailable},
		"App is set, but the kind down":     fakes.Down(fakes.ServiceMail).OfApp("other", ""),
		"To is set, but the kind down":      {Service: fakes.ServiceMail, Kind: fakes.KindDown, To: "ada@example.com"},
		"Per is set, but the kind down":     {Service: fakes.ServiceMail, Kind: fakes.KindDown, Per: time.Hour},
		"a fault cannot last -1h0m0s":       fakes.Refuses("ada@example.com", boterr.NotFound).Lasting(-time.Hour),
	} {
		requireFailure(t, name, func(p *fakes.Platform) {
			p.AddAccount("shop")
			p.Inject(fault)
		})
	}
}

func TestFault_GoString(t *testing.T) {
	t.Parallel()
	for want, fault := range map[string]fakes.Fault{
		"fakes.Fails(botctx.OpSendResponse, boterr.FailedPrecondition).At(2)":                                       fakes.Fails(botctx.OpSendResponse, boterr.FailedPrecondition).At(2),
		`fakes.Fails(fakes.ServicePayments, errors.New("down")).Of("shop")`:                                         fakes.Fails(fakes.ServicePayments, errors.New("down")).Of("shop"),
		"fakes.TimesOut(botctx.OpUpsertDataToDataSource)":                                                           fakes.TimesOut(botctx.OpUpsertDataToDataSource),
		"fakes.Delays(fakes.ServiceHTTP, 2*time.Minute).At(7)":                                                      fakes.Delays(fakes.ServiceHTTP, 2*time.Minute).At(7),
		"fakes.Crashes(fakes.ServiceStore)":                                                                         fakes.Crashes(fakes.ServiceStore),
		"fakes.CrashesAfter(fakes.ServiceDataSources).At(1)":                                                        fakes.CrashesAfter(fakes.ServiceDataSources).At(1),
		`fakes.Down(fakes.ServicePayments).OfApp("other", "shop")`:                                                  fakes.Down(fakes.ServicePayments).OfApp("other", "shop"),
		`fakes.Declines("shop", "expired_card")`:                                                                    fakes.Declines("shop", "expired_card"),
		"fakes.Repeats(fakes.ServiceMessages)":                                                                      fakes.Repeats(fakes.ServiceMessages),
		`fakes.Down(fakes.ServiceMail)`:                                                                             fakes.Down(fakes.ServiceMail),
		"fakes.Fault{Op: botctx.OpGetMember, Kind: fakes.KindTimesOut, Err: boterr.Conflict}.At(2)":                 {Op: botctx.OpGetMember, Kind: fakes.KindTimesOut, Err: boterr.Conflict, Nth: 2},
		`fakes.Fault{Service: fakes.ServicePayments, Kind: fakes.KindTimesOut, Err: errors.New("late")}.Of("shop")`: {Service: fakes.ServicePayments, Part: "shop", Kind: fakes.KindTimesOut, Err: errors.New("late")},
		`fakes.Refuses("gone@example.com", boterr.InvalidArgument).Lasting(time.Hour)`:                              fakes.Refuses("gone@example.com", boterr.InvalidArgument).Lasting(time.Hour),
		`fakes.Refuses("C1", boterr.NotFound).Of("shop").At(3)`:                                                     fakes.Refuses("C1", boterr.NotFound).OfApp(fakes.DefaultApp, "shop").At(3),
		`fakes.Limits("page", 2, time.Minute).Lasting(time.Hour)`:                                                   fakes.Limits("page", 2, time.Minute).Lasting(time.Hour),
		`fakes.Limits("page", 2, time.Minute).OfApp("other", "page")`:                                               fakes.Limits("page", 2, time.Minute).OfApp("other", "page"),
		`fakes.Down(fakes.ServiceMail).Lasting(time.Hour).At(2)`:                                                    fakes.Down(fakes.ServiceMail).Lasting(time.Hour).At(2),
	} {
		require.Equal(t, want, fault.GoString())
	}
}

func TestRepeats_AMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options []fakes.Option
		want    int
	}{
		{nil, 3},
		{[]fakes.Option{fakes.WithInbox()}, 2}, // The inbox drops the repetition by its id.
	} {
		p := fakes.New(append(c.options, fakes.For(t))...)
		said := 0
		p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
			said++
			return bot.Reply(ctx, send.Text("Noted."))
		})
		ada := p.AddMember(member.Member{})
		p.Inject(fakes.Repeats(fakes.ServiceMessages).At(2))
		ada.Says("one")
		ada.Says("two")
		require.Equal(t, c.want, said)
	}
}

func TestRepeats_AnEventOfAPayment(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	shop := p.AddAccount("shop")
	var got []string
	shop.OnEvent(func(_ context.Context, event utility.PaymentEvent) error {
		got = append(got, event.ID)
		return nil
	})
	p.Inject(fakes.Repeats(fakes.ServicePayments).Of("shop"))
	mustCharge(t, shop, tenEuro())
	mustCharge(t, shop, tenEuro())
	p.Advance(time.Hour)
	require.Len(t, got, 3)
	require.Equal(t, got[0], got[1])
}

func TestDown_ForAWhile(t *testing.T) {
	t.Parallel()
	p, ada := openFor(t)
	p.Inject(fakes.Down(fakes.ServiceMail).Lasting(time.Hour))
	require.Equal(t, []fakes.Service{fakes.ServiceMail}, failing(t, ada.Context()))
	p.Advance(time.Hour)
	require.Empty(t, failing(t, ada.Context()))
}

func TestDown_FromARequestOn(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	out := p.Inject(fakes.Down(fakes.ServiceDataSources).Lasting(time.Hour).At(2))
	require.Equal(t, []string{"call 2 from now on: data sources is out of service for 1h0m0s"}, p.Planned())
	p.Advance(2 * time.Hour)
	require.Equal(t, []boterr.Code{"", boterr.Unavailable, boterr.Unavailable}, counts(t, p, 3), "its hour begins with the second request")
	require.True(t, out.Met())
	require.Equal(t, []fakes.Fault{fakes.Down(fakes.ServiceDataSources).Lasting(time.Hour).At(2)}, p.LastingFaults())
	p.Advance(time.Hour)
	require.Empty(t, p.LastingFaults())
	require.Equal(t, []boterr.Code{""}, counts(t, p, 1))
}

func TestFaults_OfOneAccount(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	shop, club := p.AddAccount("shop"), p.AddAccount("club")
	p.Inject(fakes.Fails(fakes.ServicePayments, boterr.Conflict).Of("shop").At(2))
	mustCharge(t, shop, tenEuro())
	mustCharge(t, club, tenEuro())
	mustCharge(t, club, tenEuro())
	_, err := shop.Charge(t.Context(), tenEuro())
	require.ErrorIs(t, err, boterr.Conflict)
}

func TestLift_TakesAFaultAway(t *testing.T) {
	t.Parallel()
	var tb recordedTB
	tb.run(func(p *fakes.Platform) {
		fault := fakes.Fails(botctx.OpCountDataSource, boterr.Conflict)
		p.Inject(fault)
		p.Lift(fault)
		require.Equal(t, []boterr.Code{""}, counts(t, p, 1))
	})
	require.Empty(t, tb.failures)
}

// A fault that was lifted by its place need not be met.
func TestLift_OutageToCome(t *testing.T) {
	t.Parallel()
	var tb recordedTB
	tb.run(func(p *fakes.Platform) {
		p.Inject(fakes.Down(fakes.ServiceMail).At(2))
		p.Inject(fakes.Refuses("ada@example.com", boterr.NotFound).At(3))
		p.Lift(fakes.Down(fakes.ServiceMail))
		p.Lift(fakes.Refuses("Ada <ada@EXAMPLE.com>", nil))
		require.Empty(t, p.Planned())
	})
	require.Empty(t, tb.failures)
}

// A refusal that has begun is unmet until its recipient is sent something.
func TestUnmet_RefusalThatHasBegun(t *testing.T) {
	t.Parallel()
	p, ada := openFor(t)
	refused := p.Inject(fakes.Refuses("gone@example.com", boterr.NotFound).At(1))
	must(t, ada.Context().SendEmail, mailTo("ada@example.com"))
	require.Empty(t, p.Planned())
	require.Equal(t, []string{"mail refuses messages to gone@example.com: NotFound"}, p.Unmet())
	_, err := ada.Context().SendEmail(t.Context(), mailTo("gone@example.com"))
	require.ErrorIs(t, err, boterr.NotFound)
	require.Empty(t, p.Unmet())
	require.True(t, refused.Met())
}

func TestRefuses_MemberInAGroup(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(greet)
	ada := p.AddMember(member.Member{App: "other"})
	p.Inject(fakes.Refuses(ada.InGroup("family"), boterr.NotFound))
	require.ErrorIs(t, ada.InGroup("family").TrySays("hi"), boterr.NotFound)
	require.NoError(t, ada.TrySays("hi"))
	p.Inject(fakes.Refuses(ada, boterr.NotFound))
	require.ErrorIs(t, ada.TrySays("hi"), boterr.NotFound)
}

func TestRefuses_Mail(t *testing.T) {
	t.Parallel()
	p, ada := openFor(t)
	gone := fakes.Refuses("Ada <gone@EXAMPLE.com>", boterr.ResourceExhausted)
	p.Inject(gone)
	_, err := ada.Context().SendEmail(t.Context(), mailTo("gone@example.com"))
	requireCode(t, err, boterr.ResourceExhausted, "destination")
	require.ErrorContains(t, err, "the mail service refuses the address gone@example.com")
	must(t, ada.Context().SendEmail, mailTo("ada@example.com"))
	p.Lift(gone)
	must(t, ada.Context().SendEmail, mailTo("gone@example.com"))
}

func TestFault_String(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ada := p.AddMember(member.Member{})
	for _, fault := range []fakes.Fault{
		fakes.Refuses(ada, boterr.FailedPrecondition), fakes.Refuses("gone@example.com", errors.New("no such mailbox")),
		fakes.Limits("channel-1", 2, time.Minute).Lasting(time.Hour),
	} {
		p.Inject(fault)
		p.Lift(fault)
	}
	for _, line := range []string{
		"the channel channel-1 refuses messages to external-member-1: FailedPrecondition", "the channel channel-1 takes messages to external-member-1",
		"mail refuses messages to gone@example.com: no such mailbox", "mail takes messages to gone@example.com",
		"the channel channel-1 takes 2 messages in 1m0s at most for 1h0m0s", "the channel channel-1 takes messages without a limit",
	} {
		require.Contains(t, p.Transcript(), line+"\n")
	}
}

func TestDown_OfOneAccount(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ours, club, theirs := p.AddAccount("shop"), p.AddAccount("club"), p.AddAccountOf("other", "shop")
	for account, outage := range map[*fakes.Account]fakes.Fault{
		ours: fakes.Down(fakes.ServicePayments).Of("shop"), theirs: fakes.Down(fakes.ServicePayments).OfApp("other", "shop"),
	} {
		p.Inject(outage)
		_, err := account.Charge(t.Context(), tenEuro())
		require.EqualError(t, err, "unavailable: the test has disconnected the account shop")
		for _, other := range []*fakes.Account{ours, club, theirs} {
			if other != account {
				mustCharge(t, other, tenEuro())
			}
		}
		p.Lift(outage)
		mustCharge(t, account, tenEuro())
	}
	require.Len(t, ours.Payments(), 2, "what failed was not done")
}

func TestDown_OfOneChannel(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ours, theirs := p.AddMember(member.Member{}), p.AddMember(member.Member{App: "other"})
	for of, outage := range map[*fakes.Actor]fakes.Fault{
		ours:   fakes.Down(fakes.ServiceMessages).Of(ours.Scope().Channel),
		theirs: fakes.Down(fakes.ServiceMessages).OfApp("other", theirs.Scope().Channel),
	} {
		p.Inject(outage)
		for _, each := range []*fakes.Actor{ours, theirs} {
			require.Equal(t, each == of, errors.Is(each.Context().Reply(t.Context(), send.Text("hi")), boterr.Unavailable))
		}
		p.Lift(outage)
	}
}
