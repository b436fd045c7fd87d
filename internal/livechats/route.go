package livechats

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// outlet is a channel that a request could go to.
type outlet struct {
	*channel.Channel

	// label is that of the broadcast groups, groups are these.
	label  string
	groups []channel.BroadcastGroupMember
	// field is the parameter that names the channel, "" where the pairing does, and unknown
	// what that has beside.
	field   string
	unknown document.Object
}

// target returns the outlet as the assignment keeps it.
func (o outlet) target() livechat.Target {
	return livechat.Target{Channel: o.ID, BroadcastGroups: o.groups, Label: o.label, Unknown: o.unknown}
}

// hasGroup reports whether a broadcast group is one of the outlet's.
func (o outlet) hasGroup(id string) bool {
	return slices.ContainsFunc(o.groups, func(g channel.BroadcastGroupMember) bool { return g.ID == id })
}

// takesAlone reports whether the outlet takes a request alone: a platform without tickets does,
// where it has a broadcast group with the label or may have a live-chat API.
func (o outlet) takesAlone() bool {
	return o.Type.Has(channel.LiveChatAPI) || o.Type.Has(channel.DirectRequests) && len(o.groups) > 0
}

// router says where requests go.
type router struct{ *core }

// route is where a request goes: to one channel directly, or by tickets to the broadcast
// groups of all.
type route struct {
	direct  *outlet
	outlets []outlet
}

// has reports whether a channel of a platform with a feature gets the request.
func (r route) has(feature channel.Feature) bool {
	return slices.ContainsFunc(r.outlets, func(o outlet) bool { return o.Type.Has(feature) })
}

// routeOf decides where a request goes.
func (s *router) routeOf(ctx context.Context, asked request) (route, error) {
	outlets, err := s.outlets(ctx, asked)
	if err != nil {
		return route{}, err
	}
	for _, o := range outlets {
		if o.takesAlone() {
			return route{direct: &o, outlets: []outlet{o}}, checkOn(o)
		}
	}
	if len(asked.targets) == 0 {
		outlets, err = thatHaveGroups(outlets, asked)
		return route{outlets: outlets}, err
	}
	for _, o := range outlets {
		if err := checkTicketing(o); err != nil {
			return route{}, err
		}
	}
	return route{outlets: outlets}, nil
}

// checkTicketing refuses a target that can take no ticket.
func checkTicketing(o outlet) error {
	if len(o.groups) == 0 {
		return boterr.New(boterr.FailedPrecondition, o.field,
			"the channel %s has no broadcast groups with the label %q: give it some, or give broadcastGroups", o.ID, o.label)
	}
	return checkOn(o)
}

// outlets returns the channels that a request could go to, in order: those of its targets,
// else those that are paired with the inlet and are on.
func (s *router) outlets(ctx context.Context, asked request) ([]outlet, error) {
	if len(asked.targets) > 0 {
		return s.targetedOutlets(ctx, asked.targets, asked.record.Inlet)
	}
	return s.pairedOutlets(ctx, asked)
}

// pairedOutlets returns the outlets that are paired with the inlet and are on.
func (s *router) pairedOutlets(ctx context.Context, asked request) ([]outlet, error) {
	inlet := asked.record.Inlet
	paired, err := s.ports.Pairing(ctx, inlet)
	if err != nil {
		return nil, err
	}
	if asked.outlet != "" && !slices.Contains(paired, asked.outlet) {
		paired = append(slices.Clone(paired), asked.outlet)
	}
	if len(paired) == 0 {
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"no channel is paired with the inlet %s: pair one with it, or give targets", inlet)
	}
	var outlets []outlet
	for _, id := range paired {
		c, err := s.ports.Channels.Load(ctx, id)
		if errors.Is(err, boterr.NotFound) {
			continue // It was removed after it was paired.
		}
		if err != nil {
			return nil, err
		}
		if c.On {
			outlets = append(outlets, outlet{Channel: c, label: asked.label, groups: labelled(c, asked.label)})
		}
	}
	if len(outlets) == 0 {
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"no channel that is paired with the inlet %s is on: switch one of %s on", inlet, strings.Join(paired, ", "))
	}
	return outlets, nil
}

// labelled returns the broadcast groups of a channel with a label.
func labelled(c *channel.Channel, label string) []channel.BroadcastGroupMember {
	var groups []channel.BroadcastGroupMember
	for _, group := range c.BroadcastGroups {
		if group.Label == label {
			groups = append(groups, group.Groups...)
		}
	}
	return groups
}

// thatHaveGroups returns the outlets that have broadcast groups with the label.
func thatHaveGroups(outlets []outlet, asked request) ([]outlet, error) {
	var having []outlet
	var ids []string
	for _, o := range outlets {
		ids = append(ids, o.ID)
		if len(o.groups) > 0 {
			having = append(having, o)
		}
	}
	if len(having) == 0 {
		return nil, boterr.New(boterr.FailedPrecondition, fieldLabel,
			"no channel that is paired with the inlet %s and on (%s) has broadcast groups with the label %q: give one of them such groups",
			asked.record.Inlet, strings.Join(ids, ", "), asked.label)
	}
	return having, nil
}

// checkTargets refuses what is no target, as far as that can be told without the channels.
func checkTargets(targets []livechat.Target) error {
	for i, target := range targets {
		if target.Channel == "" {
			return boterr.Missing(indexed(fieldTargets, i)+".channel", "the id of the outlet channel")
		}
	}
	return nil
}

// targetedOutlets returns the outlets of targets.
func (s *router) targetedOutlets(ctx context.Context, targets []livechat.Target, inlet string) ([]outlet, error) {
	outlets := make([]outlet, len(targets))
	for i, target := range targets {
		field := indexed(fieldTargets, i)
		if target.Channel == inlet {
			return nil, boterr.Invalid(field+".channel", "%s is the member's own channel: give that of the agents", inlet)
		}
		c, err := s.ports.Channels.Load(ctx, target.Channel)
		if err != nil {
			return nil, boterr.WithField(field+".channel", err)
		}
		for j, group := range target.BroadcastGroups {
			if err := checkBroadcastGroup(c.Type, group); err != nil {
				return nil, boterr.PrefixField(field+"."+indexed("broadcastGroups", j), err)
			}
		}
		outlets[i] = outlet{
			Channel: c, label: orDefaultLabel(target.Label), groups: target.BroadcastGroups,
			field: field + ".channel", unknown: target.Unknown,
		}
		if len(target.BroadcastGroups) == 0 {
			outlets[i].groups = labelled(c, outlets[i].label)
		}
	}
	return outlets, nil
}

// checkBroadcastGroup refuses a broadcast group that a platform cannot have.
func checkBroadcastGroup(platform channel.Type, group channel.BroadcastGroupMember) error {
	allowed := channel.PlatformOf(platform).BroadcastGroups
	switch {
	case allowed != nil && !slices.Contains(allowed, group.Type):
		return boterr.Invalid("type", "must be one of %s for a channel of type %s, got %q", strings.Join(allowed, ", "), platform, group.Type)
	case group.ID == "" && !platform.Has(channel.DirectRequests):
		return boterr.Invalid("id", "is missing: a ticket is sent to it")
	default:
		return nil
	}
}

// checkOn refuses an outlet that is not on.
func checkOn(o outlet) error {
	if o.On {
		return nil
	}
	return boterr.New(boterr.FailedPrecondition, o.field, "the channel %s is off: switch it on, or choose another", o.ID)
}

// indexed returns the path of an element.
func indexed(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }
