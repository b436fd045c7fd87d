package fakes_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// counts returns the codes of so many calls of countDataSource.
func counts(t *testing.T, p *fakes.Platform, calls int) []boterr.Code {
	t.Helper()
	bot := p.AddMember(member.Member{}).Context()
	var codes []boterr.Code
	for range calls {
		_, err := bot.CountDataSource(t.Context(), datasource.CountDataSourceParams{DataSourceID: "orders"})
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
		require.Contains(t, tb.failures[0], "nothing met the fault of faults_test.go:")
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
