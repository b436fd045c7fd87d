package patterns_test

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
)

// flows are the patterns of which node comes next.
func flows() []pattern {
	return []pattern{
		{
			name: "redirect-with-meta", nodes: redirectWithMeta,
			talk: func(s *stage) { s.says("go", "go 100", "go 010", "go 001") },
			want: "Ada: before all\nAda: the node's response\nAda: after all at target\n" +
				"Ada: before 100\nAda: the node's response\nAda: after 001 at target\n",
		},
		{
			name: "office-hours", nodes: officeHours, needs: []string{"moment"},
			talk: func(s *stage) {
				for range 4 { // Each six hours, from midnight on: eight in the morning where the office is.
					s.says("help")
					s.Advance(6 * time.Hour)
				}
			},
			want: "Ada: We open at Thu 9:00.\nAda: One moment.\nAda: We open at Fri 9:00.\nAda: We open at Fri 9:00.\n",
		},
		{
			name: "fallback-and-mute", nodes: fallbackAndMute,
			talk: func(s *stage) { s.says("one", "menu", "mneu") },
			want: "Ada: Pardon?\nAda: Tea or coffee?\nAda: Pardon?\n",
		},
	}
}

func redirectWithMeta() []*botctx.Node {
	say := func(when string) botctx.Action {
		return func(ctx context.Context, bot *botctx.Context) error {
			text := when + " " + document.Get(bot.AgendaMeta, "word", "")
			if when == "after" {
				text += " at " + bot.Node.CompositeID
			}
			return reply(ctx, bot, text)
		}
	}
	return []*botctx.Node{
		{ID: "go", Trigger: botctx.TextMatches(regexp.MustCompile("^go")), Pre: botctx.Do(goThere)},
		{
			ID: "target", Entry: true, Pre: botctx.Do(say("before")), Responses: botctx.Say("the node's response"),
			Post: botctx.Do(say("after")),
		},
	}
}

func goThere(ctx context.Context, bot *botctx.Context) error {
	_, switches, _ := strings.Cut(bot.MessageEvent.Text(), " ")
	params := botctx.RedirectMemberToNodeParams{MemberID: bot.Member.ID, NodeCompositeID: "target", Meta: document.O("word", "all")}
	if switches != "" {
		params.Meta = document.O("word", switches)
		params.RedirectOptions = botctx.RedirectOptions{
			RunPreAction: new(switches[0] == '1'), SendResponse: new(switches[1] == '1'), RunPostAction: new(switches[2] == '1'),
		}
	}
	done, err := bot.RedirectMemberToNode(ctx, params)
	if err != nil {
		return err
	}
	results := document.A()
	for _, sent := range done.SendResults {
		results = results.Append(len(sent.Result))
	}
	bot.Member.Meta.Set("results", results)
	bot.Member.Meta.Set("ok", done.OK)
	return nil
}

func officeHours() []*botctx.Node {
	byTheHour := func(_ context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
		now := bot.Now().In(time.FixedZone("", 8*60*60))
		year, month, day := now.Date()
		switch hour := now.Hour(); {
		case hour >= 9 && hour < 17:
			return botctx.GoTo("agent")
		case hour >= 17:
			day++
		}
		opens := time.Date(year, month, day, 9, 0, 0, 0, now.Location())
		bot.Member.BotMeta.Set("tempData.opens", opens.Format("Mon 3:04"))
		return botctx.GoTo("closed")
	}
	return []*botctx.Node{
		{ID: "help", Trigger: botctx.TextIs("help"), Redirect: botctx.ToOneOf(byTheHour, "agent", "closed")},
		{ID: "agent", Responses: botctx.Say("One moment.")},
		{ID: "closed", Responses: botctx.Say("We open at {{botMeta.tempData.opens}}.")},
	}
}

func fallbackAndMute() []*botctx.Node {
	log := func(_ context.Context, bot *botctx.Context) error {
		heard := document.Get(bot.Member.Meta, "heard", document.A()).Items()
		heard = append(heard, document.O("text", bot.MessageEvent.Text(), "at", document.TimestampOf(bot.Now())))
		bot.Member.Meta.Set("heard", document.A(heard[max(0, len(heard)-2):]...))
		return nil
	}
	return []*botctx.Node{
		{ID: "fallback", Trigger: botctx.AnyText(), Priority: botctx.FallbackPriority, Responses: botctx.Say("Pardon?")},
		{ID: "log", Trigger: botctx.AnyEvent(), Priority: botctx.MutePriority, Pre: botctx.Do(log)},
		{ID: "menu", Trigger: botctx.TextIs("menu"), Responses: botctx.Say("Tea or coffee?")},
	}
}
