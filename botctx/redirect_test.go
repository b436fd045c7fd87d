package botctx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// redirects returns an action that redirects the run's own member.
func redirects(to botctx.RedirectMemberToNodeParams) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		if to.MemberID == "" {
			to.MemberID = bot.Member.ID
		}
		_, err := bot.RedirectMemberToNode(ctx, to)
		return err
	}
}

// redirectsTo returns an action that redirects a member, or the member of the run if memberID is "".
func redirectsTo(memberID, node string) botctx.Action {
	return redirects(botctx.RedirectMemberToNodeParams{MemberID: memberID, NodeCompositeID: node})
}

func whole(id string, change ...func(*botctx.Node)) *botctx.Node {
	node := &botctx.Node{
		ID: id, Pre: []botctx.Action{says(id + " pre")}, Responses: []send.Response{send.Text(id + " response")},
		Post: []botctx.Action{says(id + " post")},
	}
	for _, alter := range change {
		alter(node)
	}
	return node
}

func goesTo(id string) func(*botctx.Node) { return func(n *botctx.Node) { n.Redirect = botctx.To(id) } }

func TestRedirect_Options(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options botctx.RedirectOptions
		want    string
	}{
		"by default all":  {botctx.RedirectOptions{}, "a pre\na response\na post\nb response"},
		"all by name":     {botctx.RedirectOptions{RunPreAction: new(true), SendResponse: new(true), RunPostAction: new(true)}, "a pre\na response\na post\nb response"},
		"no pre-actions":  {botctx.RedirectOptions{RunPreAction: new(false)}, "a response\na post\nb response"},
		"no responses":    {botctx.RedirectOptions{SendResponse: new(false)}, "a pre\na post\nb response"},
		"no post-actions": {botctx.RedirectOptions{RunPostAction: new(false)}, "a pre\na response\nb response"},
		"nothing but on it goes": {
			botctx.RedirectOptions{RunPreAction: new(false), SendResponse: new(false), RunPostAction: new(false)}, "b response",
		},
	} {
		b := &botctx.Node{ID: "b", Responses: []send.Response{send.Text("b response")}}
		byOperation := botctx.RedirectMemberToNodeParams{NodeCompositeID: "a", RedirectOptions: test.options}
		byNode := botctx.Redirect{NodeCompositeID: "a", Options: test.options}
		_, ada := withNodes(
			t, whole("a", goesTo("b")), b,
			&botctx.Node{ID: "operation", Trigger: botctx.TextIs("operation"), Pre: []botctx.Action{redirects(byOperation)}},
			&botctx.Node{ID: "node", Trigger: botctx.TextIs("node"), Redirect: byNode.Always()},
		)
		ada.Says("operation")
		require.Equal(t, test.want, texts(ada), name)
		ada.Says("node")
		require.Equal(t, test.want+"\n"+test.want, texts(ada), name)
	}
}

func TestRedirect_Meta(t *testing.T) {
	t.Parallel()
	tell := func(ctx context.Context, bot *botctx.Context) error {
		return bot.Reply(ctx, send.Text(bot.Node.CompositeID+" "+bot.AgendaMeta.String()))
	}
	_, ada := withNodes(
		t,
		&botctx.Node{ID: "start", Trigger: botctx.AnyText(), Pre: []botctx.Action{
			tell,
			redirects(botctx.RedirectMemberToNodeParams{NodeCompositeID: "shown", Meta: document.O("n", 1)}),
			redirectsTo("", "last"),
			tell,
		}},
		&botctx.Node{ID: "shown", Pre: []botctx.Action{tell}, Redirect: botctx.To("kept")},
		&botctx.Node{ID: "kept", Pre: []botctx.Action{tell}, Redirect: botctx.Redirect{
			NodeCompositeID: "last", Meta: document.O("n", 2),
		}.Always()},
		&botctx.Node{ID: "last", Pre: []botctx.Action{tell}},
	)
	ada.Says("hi")
	require.Equal(t, `start {}
shown {"n":1}
kept {"n":1}
last {"n":2}
last {}
start {}`, texts(ada), "a redirect's meta reaches what it runs, and no further")
}

func TestRedirect_JoinsRun(t *testing.T) {
	t.Parallel()
	p, ada := withNodes(
		t,
		&botctx.Node{
			ID: "start", Trigger: botctx.AnyText(),
			Pre:       []botctx.Action{sets("cart", "tea"), redirectsTo("", "joined")},
			Responses: []send.Response{send.Template("{{meta.cart}}, {{meta.size}}")},
		},
		&botctx.Node{
			ID: "joined", Responses: []send.Response{send.Template("{{meta.cart}}")},
			Post: []botctx.Action{sets("size", "large"), func(_ context.Context, bot *botctx.Context) error {
				bot.Values["joined"] = bot.MessageEvent.Text()
				return nil
			}},
		},
	)
	ada.Says("hi")
	require.Equal(t, "tea\ntea, large", texts(ada), "the joined node works on the member in flight, and leaves it to the run")
	require.JSONEq(t, `{"cart": "tea", "size": "large"}`, ada.Member().Meta.String())
	require.Len(t, p.Calls(botctx.OpRedirectMemberToNode), 1)
}

