package patterns_test

import (
	"context"
	"regexp"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// answers are the patterns of what members answer.
func answers() []pattern {
	return []pattern{
		{
			name: "saved-answer", nodes: savedAnswer,
			talk: func(s *stage) { s.says("weather", " Oslo ", "and?") },
			want: "Ada: Which city?\nAda: It is sunny in Oslo.\n",
		},
		{
			name: "button-value", nodes: buttonValue,
			talk: func(s *stage) {
				tap := func(payload any) {
					s.ada.Sends(send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", payload)})
				}
				tap(document.O("payload", "size", "value", document.O("size", "large", "price", 4)))
				tap("size")
			},
			want: "Ada: One large for 4 it is.\nAda: One small for 2.5 it is.\n",
		},
		{
			name: "locale", nodes: locale,
			talk: func(s *stage) { s.says("hi", "deutsch", "hi", "english", "hi") },
			want: "Ada: Hello Ada\nAda: Hallo Ada\nAda: Hello Ada\n",
		},
	}
}

func savedAnswer() []*botctx.Node {
	save := func(_ context.Context, bot *botctx.Context) error {
		bot.Member.BotMeta.Set("tempData.city", strings.TrimSpace(bot.MessageEvent.Text()))
		return nil
	}
	return []*botctx.Node{
		{ID: "city?", Trigger: botctx.TextIs("weather"), SavesPosition: true, Responses: botctx.Say("Which city?")},
		{ID: "sunny", Parent: "city?", Trigger: botctx.AnyText(), Pre: botctx.Do(save), SavesPosition: true},
		{
			ID: "again", Parent: "sunny", Trigger: botctx.TextIs("and?"),
			Responses: botctx.Say("It is sunny in {{botMeta.tempData.city}}."),
		},
	}
}

func buttonValue() []*botctx.Node {
	save := func(_ context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set("order.size", document.Get(bot.MessageEvent.Data, "payload.value.size", "small"))
		bot.Member.Meta.Set("order.price", document.Get(bot.MessageEvent.Data, "payload.value.price", 2.5))
		return nil
	}
	return []*botctx.Node{{
		ID: "size", Trigger: botctx.PayloadIs("size"), Pre: botctx.Do(save),
		Responses: botctx.Say("One {{meta.order.size}} for {{meta.order.price}} it is."),
	}}
}

func locale() []*botctx.Node {
	isGerman := func(bot *botctx.Context) bool {
		return strings.HasPrefix(bot.Member.CustomLocale+bot.Member.Locale, "de")
	}
	change := func(_ context.Context, bot *botctx.Context) error {
		bot.Member.CustomLocale = map[string]string{"deutsch": "de_DE", "english": "en_GB"}[bot.MessageEvent.Text()]
		return nil
	}
	return []*botctx.Node{
		{ID: "switch", Trigger: botctx.TextMatches(regexp.MustCompile("^(deutsch|english)$")), Priority: -1, Pre: botctx.Do(change)},
		{ID: "hallo", Trigger: botctx.When(isGerman), Responses: botctx.Say("Hallo {{firstName}}")},
		{ID: "hello", Trigger: botctx.AnyText(), Priority: 1, Responses: botctx.Say("Hello {{firstName}}")},
	}
}

// reply sends a text to the member.
func reply(ctx context.Context, bot *botctx.Context, text string) error {
	return bot.Reply(ctx, send.Text(text))
}
