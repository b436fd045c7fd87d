package reference_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/operations/reference"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// remindTomorrow schedules a reminder for nine tomorrow, Berlin time.
func remindTomorrow(ctx context.Context, bot *botctx.Context) error {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		return err
	}
	now := bot.Now().In(zone)
	nine := time.Date(now.Year(), now.Month(), now.Day()+1, 9, 0, 0, 0, zone)
	_, err = bot.NewAgenda(ctx, agenda.NewParams{
		MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(nine),
		Meta: document.O("order", document.Get(bot.Member.Meta, "orders[0].id", "none")),
	})
	return err
}

// weather sends the weather in the member's city.
func weather(ctx context.Context, bot *botctx.Context) error {
	body, err := json.Marshal(map[string]string{"city": document.Get(bot.Member.Meta, "city", "Berlin")})
	if err != nil {
		return err
	}
	response, err := bot.Fetch(ctx, outbound.Request{
		URL: "https://weather.example/now", Method: http.MethodPost,
		Headers: map[string]string{"Content-Type": "application/json"}, Body: body,
	})
	if err != nil {
		return err
	}
	sky := "hidden"
	if response.OK() {
		sky = response.Get("sky").String()
	}
	return bot.Reply(ctx, send.Text("The sky is "+sky+"."))
}

// coupon is an entry of the data source "coupons".
type coupon struct {
	Code string `json:"code"`
}

// wallet is this bot's data in meta.
type wallet struct {
	Coupons []string `json:"coupons"`
}

// claim gives the member a coupon that no other member has.
func claim(ctx context.Context, bot *botctx.Context) error {
	taken, err := datasource.FindAndModify[coupon](ctx, bot, datasource.FindAndModifyParams{
		DataSourceID: "coupons",
		Filter:       document.O("taken", false),
		Patch:        document.Set("taken", true, "by", bot.Member.ID),
	})
	if err != nil || taken == nil {
		return err
	}
	return document.Change(&bot.Member.Meta, func(w *wallet) { w.Coupons = append(w.Coupons, taken.Code) })
}

func TestFromScripts_CodeOfThePageRuns(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HTTP.Add("POST", "https://weather.example/now", web.JSON(200, `{"sky": "clear"}`))
	p.AddData("coupons", document.O("code", "SPRING", "taken", false), document.O("code", "MAY", "taken", false))
	p.Handle(
		&botctx.Node{ID: "order", Trigger: botctx.TextIs("order"), Pre: botctx.Do(weather, remindTomorrow)},
		&botctx.Node{ID: "coupon", Trigger: botctx.TextIs("coupon"), Pre: botctx.Do(claim)},
		&botctx.Node{ID: "reminder", Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			return bot.Reply(ctx, send.Text("Order "+document.Get(bot.AgendaMeta, "order", "")))
		})},
	)
	ada := p.AddMember(member.Member{Meta: document.O("orders", document.A(document.O("id", "A7")))})

	ada.Says("order")
	require.Equal(t, "The sky is clear.", ada.Last())

	for range 3 {
		ada.Says("coupon")
	}
	kept, err := document.As[wallet](ada.Member().Meta)
	require.NoError(t, err)
	require.Equal(t, []string{"SPRING", "MAY"}, kept.Coupons)

	p.Advance(32 * time.Hour) // From midnight UTC to nine in Berlin, the next day.
	require.Equal(t, "Order A7", ada.Last())
}

func TestFromScripts_CommittedIsCurrent(t *testing.T) {
	t.Parallel()
	committed, err := os.ReadFile("../../../docs/from-scripts.md")
	require.NoError(t, err)
	require.Equal(t, reference.FromScripts(), string(committed),
		"docs/from-scripts.md is not what is generated: run go generate ./internal/operations")
}
