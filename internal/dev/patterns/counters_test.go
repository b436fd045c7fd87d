package patterns_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// counters are the patterns of what happens once, or is counted.
func counters() []pattern {
	return []pattern{
		{
			name: "coupon", nodes: coupon,
			prepare: func(s *stage) {
				s.AddData("coupons", document.O("code", "WINTER", "taken", true), document.O("code", "SPRING", "taken", false))
			},
			talk: func(s *stage) {
				bob := s.join(member.Member{FirstName: "Bob", Channel: "web"})
				s.says("coupon")
				bob.Says("coupon")
			},
			want: "Ada: Your code: SPRING\nBob: Sorry, all gone.\n",
		},
		{
			name: "double-click", nodes: doubleClick,
			talk: func(s *stage) {
				s.ada.Taps("PAY")
				s.ada.Taps("PAY")
				s.says("order")
				s.ada.Taps("PAY")
			},
			want: "Ada: Paid, thank you.\nAda: Paid, thank you.\n",
		},
		{
			name: "counter", nodes: counter,
			prepare: func(s *stage) { s.AddData("visits") },
			talk: func(s *stage) {
				bob := s.join(member.Member{FirstName: "Bob", Channel: "web"})
				s.says("home", "shop", "home")
				bob.Says("home")
			},
			want: "Ada: home: 1, by Ada\nAda: shop: 1, by Ada\nAda: home: 2, by Ada\nBob: home: 3, by Ada and Bob\n",
		},
	}
}

func coupon() []*botctx.Node {
	claim := func(ctx context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
		taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
			DataSourceID: "coupons", Filter: document.O("taken", false), Patch: document.Set("taken", true, "by", bot.Member.ID),
			SortBy: document.O("code", 1), Option: datasource.FindAndModifyOption{New: true},
		})
		if err != nil {
			return nil, err
		}
		if taken.Value == nil {
			return botctx.GoTo("none left")
		}
		bot.Member.Meta.Set("coupon", document.Get(taken.Value, "code", ""))
		return botctx.GoTo("claimed")
	}
	return []*botctx.Node{
		{ID: "coupon", Trigger: botctx.TextIs("coupon"), Redirect: botctx.ToOneOf(claim, "claimed", "none left")},
		{ID: "claimed", Responses: botctx.Say("Your code: {{meta.coupon}}")},
		{ID: "none left", Responses: botctx.Say("Sorry, all gone.")},
	}
}

func doubleClick() []*botctx.Node {
	pay := func(ctx context.Context, bot *botctx.Context) error {
		found, err := bot.FindAndModifyMember(ctx, member.FindAndModifyMemberParams{
			Filter: document.O("_id", bot.Member.ID, "meta.paid", document.O("$ne", true)),
			Patch:  document.Set("meta.paid", true),
		})
		if err != nil || found.Member == nil {
			return err
		}
		return bot.Reply(ctx, send.Text("Paid, thank you."))
	}
	nextOrder := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.PatchMembers(ctx, member.PatchMembersParams{
			MemberID: bot.Member.ID, Patch: document.Unset("meta.paid"), WithModifier: true,
		})
		return err
	}
	return []*botctx.Node{
		{ID: "pay", Trigger: botctx.PayloadIs("PAY"), Pre: botctx.Do(pay)},
		{ID: "next order", Trigger: botctx.TextIs("order"), Pre: botctx.Do(nextOrder)},
	}
}

func counter() []*botctx.Node {
	count := func(ctx context.Context, bot *botctx.Context) error {
		found, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
			DataSourceID: "visits", Filter: document.O("page", bot.MessageEvent.Text()),
			Patch:  document.O("$inc", document.O("count", 1), "$push", document.O("by", bot.Member.FirstName)),
			Option: datasource.FindAndModifyOption{New: true, Upsert: true},
		})
		if err != nil {
			return err
		}
		visit, err := document.As[struct {
			Page  string   `json:"page"`
			Count int      `json:"count"`
			By    []string `json:"by"`
		}](*found.Value)
		if err != nil {
			return err
		}
		return reply(ctx, bot, fmt.Sprintf("%s: %d, by %s", visit.Page, visit.Count, strings.Join(slices.Compact(visit.By), " and ")))
	}
	return []*botctx.Node{{ID: "visit", Trigger: botctx.AnyText(), Pre: botctx.Do(count)}}
}
