package botctx

import "github.com/botctx/go-sdk/send"

// Do returns the actions of a node, in order:
//
//	&botctx.Node{ID: "booked", Pre: botctx.Do(book, forget)}
func Do(actions ...Action) []Action { return actions }

// Say returns the responses of a node, each one a text:
//
//	&botctx.Node{ID: "greeting", Responses: botctx.Say("Hello {{firstName}}!", "What would you like?")}
//
// The texts are templates, as those of send.Template are: {{path}} is filled from the member. They
// are constants, which the compiler sees to. A text that is put together elsewhere is
// []send.Response{send.Text(text)}, or send.Text(text).WithPlaceholders() where it has placeholders.
func Say(texts ...send.Constant) []send.Response {
	responses := make([]send.Response, len(texts))
	for i, text := range texts {
		responses[i] = send.Template(text)
	}
	return responses
}

// GoTo is what the function of ToOneOf returns to go on at a node of the same tree:
//
//	func route(ctx context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
//		if bot.Member.Email == "" {
//			return botctx.GoTo("email?")
//		}
//		return botctx.GoTo("order")
//	}
//
//	&botctx.Node{ID: "buy", Redirect: botctx.ToOneOf(route, "email?", "order")}
//
// A node that always goes on at the same one has the Redirector To.
func GoTo(nodeCompositeID string) (*Redirect, error) {
	return &Redirect{NodeCompositeID: nodeCompositeID}, nil
}

// Nodes names nodes of the same tree, for Node.Schedules:
//
//	&botctx.Node{ID: "coupon", Pre: botctx.Do(claim), Schedules: botctx.Nodes("reminder")}
func Nodes(nodeCompositeIDs ...string) []NodeRef {
	refs := make([]NodeRef, len(nodeCompositeIDs))
	for i, id := range nodeCompositeIDs {
		refs[i].CompositeID = id
	}
	return refs
}
