package botctx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// another returns an action that changes the stored member outside of the run, like another process.
func another(p **fakes.Platform, patch document.Object) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		_, err := (*p).Operations(bot.Scope()).PatchMembers(ctx, member.PatchParams{
			MemberID: bot.Member.ID, Patch: patch, WithModifier: true,
		})
		return err
	}
}

// loads is an action that replaces bot.Member with the result of GetMember.
func loads(ctx context.Context, bot *botctx.Context) error {
	loaded, err := bot.GetMember(ctx, member.GetParams{MemberID: bot.Member.ID})
	bot.Member = loaded
	return err
}

func loadsCopy(ctx context.Context, bot *botctx.Context) error {
	loaded, err := bot.GetMember(ctx, member.GetParams{MemberID: bot.Member.ID})
	if err == nil {
		own := *loaded
		bot.Member = &own
	}
	return err
}

// overwrites is an action that copies the result of GetMember into *bot.Member.
func overwrites(ctx context.Context, bot *botctx.Context) error {
	loaded, err := bot.GetMember(ctx, member.GetParams{MemberID: bot.Member.ID})
	if err == nil {
		*bot.Member = *loaded
	}
	return err
}

// increments is an action that changes the stored member and replaces bot.Member with the result.
func increments(ctx context.Context, bot *botctx.Context) error {
	changed, err := bot.FindAndModifyMember(ctx, member.FindAndModifyParams{
		Filter: document.O("_id", bot.Member.ID), Patch: document.O("$inc", document.O("meta.visits", 1)),
		Option: member.FindAndModifyOption{New: true},
	})
	bot.Member = changed.Member
	return err
}

