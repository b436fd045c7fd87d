package botctxtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/internal/record"
)

// defects are those that break the rule of an operation whose name ends so.
var defects = map[string]map[string]func(botctx.Op) botctx.Interceptor{
	"TakesTheContextsOwn": {
		"wants a channel": func(op botctx.Op) botctx.Interceptor {
			return refusing(op, func(p document.Object) bool { return !hasOneOf(p, "channel", "channelId") })
		},
		"wants a member": func(op botctx.Op) botctx.Interceptor {
			return refusing(op, func(p document.Object) bool { return !hasOneOf(p, "member", "memberId", "recipientId") })
		},
	},
	"AnswersAsDocumented":       {"does nothing": doesNothing, "fails": fails},
	"TakesRecordsAsAddresses":   {"believes records": believesRecords, "takes the context's own alone": takesNoOthers},
	"FindsNoOthers":             {"excuses others": excusesWith(boterr.NotFound), "tells no field": tellsNothing},
	"FindsNoOtherMessages":      {"excuses others": excusesWith(boterr.NotFound)},
	"FindsNoOtherConversations": {"excuses others": excusesWith(boterr.NotFound)},
	"RefusesOtherPlatforms":     {"excuses other platforms": excusesWith(boterr.Unsupported), "tells no platform": tellsNothing},
	"NeedsAnExternalID":         {"excuses strangers": excusesWith(boterr.FailedPrecondition)},
	"RefusesBadInput": {
		"excuses bad input": excusesWith(boterr.InvalidArgument), "tells no field": tellsNothing, "fails": fails,
	},
	"RefusesHeaderInjection":   {"excuses injection": excusesWith(boterr.InvalidArgument)},
	"RefusesUnsafeAddresses":   {"excuses addresses": excusesWith(boterr.InvalidArgument)},
	"TellsOfRefusals":          {"does nothing": doesNothing},
	"SendsToAllOrNone":         {"excuses wrong members": excusesWith(boterr.NotFound)},
	"KeepsTheOthers":           {"keeps failures secret": excusesWith(boterr.Unavailable), "does nothing": doesNothing},
	"TakesOneID":               {"does nothing": doesNothing},
	"TakesAttachmentsAlone":    {"wants a text": func(op botctx.Op) botctx.Interceptor { return refusing(op, lacksText) }},
	"IsRepeatable":             {"is not repeatable": onlyOnce},
	"EndsTheConversation":      {"is not repeatable": onlyOnce, "does nothing": doesNothing},
	"IsNotMatchedByDefault":    {"does nothing": doesNothing},
	"RecordsTheComment":        {"is not repeatable": onlyOnce, "does nothing": doesNothing},
	"TakesTheConversationAway": {"does nothing": doesNothing},
	"TakesTheLabelOff":         {"does nothing": doesNothing},
	"ReachesTheMember":         {"does nothing": doesNothing},
	"ReachesTheRecipient":      {"does nothing": doesNothing, "is done twice": isDoneTwice},
	"ReachesEach":              {"does nothing": doesNothing, "is done twice": isDoneTwice},
	"ReachesTheLabelled":       {"does nothing": doesNothing, "is done twice": isDoneTwice},
	"TellsWhatWasSent":         {"does nothing": doesNothing},
	"StoresTheMessage":         {"does nothing": doesNothing},
	"ChangesTheMessage":        {"does nothing": doesNothing},
	"GivesAnIDForMessages":     {"does nothing": doesNothing},
	"KeepsTheLimit":            {"does nothing": doesNothing},
	"SendsTheMail":             {"does nothing": doesNothing, "is done twice": isDoneTwice},
	"IsUnicodeByDefault":       {"does nothing": doesNothing},
	"SendsOneMailToEach":       {"does nothing": doesNothing},
	"StoresTheFile":            {"does nothing": doesNothing},
	"ReplacesTheFile":          {"is not repeatable": onlyOnce},
	"AsksByItsOptions":         {"does nothing": doesNothing, "is done twice": isDoneTwice},
	"TakesAnotherChannel":      {"does nothing": doesNothing},
	"TakesTextAndObjects":      {"does nothing": doesNothing},
	"TakesBothSpellings":       {"does nothing": doesNothing},
	"TakesTheEvent":            {"does nothing": doesNothing},
}

// brokenOperations are those of the defects for whose rules there are.
func brokenOperations() map[string]breakage {
	broken := map[string]breakage{}
	for _, rule := range botctxtest.Rules() {
		op, says := ruleOf(rule)
		for defect, breaking := range defects[says] {
			if shows(op, says, defect) {
				broken[fmt.Sprintf("%s %s: %s", op, defect, says)] = breakage{
					breaking: func() botctx.Interceptor { return breaking(op) }, breaks: []string{rule.Name}, only: true,
				}
			}
		}
	}
	return broken
}

