package browsertest_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes/simulator"
)

func TestPage_Conversation(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("hi")
	p.sees(".log", "Hello Ada!")
	p.sees(".panel details", "Nodes that were not asked, since another one answered (")
	p.says("sure?")
	p.presses("Yes")
	p.sees(".log", `You sent {"payload":"yes"}`)
	p.says("who?")
	p.sees(".panel", "Nothing answered.")
}

func TestPage_ShowsMarkupAsText(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{Bot: `<img src=x onerror="document.title='injected'">`})
	p.says("markup")
	p.sees(".log", `<b id="injected">bold</b>`)
	p.says(`<script>document.title = "injected"</script>`)
	p.sees(".log .in", `<script>`)
	require.Equal(t, "null", p.evaluates(`document.getElementById("injected")`))
	require.NotEqual(t, "injected", p.evaluates(`document.title`))
}

func TestPage_HandOff(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("a person")
	p.sees(".people", "ticket")
	p.presses("Grace")
	p.presses("Take")
	p.sees(".tickets", "No open ticket")
	p.says("Where does it leak?")
	p.presses("Ada")
	p.sees(".log", "Where does it leak?")
	p.says("At the lid.")
	p.presses("Grace")
	p.sees(".log", "At the lid.")
	p.presses("End the live chat")
	p.presses("Timeline")
	p.sees(".moments", "Grace ends the live chat")
}

func TestPage_TimePasses(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("remind me")
	p.presses("Time")
	p.sees(".panel", "in 1 day")
	p.presses("Until the next agenda")
	p.sees(".log", "The kettle boils.")
	p.sees(".clock", "Fri 2 Jan 2026")
	p.sees(".panel", "No agenda waits.")
}

func TestPage_Fault(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.presses("Faults")
	p.does(chromedp.SetValue(`select[name=operation]`, "upsertDataToDataSource"))
	p.presses("Plan it")
	p.sees(".panel", "upsertDataToDataSource fails with Unavailable")
	p.says("coupon")
	p.sees(".log", "Unavailable")
	p.sees(".panel", "no fault is planned")
	p.says("coupon")
	p.sees(".log", "Kept.")
}

func TestPage_BackInTimeAndFork(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("hi")
	p.sees(".log", "Hello Ada!")
	p.says("coupon")
	p.sees(".log", "Kept.")
	p.presses("Timeline")
	p.presses("Back")
	p.sees(".panel", "1 later step is kept")
	p.does(chromedp.SendKeys(`input[name=name][placeholder="what if"]`, "without"))
	p.presses("Fork here")
	p.sees(".head", "without (1 step)")
	p.says("sure?")
	p.sees(".log", "Are you sure?")
	p.presses("main")
	p.sees(".panel", "1 later step is kept")
	p.presses("Forth")
	p.sees(".log", "Kept.")
}

func TestPage_StateSurvivesAReloadAndIsSeenByEveryTab(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	other := newTab(t, p.url)
	p.presses("Grace")
	p.presses("Records")
	p.sees(".panel", "Outbox (0)")
	p.does(chromedp.Reload(), chromedp.WaitVisible(`main.wide`))
	p.sees(".panel", "Outbox (0)")
	p.sees(".desk", "Tickets")
	other.says("coupon")
	p.sees(".panel", "coupons (1)")
}
