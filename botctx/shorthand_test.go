package botctx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func TestShorthand_NodeActsSaysAndGoesOn(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(
		&botctx.Node{
			ID: "size", Trigger: botctx.AnyText(),
			Pre:       botctx.Do(sets("size", "large"), sets("cup", "{{meta.size}}")),
			Responses: botctx.Say("Hello {{firstName}}!", "{{meta.size}}: {{meta.cup}}"),
			Redirect:  func(context.Context, *botctx.Context) (*botctx.Redirect, error) { return botctx.GoTo("end") },
		},
		&botctx.Node{ID: "end", Responses: botctx.Say("Bye.")},
	)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("hi")

	require.Equal(t, "Hello Ada!\nlarge: {{meta.size}}\nBye.", texts(ada))
}