// shows reports whether a rule about an operation can show a defect.
func shows(op botctx.Op, says, defect string) bool {
	specified, _ := operations.ByName(string(op))
	takes := func(isMeant func(operations.Field) bool) bool {
		return slices.ContainsFunc(specified.Parameters, isMeant)
	}
	ofContext := func(record string) bool {
		return takes(func(p operations.Field) bool {
			return p.Need == operations.FromContext && strings.HasPrefix(p.Name, record)
		})
	}
	switch defect {
	case "wants a channel":
		return ofContext("channel")
	case "wants a member":
		return ofContext("member")
	case "takes the context's own alone":
		return ofContext("channel") || ofContext("member")
	case "believes records":
		return takes(func(p operations.Field) bool {
			return slices.Contains([]string{"channel", "member", "group"}, p.Kind) && p.Type == "object"
		})
	case "does nothing":
		return says != "AnswersAsDocumented" || specified.Responses[0].Type != "null"
	default:
		return true
	}
}

func anything(document.Object) bool { return true }

// fails refuses all calls.
func fails(op botctx.Op) botctx.Interceptor { return refusing(op, anything) }

// takesNoOthers refuses what is given in the place of the context's own.
func takesNoOthers(op botctx.Op) botctx.Interceptor {
	return refusing(op, func(p document.Object) bool { return hasOneOf(p, "channel", "channelId", "member", "memberId") })
}

func lacksText(p document.Object) bool { return !hasOneOf(p, "text") }

// hasOneOf reports whether params have one of the fields.
func hasOneOf(p document.Object, fields ...string) bool {
	for _, field := range fields {
		if _, has := p.Field(field); has {
			return true
		}
	}
	return false
}

// refusing refuses calls of an operation with some params.
func refusing(op botctx.Op, isRefused func(document.Object) bool) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		if call.Op != op {
			return next(ctx)
		}
		params, err := document.Encode(call.Params)
		if err == nil && isRefused(params) {
			return nil, boterr.Invalid("channel", "is missing: give all that there is")
		}
		return next(ctx)
	}
}

// doesNothing answers as if all were well, with nothing in the result.
func doesNothing(op botctx.Op) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		if call.Op != op {
			return next(ctx)
		}
		ended, end := context.WithCancel(ctx)
		end()
		nothing, _ := next(ended)
		return nothing, nil
	}
}

// isDoneTwice does it twice.
func isDoneTwice(op botctx.Op) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		if call.Op == op {
			if result, err := next(ctx); err != nil {
				return result, err
			}
		}
		return next(ctx)
	}
}

// onlyOnce refuses the same params a second time.
func onlyOnce(op botctx.Op) botctx.Interceptor {
	seen := map[string]bool{}
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		if call.Op != op {
			return next(ctx)
		}
		params, err := document.Encode(call.Params)
		if err != nil {
			return next(ctx)
		}
		key := params.Without("url").String()
		if seen[key] {
			return nil, boterr.New(boterr.AlreadyExists, "", "is done already")
		}
		seen[key] = true
		return next(ctx)
	}
}

// excusesWith answers as if all were well where an operation fails with a code.
func excusesWith(code boterr.Code) func(botctx.Op) botctx.Interceptor {
	return func(op botctx.Op) botctx.Interceptor {
		return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
			result, err := next(ctx)
			if call.Op == op && boterr.CodeOf(err) == code {
				return result, nil
			}
			return result, err
		}
	}
}

// tellsNothing leaves nothing of an error but its code.
func tellsNothing(op botctx.Op) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		result, err := next(ctx)
		if err != nil && call.Op == op {
			err = boterr.New(boterr.CodeOf(err), "", "no")
		}
		return result, err
	}
}

// believesRecords goes by what the records say that are passed in.
func believesRecords(op botctx.Op) botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		params, err := document.Encode(call.Params)
		isForged := slices.ContainsFunc([]string{"channel.type", "member.externalId", "group.externalId"}, func(path string) bool {
			return document.Get(params, path, "") == "forged"
		})
		if call.Op == op && err == nil && isForged {
			return nil, boterr.New(boterr.Unsupported, "channel", "there is no such platform")
		}
		return next(ctx)
	}
}

// narrow breaks the door for JSON: it refuses params that hold a text.
func narrow(refused string) func(*botctxtest.Harness) {
	return func(h *botctxtest.Harness) {
		whole := h.Operations
		h.Operations = func(scope record.Scope) botctx.Operations {
			operations := whole(scope)
			return narrowDoor{operations, operations.(botctx.Caller), refused}
		}
	}
}

// narrowDoor refuses to be called with params that hold a text.
type narrowDoor struct {
	botctx.Operations

	door    botctx.Caller
	refused string
}

// Call implements botctx.Caller.
func (n narrowDoor) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if strings.Contains(string(args), n.refused) {
		return nil, boterr.Invalid("", "cannot be read")
	}
	return n.door.Call(ctx, name, args)
}
