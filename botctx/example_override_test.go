package botctx_test

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// withTitles is the SDK's member.Operations, except that GetMember adds a title that the host stores elsewhere.
type withTitles struct {
	member.Operations

	titles map[string]string
}

// GetMember implements member.Operations. The other methods are the SDK's.
func (w withTitles) GetMember(ctx context.Context, p member.GetParams) (*member.Member, error) {
	found, err := w.Operations.GetMember(ctx, p)
	if err == nil {
		found.Meta.Set("title", w.titles[found.ExternalID])
	}
	return found, err
}

// The host replaces GetMember. All other methods are the SDK's. Sends load the member with the host's GetMember, so the
// title is in the text.
func ExampleConfig_override() {
	titles := map[string]string{"42": "Countess"}
	p := fakes.New(fakes.Config(func(c *botctx.Config) {
		c.Override = func(_ botctx.Scope, own botctx.Services) botctx.Services {
			return botctx.Services{Members: withTitles{own.Members, titles}}
		}
	}))
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		return bot.Reply(ctx, send.Template("Good morning, {{meta.title}} {{lastName}}."))
	})
	ada := p.AddMember(member.Member{LastName: "Lovelace", ExternalID: "42"})
	ada.Says("hi")
	fmt.Println(ada.Last())
	// Output:
	// Good morning, Countess Lovelace.
}