func TestRedirect_Tree(t *testing.T) {
	t.Parallel()
	nodes := []*botctx.Node{
		answering("menu", "shop"), answering("menu", "music"), answering("only", "music"), answering("menu", ""),
	}
	for name, test := range map[string]struct {
		from botctx.NodeRef
		to   botctx.Redirect
		want botctx.NodeRef
		code boterr.Code
	}{
		"the same tree":    {from: botctx.NodeRef{Tree: "shop"}, to: botctx.Redirect{NodeCompositeID: "menu"}, want: botctx.NodeRef{CompositeID: "menu", Tree: "shop"}},
		"the unnamed tree": {to: botctx.Redirect{NodeCompositeID: "menu"}, want: botctx.NodeRef{CompositeID: "menu"}},
		"another tree":     {from: botctx.NodeRef{Tree: "shop"}, to: botctx.Redirect{NodeCompositeID: "menu", TreeID: "music"}, want: botctx.NodeRef{CompositeID: "menu", Tree: "music"}},
		"the only one":     {from: botctx.NodeRef{Tree: "shop"}, to: botctx.Redirect{NodeCompositeID: "only"}, want: botctx.NodeRef{CompositeID: "only", Tree: "music"}},
		"one of several":   {from: botctx.NodeRef{Tree: "night"}, to: botctx.Redirect{NodeCompositeID: "menu"}, code: boterr.InvalidArgument},
		"not in the tree":  {from: botctx.NodeRef{Tree: "music"}, to: botctx.Redirect{NodeCompositeID: "only", TreeID: "shop"}, code: boterr.NotFound},
		"nowhere":          {to: botctx.Redirect{NodeCompositeID: "gone"}, code: boterr.NotFound},
	} {
		var ran botctx.NodeRef
		p := fakes.New(fakes.For(t), interceptedBy(func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
			ran = call.Context.Node // The last call is the send of the node's response.
			return next(ctx)
		}))
		p.Handle(nodes...)
		p.Handle(&botctx.Node{ID: "start", Tree: test.from.Tree, Redirect: botctx.RedirectFunc(
			func(context.Context, *botctx.Context) (*botctx.Redirect, error) { return &test.to, nil },
		)})
		ada := p.AddMember(member.Member{})
		_, err := ada.Context().RedirectMemberToNode(t.Context(), botctx.RedirectMemberToNodeParams{
			MemberID: ada.ID(), NodeCompositeID: "start", TreeID: test.from.Tree,
		})
		if test.code != "" {
			require.ErrorIs(t, err, test.code, name)
			require.ErrorContains(t, err, test.to.NodeCompositeID, "%s: the error names the node", name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, test.want, ran, name)
	}
}

func TestRedirect_TreeOutsideOfNodes(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(inTrees()...)
	ada, bob := p.AddMember(member.Member{}), p.AddMember(member.Member{})
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		for _, to := range []*fakes.Actor{ada, bob} {
			if err := redirectsTo(to.ID(), "reminder")(ctx, bot); err != nil {
				return err
			}
		}
		return nil
	})
	ada.SetPosition("result")
	bob.SetPosition("result")
	ada.Says("hi")
	for _, actor := range []*fakes.Actor{ada, bob} {
		require.Equal(t, "reminder (tree survey)", document.Get(actor.Member().Meta, "ran", ""))
	}
}

func TestRedirect_EndlessByOperations(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.MaxRedirects = 4 }))
	p.Handle(
		&botctx.Node{ID: "ping", Trigger: botctx.AnyText(), Pre: []botctx.Action{redirectsTo("", "pong")}},
		&botctx.Node{ID: "pong", Post: []botctx.Action{redirectsTo("", "ping")}},
	)
	err := p.AddMember(member.Member{}).TrySays("hi")
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	require.ErrorContains(t, err, "more than 4 redirects; end the cycle or raise Config.MaxRedirects: ping -> pong -> ping -> pong -> ping -> pong")
}

func TestRedirect_DepthOfOthers(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.MaxRedirects = 3 }))
	var all []*fakes.Actor
	pass := func(ctx context.Context, bot *botctx.Context) error {
		for i, actor := range all[:len(all)-1] {
			if actor.ID() == bot.Member.ID {
				return redirectsTo(all[i+1].ID(), "pass")(ctx, bot)
			}
		}
		return nil
	}
	p.Handle(&botctx.Node{ID: "pass", Trigger: botctx.AnyText(), Pre: []botctx.Action{pass}})
	for range 6 {
		all = append(all, p.AddMember(member.Member{}))
	}
	err := all[0].TrySays("hi")
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	require.ErrorContains(t, err, "pass -> member member-2: pass -> member member-3: pass -> member member-4: pass -> member member-5: pass")
}

func TestRedirect_ManyOfOne(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.MaxRedirects = 2 }))
	var times int
	p.Handle(&botctx.Node{ID: "start", Trigger: botctx.AnyText(), Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
		for range 10 {
			if err := redirectsTo("", "count")(ctx, bot); err != nil {
				return err
			}
		}
		return nil
	}}}, &botctx.Node{ID: "count", Pre: []botctx.Action{func(context.Context, *botctx.Context) error {
		times++
		return nil
	}}})
	p.AddMember(member.Member{}).Says("hi")
	require.Equal(t, 10, times)
}
