package botctxtest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
)

// operationRules are the rules that follow from the table of operations and from that of the
// specification: those that all operations with such parameters have in common.
func operationRules() []Rule {
	var rules []Rule
	for _, o := range table() {
		rules = append(rules, needing(o.capabilities(), slices.Concat(o.rules(), o.own))...)
	}
	return rules
}

func (o operation) rules() []Rule {
	rules := []Rule{{
		Name:  o.name() + "AnswersAsDocumented",
		Text:  "the JSON of the result has the keys and types that the specification shows, and says that something was done",
		check: o.answersAsDocumented,
	}, {
		Name:  o.name() + "RefusesBadInput",
		Text:  "what is missing, of another type, no value or contradicts itself is InvalidArgument with the parameter, and changes nothing",
		check: o.refusesBadInput,
	}}
	for _, rule := range []struct {
		applies bool
		Rule
	}{
		{o.findsRecords(), Rule{
			Name:  o.name() + "FindsNoOthers",
			Text:  "what does not exist, or is of another app, is NotFound with the parameter, whatever records say, and nothing changes",
			check: o.findsNoOthers,
		}},
		{len(o.ofContext()) > 0, Rule{
			Name:  o.name() + "TakesTheContextsOwn",
			Text:  "channel and member are the context's own where no other is given",
			check: o.takesTheContextsOwn,
		}},
		{len(o.ofContext()) > 0 || len(o.records()) > 0, Rule{
			Name:  o.name() + "TakesRecordsAsAddresses",
			Text:  "what is given by id or record takes the place of the context's own, and of a record only the _id counts",
			check: o.takesRecordsAsAddresses,
		}},
		{o.isForPlatforms(), Rule{
			Name:  o.name() + "RefusesOtherPlatforms",
			Text:  "a channel of another platform is Unsupported with an error that names the platforms allowed, and nothing changes",
			check: o.refusesOtherPlatforms,
		}},
		{o.isForPlatforms() && o.has("member", "memberId"), Rule{
			Name:  o.name() + "NeedsAnExternalID",
			Text:  "a member whom the platform does not know is FailedPrecondition, and nothing changes",
			Needs: []Capability{Members},
			check: o.needsAnExternalID,
		}},
	} {
		if rule.applies {
			rules = append(rules, rule.Rule)
		}
	}
	return rules
}

// has reports whether the operation has one of the parameters.
func (o operation) has(parameters ...string) bool {
	return slices.ContainsFunc(parameters, func(one string) bool {
		_, has := o.specified().Parameter(one)
		return has
	})
}

// parameters returns those of the operation's parameters that are meant.
func (o operation) parameters(isMeant func(operations.Field) bool) []operations.Field {
	return slices.DeleteFunc(slices.Clone(o.specified().Parameters), func(p operations.Field) bool { return !isMeant(p) })
}

// ofContext returns the parameters that the context has where they are not given.
func (o operation) ofContext() []operations.Field {
	return o.parameters(func(p operations.Field) bool { return p.Need == operations.FromContext })
}

// records returns the parameters that are records of the app, of which only the _id counts.
func (o operation) records() []operations.Field {
	return o.parameters(isRecord)
}

// isRecord reports whether a parameter is a record of the app.
func isRecord(p operations.Field) bool {
	return slices.Contains([]string{"channel", "member", "group", "assignment"}, p.Kind)
}

// findsRecords reports whether there are ids or records in the parameters that must be found.
func (o operation) findsRecords() bool {
	return len(o.ofContext()) > 0 || len(o.records()) > 0 || len(o.names) > 0 || o.findsNot != nil
}

// isForPlatforms reports whether the channel of a call must be of certain platforms.
func (o operation) isForPlatforms() bool {
	return len(o.specified().Platforms) > 0 && o.has("channel", "channelId")
}

// takesText reports whether a parameter may be a text.
func takesText(p operations.Field) bool {
	return slices.Contains(p.Type.Alternatives(), operations.Type("string"))
}

// record returns the record of a place for which a parameter stands.
func (p *place) record(t *trial, parameter operations.Field) document.Object {
	t.Helper()
	switch parameter.Kind {
	case "member":
		return t.object(p.member)
	case "group":
		return t.object(p.group())
	case "assignment":
		return t.object(p.chat.assignment)
	}
	return t.object(p.channel)
}

// recordOf returns the record of a place for which a parameter of the context stands.
func recordOf(parameter operations.Field) operations.Field {
	if strings.HasPrefix(parameter.Name, "member") {
		parameter.Kind = "member"
	}
	return parameter
}

// changing calls the operation with changed input, in other operations than those of the place
// where they are given.
func (o operation) changing(ctx context.Context, p *place, with document.Object) (any, error) {
	return o.call.with(ctx, p.Operations, o.op, changed(o.input(p), with))
}

// requireAllRefused checks that calls with changed input fail with a code and the name of the
// parameter, and that all of them together change nothing.
func (o operation) requireAllRefused(t *trial, p *place, code boterr.Code, changes []change) {
	t.Helper()
	before := t.state()
	for _, c := range changes {
		t.try(c.name, func(t *trial) {
			result, err := o.changing(t.ctx(), p, c.with)
			if !errors.Is(err, errUnheld) {
				o.requireRefusal(t, code, c.field, result, err)
			}
		})
	}
	require.Equal(t, before, t.state(), "calls that fail change nothing")
}

// requireRefusal checks that a call failed with a code, about one of several parameters with "|"
// between, and gave nothing.
func (o operation) requireRefusal(t *trial, code boterr.Code, fields string, result any, err error) {
	t.Helper()
	named := t.failure(code, err).Field
	for field := range strings.SplitSeq(fields, "|") {
		rest, found := strings.CutPrefix(named, field)
		if found && (rest == "" || field != "" && strings.ContainsAny(rest[:1], ".[")) {
			t.requireError(o.op, code, field, err)
			require.Zero(t, result, "the result beside an error")
			return
		}
	}
	require.Fail(t, "another field", "the field is %q, and should be %q or a path in it: %v", named, fields, err)
}
