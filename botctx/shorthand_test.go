package botctx_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func TestShorthand_NodeActsSaysAndGoesOn(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(
		&botctx.Node{
			ID: "size", Trigger: botctx.AnyText(),
			Pre:       botctx.Do(sets("size", "large"), sets("cup", "{{meta.size}}")),
			Responses: botctx.Say("Hello {{firstName}}!", "{{meta.size}}: {{meta.cup}}"),
			Redirect:  botctx.ToOneOf(func(context.Context, *botctx.Context) (*botctx.Redirect, error) { return botctx.GoTo("end") }, "end"),
		},
		&botctx.Node{ID: "end", Responses: botctx.Say("Bye.")},
	)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("hi")

	require.Equal(t, "Hello Ada!\nlarge: {{meta.size}}\nBye.", texts(ada))
}

func TestSay_TakesConstantsOnly(t *testing.T) {
	t.Parallel()
	text := reflect.TypeOf(botctx.Say).In(0).Elem()
	require.False(t, reflect.TypeFor[string]().AssignableTo(text), "a text that a member wrote could be a template")
	require.Equal(t, reflect.TypeFor[send.Constant](), text, "one type says what a constant is")
}

func TestChange_OfMetaWritesBackTheKeysThatItChanged(t *testing.T) {
	t.Parallel()
	type order struct {
		Size  string `json:"size"`
		Price int    `json:"price"`
	}
	type progress struct {
		Step  int   `json:"step"`
		Order order `json:"order"`
	}
	var p *fakes.Platform
	p, ada := withNodes(t, &botctx.Node{ID: "large", Trigger: botctx.AnyText(), Pre: botctx.Do(
		another(&p, document.Set("meta.order.price", 9, "meta.language", "de")),
		func(_ context.Context, bot *botctx.Context) error {
			return document.Change(&bot.Member.Meta, func(p *progress) { p.Step, p.Order.Size = p.Step+1, "large" })
		},
	)})
	require.NoError(t, another(&p, document.Set("meta.step", 1, "meta.order", document.O("price", 4, "by", "Bob")))(t.Context(), ada.Context()))

	ada.Says("large")

	stored := ada.Member().Meta
	now, err := document.As[progress](stored)
	require.NoError(t, err)
	require.Equal(t, progress{Step: 2, Order: order{Size: "large", Price: 9}}, now)
	require.Equal(t, "Bob", document.Get(stored, "order.by", ""))
	require.Equal(t, "de", document.Get(stored, "language", ""))
}
