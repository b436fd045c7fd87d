package botctxtest

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// requireOwn checks that what a call sent and made went through the channel of a place, and to its
// member.
func (o operation) requireOwn(t *trial, p *place, call func() error) {
	t.Helper()
	sent, made, before := len(t.sentIfKnown()), len(t.madeIfKnown()), t.state()
	require.NoError(t, call())
	if isLookUp := strings.HasPrefix(string(o.op), "get"); o.domain == LiveChats && !isLookUp && t.Sent != nil && t.Made != nil {
		require.NotEqual(t, before, t.state(), "the call has an effect")
	}
	for _, one := range t.sentIfKnown()[sent:] {
		if o.domain == Sends {
			require.Equal(t, []string{p.channel.ID, p.member.ExternalID}, []string{one.Channel, one.To})
		}
	}
	for _, one := range t.madeIfKnown()[made:] {
		require.Equal(t, p.channel.ID, one.Channel)
	}
}

// sentIfKnown returns what has arrived, nothing where the harness does not know.
func (t *trial) sentIfKnown() []Sent {
	if t.Sent == nil {
		return nil
	}
	return t.Sent()
}

// madeIfKnown returns what was made, nothing where the harness does not know.
func (t *trial) madeIfKnown() []Made {
	if t.Made == nil {
		return nil
	}
	return t.Made()
}

func (o operation) takesTheContextsOwn(t *trial) {
	p := o.in(t, t.home)
	o.requireOwn(t, p, func() error { return o.try(t.ctx(), p) })
}

func (o operation) takesRecordsAsAddresses(t *trial) {
	p, elsewhere := o.in(t, t.home), t.newPlaceOn(t.home.scope.App, t.platform())
	with := document.O()
	for _, one := range append(o.ofContext(), o.records()...) {
		id := p.record(t, recordOf(one)).Value("_id")
		if isRecord(one) {
			with = with.With(one.Name, document.O(
				"_id", id, "app", t.away.scope.App, "channel", "forged", "type", "forged", "name", "Forged",
				"externalId", "forged", "firstName", "Forged",
			))
		} else {
			with = with.With(one.Name, id)
		}
	}
	o.requireOwn(t, p, func() error {
		return errorOf(o.call.with(t.ctx(), elsewhere.Operations, o.op, changed(o.input(p), with)))
	})
}

func (o operation) refusesOtherPlatforms(t *trial) {
	p := o.in(t, t.home)
	allowed := o.specified().Platforms
	var others []*place
	for _, platform := range platforms {
		if !slices.Contains(allowed, string(platform)) && t.offers(On(platform)) {
			others = append(others, t.newPlaceOn(p.scope.App, platform))
		}
	}
	before := t.state()
	for _, other := range others {
		platform := string(other.channel.Type)
		t.try("a context on "+platform, func(t *trial) {
			_ = o.requireUnsupported(t, func() (any, error) { return o.call.with(t.ctx(), other.Operations, o.op, o.input(p)) })
		})
		for _, one := range o.ofContext() {
			if !strings.HasPrefix(one.Name, "channel") {
				continue
			}
			given := any(other.channel.ID)
			if isRecord(one) {
				given = other.record(t, one)
			}
			t.try("the "+one.Name+" on "+platform, func(t *trial) {
				err := o.requireUnsupported(t, func() (any, error) { return o.changing(t.ctx(), p, document.O(one.Name, given)) })
				o.requireRefusal(t, boterr.Unsupported, either(one), nil, err)
			})
		}
	}
	require.Equal(t, before, t.state(), "calls that are refused change nothing")
}

// requireUnsupported checks that a call is Unsupported, names the platforms that are allowed, and
// gives nothing. It returns the error.
func (o operation) requireUnsupported(t *trial, call func() (any, error)) error {
	t.Helper()
	result, err := call()
	t.requireCode(boterr.Unsupported, err)
	for _, allowed := range o.specified().Platforms {
		require.ErrorContains(t, err, allowed, "the error names the platforms that are allowed")
	}
	require.Zero(t, result, "the result beside an error")
	return err
}

func (o operation) needsAnExternalID(t *trial) {
	p := o.in(t, t.home)
	unknown := t.beside(p, member.Member{})
	t.update("_id", unknown.ID, "externalId", "")
	before := t.state()
	for name, given := range map[string]any{"member": unknown, "memberId": unknown.ID} {
		if o.has(name) {
			t.try(name, func(t *trial) {
				t.requireCode(boterr.FailedPrecondition, errorOf(o.changing(t.ctx(), p, document.O(name, given))))
			})
		}
	}
	require.Equal(t, before, t.state(), "calls that are refused change nothing")
}
