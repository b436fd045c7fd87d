package fakes

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
)

// Choices returns what was chosen to answer each event, and why, in order. Where a mute node answers,
// another choice for the same event follows.
func (p *Platform) Choices() []botctx.Choice { return p.choices.all() }

// noteChoice returns what notes what answers an event, and then calls the test's own function, if
// there is one.
func (p *Platform) noteChoice(own func(context.Context, botctx.Choice)) func(context.Context, botctx.Choice) {
	return func(ctx context.Context, choice botctx.Choice) {
		p.choices.add(choice)
		p.note(choice.String())
		if own != nil {
			own(ctx, choice)
		}
	}
}