func TestWriteBack_OnlyChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pre  func(p **fakes.Platform) []botctx.Action
		want string
	}{
		"a sibling that another writer adds": {
			func(p **fakes.Platform) []botctx.Action {
				return []botctx.Action{sets("order.drink", "tea"), another(p, document.Set("meta.order.cake", "pie"))}
			}, `{"kept": 1, "order": {"drink": "tea", "cake": "pie"}}`,
		},
		"and one that it adds before the run changes anything": {
			func(p **fakes.Platform) []botctx.Action {
				return []botctx.Action{another(p, document.Set("meta.order.cake", "pie")), sets("order.drink", "tea")}
			}, `{"kept": 1, "order": {"drink": "tea", "cake": "pie"}}`,
		},
		"one that it changes twice, around a member that an action loads": {
			func(p **fakes.Platform) []botctx.Action {
				return []botctx.Action{
					another(p, document.Set("meta.kept", 2)), loads, sets("drink", "tea"), another(p, document.Set("meta.kept", 3)),
				}
			}, `{"kept": 3, "drink": "tea"}`,
		},
		"around a copy of a member that was loaded": {
			func(p **fakes.Platform) []botctx.Action {
				return []botctx.Action{
					another(p, document.Set("meta.kept", 2)), loadsCopy, sets("drink", "tea"), another(p, document.Set("meta.kept", 3)),
				}
			}, `{"kept": 3, "drink": "tea"}`,
		},
		"around a member that was overwritten by one that was loaded": {
			func(p **fakes.Platform) []botctx.Action {
				return []botctx.Action{
					another(p, document.Set("meta.kept", 2)), overwrites, sets("drink", "tea"), another(p, document.Set("meta.kept", 3)),
				}
			}, `{"kept": 3, "drink": "tea"}`,
		},
		"around a member that an operation changed": {
			func(p **fakes.Platform) []botctx.Action {
				return []botctx.Action{increments, sets("drink", "tea"), another(p, document.O("$inc", document.O("meta.visits", 1)))}
			}, `{"kept": 1, "visits": 2, "drink": "tea"}`,
		},
		"a key that the run removes": {
			func(p **fakes.Platform) []botctx.Action {
				remove := func(_ context.Context, bot *botctx.Context) error {
					bot.Member.Meta = bot.Member.Meta.Without("kept")
					return nil
				}
				return []botctx.Action{remove, another(p, document.Set("meta.new", 1))}
			}, `{"new": 1}`,
		},
		"a run that changes nothing": {
			func(p **fakes.Platform) []botctx.Action {
				return []botctx.Action{another(p, document.Set("meta.kept", 2))}
			}, `{"kept": 2}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes.New(fakes.For(t))
			p.Handle(&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: test.pre(&p)})
			ada := p.AddMember(member.Member{Meta: document.O("kept", 1)})
			ada.Says("hi")
			require.JSONEq(t, test.want, ada.Member().Meta.String())
		})
	}
}

// hostMembers is a host's member.Operations without etags.
type hostMembers struct{ member.Operations }

func (h hostMembers) GetMember(ctx context.Context, p member.GetParams) (*member.Member, error) {
	found, err := h.Operations.GetMember(ctx, p)
	if found != nil {
		found.Etag = ""
	}
	return found, err
}

func TestWriteBack_NoEtag(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), overriddenBy(func(_ botctx.Scope, own botctx.Services) botctx.Services {
		return botctx.Services{Members: hostMembers{own.Members}}
	}))
	p.Handle(&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{
		another(&p, document.Set("meta.kept", 2, "meta.more", 1)), loadsCopy, sets("drink", "tea"),
		another(&p, document.Set("meta.kept", 3)),
	}})
	ada := p.AddMember(member.Member{Meta: document.O("kept", 1)})
	ada.Says("hi")
	require.JSONEq(t, `{"kept": 3, "more": 1, "drink": "tea"}`, ada.Member().Meta.String())
}

func TestWriteBack_EndedContext(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithCancel(t.Context())
	p, ada := withNodes(t, &botctx.Node{ID: "hello", Pre: []botctx.Action{sets("saved", true)}, Post: []botctx.Action{
		func(context.Context, *botctx.Context) error {
			hangUp()
			return nil
		},
	}})
	err := redirectsTo(ada.ID(), "hello")(ctx, p.Operations(ada.Scope()))
	require.NoError(t, err)
	require.JSONEq(t, `{"saved": true}`, ada.Member().Meta.String())
}

func TestWriteBack_Projection(t *testing.T) {
	t.Parallel()
	for name, handBack := range map[string]func(bot *botctx.Context, shown *member.Member){
		"not handed back":   func(*botctx.Context, *member.Member) {},
		"handed back":       func(bot *botctx.Context, shown *member.Member) { bot.Member = shown },
		"handed back, copy": func(bot *botctx.Context, shown *member.Member) { own := *shown; bot.Member = &own },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes.New(fakes.For(t))
			p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
				bot.Member.Meta.Set("said", "hi")
				found, err := bot.FindAndModifyMember(ctx, member.FindAndModifyParams{
					Filter: document.O("_id", bot.Member.ID, "botMeta.isServed", document.O("$ne", true)),
					Patch:  document.O("$set", document.O("botMeta.isServed", true, "botMeta.step", 2)),
					Option: member.FindAndModifyOption{Projection: document.O("botMeta", 0)},
				})
				if err != nil || found.Member == nil {
					return err
				}
				handBack(bot, found.Member)
				bot.Member.Meta.Set("seen", "yes")
				return nil
			})
			ada := p.AddMember(member.Member{BotMeta: member.BotMeta{Object: document.O("step", 1, "more", document.O("a", 1))}})
			ada.Says("hi")
			stored := ada.Member()
			require.True(t, document.Get(stored.BotMeta.Object, "isServed", false), "what was stored while the run was under way")
			require.Equal(t, 2, document.Get(stored.BotMeta.Object, "step", 0), "nothing that it held before comes back")
			require.Equal(t, "yes", document.Get(stored.Meta, "seen", ""))
		})
	}
}

func TestWriteBack_Fields(t *testing.T) {
	t.Parallel()
	_, ada := withNodes(t, &botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{
		func(_ context.Context, bot *botctx.Context) error {
			bot.Member.BotMeta.Set("tempData.choice", 1)
			bot.Member.Meta.Set("order", "tea")
			bot.Member.CustomLocale, bot.Member.Group = "de", "group-7"
			bot.Member.FirstName, bot.Member.Profile, bot.Member.Email = "Eve", document.O("x", 1), "eve@example.com"
			bot.Member.Tags = document.A("vip")
			return nil
		},
	}, Responses: []send.Response{send.Template("Hello {{firstName}}")}})
	before := ada.Member()
	ada.Says("hi")
	require.Equal(t, "Hello Eve", ada.Last(), "the others live for the run")
	after := ada.Member()
	require.JSONEq(t, `{"tempData": {"choice": 1}}`, after.BotMeta.String())
	require.JSONEq(t, `{"order": "tea"}`, after.Meta.String())
	require.Equal(t, "de", after.CustomLocale)
	require.Equal(t, "group-7", after.Group)
	require.Equal(t, "Ada", after.FirstName)
	require.Empty(t, after.Email)
	require.Equal(t, before.Profile, after.Profile)
	require.Equal(t, before.Tags, after.Tags)
	require.Equal(t, before.Version+1, after.Version, "in one change")
}

func TestWriteBack_NoChange(t *testing.T) {
	t.Parallel()
	_, ada := withNodes(t, &botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{loads}})
	before := ada.Member()
	ada.Says("hi")
	require.Equal(t, before, ada.Member())
}

func TestWriteBack_AfterNodes(t *testing.T) {
	t.Parallel()
	var stored []string
	look := func(ctx context.Context, bot *botctx.Context) error {
		read, err := bot.GetMember(ctx, member.GetParams{MemberID: bot.Member.ID})
		stored = append(stored, read.Meta.String())
		return err
	}
	_, ada := withNodes(
		t,
		&botctx.Node{ID: "a", Trigger: botctx.AnyText(), Pre: []botctx.Action{sets("a", 1)}, Redirect: botctx.To("b")},
		&botctx.Node{ID: "b", Pre: []botctx.Action{look, sets("b", 1)}},
	)
	ada.Says("hi")
	require.Equal(t, []string{"{}"}, stored)
	require.JSONEq(t, `{"a": 1, "b": 1}`, ada.Member().Meta.String())
}

func TestWriteBack_OtherMember(t *testing.T) {
	t.Parallel()
	for name, replaced := range map[string]func(bob *fakes.Actor) *member.Member{
		"another": func(bob *fakes.Actor) *member.Member { return bob.Member() },
		"none":    func(*fakes.Actor) *member.Member { return nil },
	} {
		p := fakes.New(fakes.For(t))
		bob := p.AddMember(member.Member{})
		p.Handle(&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{
			func(_ context.Context, bot *botctx.Context) error {
				bot.Member = replaced(bob)
				if bot.Member != nil {
					bot.Member.Meta.Set("stolen", true)
				}
				return nil
			},
		}})
		require.ErrorIs(t, p.AddMember(member.Member{}).TrySays("hi"), boterr.FailedPrecondition, name)
		require.JSONEq(t, "{}", bob.Member().Meta.String(), name)
	}
}

func TestWriteBack_OutsideRuns(t *testing.T) {
	t.Parallel()
	_, ada := withNodes(t)
	bot := ada.Context()
	bot.Member.Meta.Set("order", "tea")
	require.NoError(t, bot.Reply(t.Context(), send.Template("{{meta.order}}")))
	require.JSONEq(t, "{}", ada.Member().Meta.String())
}

func TestWriteBack_Conflict(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{
		sets("order.drink", "tea"), another(&p, document.Set("meta.order", "cancelled")),
	}})
	ada := p.AddMember(member.Member{Meta: document.O("order", document.O("drink", "milk"))})
	require.ErrorIs(t, ada.TrySays("hi"), boterr.Conflict)
	require.JSONEq(t, `{"order": "cancelled"}`, ada.Member().Meta.String())
}

func TestWriteBack_RemovedMember(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{
		sets("order", "tea"), func(ctx context.Context, _ *botctx.Context) error {
			everyone, err := query.CompileFilter(document.O())
			require.NoError(t, err)
			_, err = p.Runtime().Env().Store.Collection("members").Delete(ctx, everyone, store.DeleteOptions{Multi: true})
			return err
		},
	}})
	err := p.AddMember(member.Member{}).TrySays("hi")
	require.ErrorIs(t, err, boterr.NotFound)
	require.ErrorContains(t, err, "member-1")
}

// lostMembers is a host's member.Operations that fail with Unavailable during a change. The error also wraps an
// InvalidArgument.
type lostMembers struct{ member.Operations }

func (lostMembers) PatchMembers(context.Context, member.PatchParams) (member.PatchResult, error) {
	return member.PatchResult{}, boterr.New(boterr.Unavailable, "", "the server is gone after: %w",
		boterr.Invalid("update", "does not fit"))
}

func TestWriteBack_Unavailable(t *testing.T) {
	t.Parallel()
	var p *fakes.Platform
	p = fakes.New(fakes.For(t), overriddenBy(func(scope botctx.Scope, _ botctx.Services) botctx.Services {
		own := channels.New(p.Runtime().Env(), record.Scope(scope))
		return botctx.Services{Members: lostMembers{members.New(p.Runtime().Env(), record.Scope(scope), own)}}
	}))
	p.Handle(&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{sets("drink", "tea")}})
	ada := p.AddMember(member.Member{})
	err := ada.TrySays("hi")
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(err), "%v", err)
}

// After a run changes its member with any operation, the next send fills placeholders with the new values.
func TestSendResponse_AfterOwnWrites(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(ctx context.Context, bot *botctx.Context, filter, patch document.Object) error{
		"patched": func(ctx context.Context, bot *botctx.Context, _, patch document.Object) error {
			_, err := bot.PatchMembers(ctx, member.PatchParams{MemberID: bot.Member.ID, Patch: patch, WithModifier: true})
			return err
		},
		"patched among others": func(ctx context.Context, bot *botctx.Context, _, patch document.Object) error {
			_, err := bot.PatchMembers(ctx, member.PatchParams{Filter: document.O("meta.seats", 1), Patch: patch, WithModifier: true})
			return err
		},
		"found as it was before": func(ctx context.Context, bot *botctx.Context, filter, patch document.Object) error {
			_, err := bot.FindAndModifyMember(ctx, member.FindAndModifyParams{Filter: filter, Patch: patch})
			return err
		},
		"found as it is after": func(ctx context.Context, bot *botctx.Context, filter, patch document.Object) error {
			_, err := bot.FindAndModifyMember(ctx, member.FindAndModifyParams{
				Filter: filter, Patch: patch, Option: member.FindAndModifyOption{New: true},
			})
			return err
		},
		"found in part": func(ctx context.Context, bot *botctx.Context, filter, patch document.Object) error {
			_, err := bot.FindAndModifyMember(ctx, member.FindAndModifyParams{
				Filter: filter, Patch: patch,
				Option: member.FindAndModifyOption{New: true, Projection: document.O("externalId", 1, "channel", 1)},
			})
			return err
		},
		"updated": func(ctx context.Context, bot *botctx.Context, _, _ document.Object) error {
			_, err := bot.UpdateMember(ctx, member.UpdateParams{Member: document.O("_id", bot.Member.ID, "meta", document.O("seats", 2))})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes.New(fakes.For(t))
			p.AddMember(member.Member{ID: "first", Meta: document.O("seats", 1)})
			guest := p.AddMember(member.Member{ID: "guest", Meta: document.O("seats", 1)})
			p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
				if err := write(ctx, bot, document.O("_id", bot.Member.ID), document.Set("meta.seats", 2)); err != nil {
					return err
				}
				_, err := bot.SendResponse(ctx, send.SendResponseParams{Response: send.Template("{{meta.seats}} seats")})
				return err
			})
			guest.Says("two, please")
			require.Equal(t, "2 seats", guest.Last())
		})
	}
}

// What the run has changed in its member is filled in, too, although it is not stored yet.
func TestSendResponse_ChangesNotStoredYet(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	bob := p.AddMember(member.Member{FirstName: "Bob", Meta: document.O("seats", 9)})
	ada := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("seats", 1, "day", "Monday")})
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set("seats", 2)
		bot.Member.ExternalID = bob.ExternalID() // This has no effect on where messages go.
		_, err := bot.PatchMembers(ctx, member.PatchParams{MemberID: bot.Member.ID, Patch: document.O("meta.day", "Friday")})
		if err != nil {
			return err
		}
		_, err = bot.Call(ctx, "sendResponse", []byte(`{"response": {"type": "TEXT", "text": "{{firstName}}: {{meta.seats}} on {{meta.day}}"}}`))
		if err != nil {
			return err
		}
		_, err = bot.SendResponse(ctx, send.SendResponseParams{
			MemberID: document.One(bob.ID()), Response: send.Template("{{firstName}}: {{meta.seats}}"),
		})
		return err
	})
	ada.Says("two, please")
	require.Equal(t, "Ada: 2 on Friday", ada.Last())
	require.Equal(t, "Bob: 9", bob.Last())
}

func TestCreateAssignment_ChangesNotStoredYet(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "web"})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
		{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
	}})
	p.Pair("web", "desk")
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set("order", bot.MessageEvent.Text())
		_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{AssignmentDetails: livechat.AssignmentDetails{
			RelayMessage: map[channel.Type]send.Response{channel.Charlie: send.Template("Order {{meta.order}}")},
		}})
		return err
	})
	grace := p.AddAgent("desk", "Grace")
	p.AddMember(member.Member{Channel: "web"}).Says("7")
	require.Equal(t, "Order 7", grace.Tickets()[0].Response.Text())
}
