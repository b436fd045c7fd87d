package patterns_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// tables are the patterns of data sources.
func tables() []pattern {
	return []pattern{
		{
			name: "form-to-table", nodes: formToTable, needs: []string{"lodash"},
			prepare: func(s *stage) {
				s.AddData("registrations", document.O("name", "Bob", "member", "somebody else"))
				s.keeps("botMeta.tempData", document.O("name", " Ada ", "email", "ada@example.com", "guests", "2", "spam", true))
			},
			talk: func(s *stage) { s.says("register") },
			want: "Ada: Thank you, you are number 1.\n",
		},
		{
			name: "mixed-upsert", nodes: mixedUpsert,
			prepare: func(s *stage) { s.AddData("products", document.O("_id", "tea", "price", 2, "kind", "hot")) },
			talk:    func(s *stage) { s.says("stock") },
			want:    "Ada: 1 changed, cocoa added, 2 new\n",
		},
		{
			name: "menu", nodes: menu, needs: []string{"lodash"},
			prepare: func(s *stage) {
				s.AddData("dishes",
					document.O("name", "Tea", "category", "drinks", "price", 2.5, "on", true),
					document.O("name", "Cake", "category", "sweets", "price", 4, "on", true),
					document.O("name", "Milk", "category", "drinks", "price", 1.5, "on", true),
					document.O("name", "Soup", "category", "starters", "price", 5, "on", false))
			},
			talk: func(s *stage) { s.says("menu"); s.ada.TapsOn("Drinks"); s.ada.Taps("category:starters") },
			want: "Ada: What would you like?\nAda: 1. Milk....1.50\n2. Tea.....2.50\nAda: Nothing today.\n",
		},
		{
			name: "bulk-patch", nodes: bulkPatch,
			prepare: func(s *stage) {
				s.AddData("products",
					document.O("kind", "tea", "price", 4), document.O("kind", "tea", "price", 1),
					document.O("kind", "tea", "price", 3, "tags", document.A("green")),
					document.O("kind", "coffee", "price", 5), document.O("kind", "coffee", "price", 6))
			},
			talk: func(s *stage) { s.says("sale") },
			want: "Ada: 2 on sale, 1 renamed\n",
		},
	}
}

func formToTable() []*botctx.Node {
	form := func(ctx context.Context, bot *botctx.Context) error {
		given := bot.Member.BotMeta.TempData()
		guests, err := strconv.Atoi(document.Get(given, "guests", "0"))
		if err != nil {
			return err
		}
		done, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertDataToDataSourceParams{
			DataSourceID: "registrations",
			Data: document.One(document.O(
				"name", strings.TrimSpace(document.Get(given, "name", "")), "email", document.Get(given, "email", ""),
				"guests", guests, "member", bot.Member.ID,
			)),
		})
		if err != nil {
			return err
		}
		count, err := bot.CountDataSource(ctx, datasource.CountDataSourceParams{
			DataSourceID: "registrations", Filter: document.O("member", bot.Member.ID),
		})
		bot.Member.Meta.Set("registration", document.O("number", count, "inserted", done.Result.Inserted))
		bot.Member.BotMeta.Delete("tempData")
		return err
	}
	return []*botctx.Node{{
		ID: "register", Trigger: botctx.TextIs("register"), Pre: botctx.Do(form),
		Responses: botctx.Say("Thank you, you are number {{meta.registration.number}}."),
	}}
}

func mixedUpsert() []*botctx.Node {
	stock := func(ctx context.Context, bot *botctx.Context) error {
		done, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertDataToDataSourceParams{
			DataSourceID: "products",
			Data: document.One(
				document.O("_id", "tea", "price", 3), document.O("_id", "cocoa", "price", 4), document.O("name", "water", "price", 1),
			),
		})
		if err != nil {
			return err
		}
		ids := done.Result.DocsIDs
		return reply(ctx, bot, fmt.Sprintf("%d changed, %v added, %d new",
			len(ids.Updated), ids.Upserted[0], done.Result.Inserted))
	}
	return []*botctx.Node{{ID: "stock", Trigger: botctx.TextIs("stock"), Pre: botctx.Do(stock)}}
}

func menu() []*botctx.Node {
	category := regexp.MustCompile(`^category:(\w+)$`)
	isCategory := func(_ context.Context, bot *botctx.Context) (bool, error) {
		found := category.FindStringSubmatch(bot.MessageEvent.Payload())
		if found == nil {
			return false, nil
		}
		bot.Values["category"] = found[1]
		return true, nil
	}
	return []*botctx.Node{
		{ID: "menu", Trigger: botctx.TextIs("menu"), Pre: botctx.Do(showMenu), SavesPosition: true},
		{ID: "dishes", Parent: "menu", Trigger: botctx.TriggerFunc(isCategory), Pre: botctx.Do(showDishes)},
	}
}

func showMenu(ctx context.Context, bot *botctx.Context) error {
	found, err := bot.FetchDistinctDataFromDataSource(ctx, datasource.FetchDistinctDataFromDataSourceParams{
		CollectionName: "dishes", Key: "category", Filter: document.O("on", true),
	})
	if err != nil {
		return err
	}
	slices.SortFunc(found.Entries, document.Compare)
	replies := make([]send.QuickReply, len(found.Entries))
	for i, entry := range found.Entries {
		name, _ := entry.(string)
		replies[i] = send.QuickReply{Title: strings.ToUpper(name[:1]) + name[1:], Payload: "category:" + name}
	}
	return bot.Reply(ctx, send.QuickReplies("What would you like?", replies...))
}

func showDishes(ctx context.Context, bot *botctx.Context) error {
	found, err := bot.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{
		CollectionName: "dishes", Filter: document.O("category", bot.Values["category"], "on", true), SortBy: document.O("price", 1),
	})
	if err != nil {
		return err
	}
	lines := make([]string, len(found.Entries))
	for i, dish := range found.Entries {
		name := document.Get(dish, "name", "")
		lines[i] = fmt.Sprintf("%d. %s%.2f", i+1, name+strings.Repeat(".", 8-len(name)), document.Get(dish, "price", 0.0))
	}
	if len(lines) == 0 {
		lines = []string{"Nothing today."}
	}
	return reply(ctx, bot, strings.Join(lines, "\n"))
}

func bulkPatch() []*botctx.Node {
	sale := func(ctx context.Context, bot *botctx.Context) error {
		changed, err := bot.PatchDataToDataSource(ctx, datasource.PatchDataToDataSourceParams{
			DataSourceID: "products", Filter: document.O("kind", "tea", "price", document.O("$gt", 2)),
			Patch:        document.O("$mul", document.O("price", 0.5), "$addToSet", document.O("tags", "sale")),
			WithModifier: true, Multi: true,
		})
		bot.Values["changed"] = changed.Modified
		return err
	}
	rename := func(ctx context.Context, bot *botctx.Context) error {
		changed, err := bot.PatchDataToDataSource(ctx, datasource.PatchDataToDataSourceParams{
			DataSourceID: "products", Filter: document.O("kind", "coffee"), Patch: document.O("name", "Filter coffee"),
		})
		if err != nil {
			return err
		}
		return reply(ctx, bot, fmt.Sprintf("%d on sale, %d renamed", bot.Values["changed"], changed.Matched))
	}
	return []*botctx.Node{{ID: "sale", Trigger: botctx.TextIs("sale"), Pre: botctx.Do(sale, rename)}}
}
