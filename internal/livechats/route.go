package livechats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// outlet is a channel to which a request may go.
type outlet struct {
	*channel.Channel

	// label is the label of the request or the target. groups are the broadcast groups that get a ticket.
	label  string
	groups []channel.BroadcastGroupMember
	// field is the parameter that names the channel, or "" if the channel comes from the pairing. unknown are the
	// parameter's unknown fields.
	field   string
	unknown document.Object
}

// target returns the outlet as a target of the assignment.
func (o outlet) target() livechat.Target {
	return livechat.Target{Channel: o.ID, BroadcastGroups: o.groups, Label: o.label, Unknown: o.unknown}
}

// takesAlone reports whether the outlet takes a request alone: its platform has no tickets, and it either has a
// broadcast group with the label or may have a live-chat API.
func (o outlet) takesAlone() bool {
	return o.Type.Has(channel.LiveChatAPI) || o.Type.Has(channel.DirectRequests) && len(o.groups) > 0
}

// A route is the recipients of a request: one channel directly, or the broadcast groups of all outlets, with tickets.
type route struct {
	direct  *outlet
	outlets []outlet
}

// has reports whether a channel of the route is on a platform with a feature.
func (r route) has(feature channel.Feature) bool {
	return slices.ContainsFunc(r.outlets, func(o outlet) bool { return o.Type.Has(feature) })
}

func (s *Service) routeOf(ctx context.Context, asked request) (route, error) {
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

// checkTicketing returns an error for a target that cannot get a ticket.
func checkTicketing(o outlet) error {
	if len(o.groups) == 0 {
		return boterr.New(boterr.FailedPrecondition, o.field,
			"the channel %s has no broadcast groups with the label %q: give it some, or give broadcastGroups", o.ID, o.label)
	}
	return checkOn(o)
}

// outlets returns the channels that a request could go to, in order: its targets if it has any, else the
// paired channels that are switched on.
func (s *Service) outlets(ctx context.Context, asked request) ([]outlet, error) {
	if len(asked.targets) > 0 {
		return s.targetedOutlets(ctx, asked.targets, asked.record.Inlet)
	}
	return s.pairedOutlets(ctx, asked)
}

func (s *Service) pairedOutlets(ctx context.Context, asked request) ([]outlet, error) {
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
			continue // The channel was removed after it was paired.
		}
		if err != nil {
			return nil, err
		}
		if c.On {
			outlets = append(outlets, outlet{Channel: c, label: asked.record.Label, groups: labelled(c, asked.record.Label)})
		}
	}
	if len(outlets) == 0 {
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"no channel that is paired with the inlet %s is on: switch one of %s on", inlet, strings.Join(paired, ", "))
	}
	return outlets, nil
}

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
			"none of the active channels paired with the inlet %s (%s) has broadcast groups with the label %q: add groups to one of them",
			asked.record.Inlet, strings.Join(ids, ", "), asked.record.Label)
	}
	return having, nil
}

// checkTargets returns an error for a target without a channel. Further checks need the stored channels.
func checkTargets(targets []livechat.Target) error {
	for i, target := range targets {
		if target.Channel == "" {
			return boterr.Missing(indexed(fieldTargets, i)+".channel", "the id of the outlet channel")
		}
	}
	return nil
}

func (s *Service) targetedOutlets(ctx context.Context, targets []livechat.Target, inlet string) ([]outlet, error) {
	outlets := make([]outlet, len(targets))
	for i, target := range targets {
		field := indexed(fieldTargets, i)
		if target.Channel == inlet {
			return nil, boterr.Invalid(field+".channel", "%s is the member's own channel: give the agents' channel", inlet)
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
			Channel: c, label: cmp.Or(target.Label, livechat.DefaultLabel), groups: target.BroadcastGroups,
			field: field + ".channel", unknown: target.Unknown,
		}
		if len(target.BroadcastGroups) == 0 {
			outlets[i].groups = labelled(c, outlets[i].label)
		}
	}
	return outlets, nil
}

// checkBroadcastGroup returns an error if the platform does not have the type of a broadcast group.
func checkBroadcastGroup(platform channel.Type, group channel.BroadcastGroupMember) error {
	allowed := channel.PlatformOf(platform).BroadcastGroups
	switch {
	case allowed != nil && !slices.Contains(allowed, group.Type):
		return boterr.Invalid("type", "must be one of %s for a channel of type %s, got %q", strings.Join(allowed, ", "), platform, group.Type)
	case group.ID == "" && !platform.Has(channel.DirectRequests):
		return boterr.Invalid("id", "is missing: give the id of the group that gets the ticket")
	default:
		return nil
	}
}

// checkOn returns an error for an outlet that is switched off.
func checkOn(o outlet) error {
	if o.On {
		return nil
	}
	return boterr.New(boterr.FailedPrecondition, o.field, "the channel %s is off: switch it on, or choose another", o.ID)
}

// indexed returns the path of an element.
func indexed(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// AddNewTargetsToAssignment implements Operations.
func (s *Service) AddNewTargetsToAssignment(
	ctx context.Context, p livechat.AddNewTargetsToAssignmentParams,
) (livechat.AddNewTargetsToAssignmentResult, error) {
	named := assignmentByID(p.AssignmentID)
	if _, err := named.Resolve(); err != nil {
		return livechat.AddNewTargetsToAssignmentResult{}, err
	}
	if len(p.Targets) == 0 {
		return livechat.AddNewTargetsToAssignmentResult{}, boterr.Missing(fieldTargets, "the further recipients of the ticket")
	}
	run, err := s.assignmentOnce(ctx, fmt.Sprintf("add targets %q", p.AssignmentID), func(ctx context.Context) (*pass, error) {
		return s.addTargets(ctx, named, p)
	})
	if err != nil {
		return livechat.AddNewTargetsToAssignmentResult{}, err
	}
	m, err := run.memberNow(ctx)
	if err != nil {
		return livechat.AddNewTargetsToAssignmentResult{}, boterr.WithField(fieldMember, err)
	}
	return livechat.AddNewTargetsToAssignmentResult{Member: m, AssignmentID: run.r.ID}, nil
}

// addTargets sends tickets of an assignment to further targets.
func (s *Service) addTargets(ctx context.Context, named record.Ref, p livechat.AddNewTargetsToAssignmentParams) (*pass, error) {
	r, err := s.namedAssignment(ctx, named)
	if err != nil {
		return nil, err
	}
	m, err := members.Get(ctx, s.ports.Members, r.Member)
	if err != nil {
		return nil, boterr.WithField(fieldAssignmentID, err)
	}
	outlets, err := s.addedOutlets(ctx, r, m, p.Targets)
	if err != nil {
		return nil, err
	}
	if r, err = s.claimPending(ctx, r.ID); err != nil {
		return nil, err
	}
	isOut := !isInLiveChat(p.LiveChat)
	run := &pass{Service: s, r: r, sender: r.Sender.ID, asking: m, isOut: &isOut}
	if err := run.storeTickets(ctx, outlets); err != nil {
		run.releaseSender(ctx)
		return run, err
	}
	err = run.reconcile(ctx, wantOpen)
	return run, err
}

// addedOutlets checks new targets, and returns their outlets.
func (s *Service) addedOutlets(
	ctx context.Context, r *livechat.AssignmentRecord, m *member.Member, given []livechat.NewTarget,
) ([]outlet, error) {
	if err := requireUntaken(r); err != nil {
		return nil, err
	}
	targets := make([]livechat.Target, len(given))
	for i, target := range given {
		var err error
		if targets[i], err = asTarget(target); err == nil && targets[i].Channel == "" {
			targets[i].Channel, err = s.outletOf(ctx, r, targets[i].BroadcastGroups)
		}
		if err != nil {
			return nil, boterr.PrefixField(indexed(fieldTargets, i), err)
		}
	}
	outlets, err := s.targetedOutlets(ctx, targets, r.Inlet)
	if err != nil {
		return nil, inNewTargets(given, err)
	}
	for _, o := range outlets {
		if o.Type.Has(channel.DirectRequests) {
			return nil, boterr.New(boterr.FailedPrecondition, o.field,
				"the channel %s of type %s has no tickets: it can only get a request when the request is created", o.ID, o.Type)
		}
		if err := checkTicketing(o); err != nil {
			return nil, err
		}
	}
	planned := *r
	return outlets, s.planTickets(&planned, outlets, m)
}

// inNewTargets renames the field of an error about targets to the parameter of the new target at fault.
func inNewTargets(given []livechat.NewTarget, err error) error {
	for i, target := range given {
		field := indexed(fieldTargets, i)
		if isGroupTarget(target) { // A new target has no list of groups.
			err = record.RenameField(err, field+".broadcastGroups[0]", field)
		}
		for j := range target.Groups {
			err = record.RenameField(err, field+"."+indexed("broadcastGroups", j), field+"."+indexed("groups", j))
		}
	}
	return err
}

// requireUntaken returns an error for an assignment that is taken or has ended.
func requireUntaken(r *livechat.AssignmentRecord) error {
	switch {
	case r.State() == livechat.Ended:
		return boterr.New(boterr.FailedPrecondition, fieldAssignmentID, "the assignment %s has ended: %s", r.ID, endingText(r))
	case r.State() == livechat.Taken:
		return boterr.New(boterr.FailedPrecondition, fieldAssignmentID, "%s already has the assignment %s", r.Assignee, r.ID)
	case r.Direct != "":
		return boterr.New(boterr.FailedPrecondition, fieldAssignmentID,
			"the assignment %[2]s went to the channel %[1]s directly, without tickets", r.Direct, r.ID)
	default:
		return nil
	}
}

func isGroupTarget(t livechat.NewTarget) bool { return t.ID != "" || t.Type != "" }

// asTarget returns a new target as a target, which may lack the channel.
func asTarget(given livechat.NewTarget) (livechat.Target, error) {
	target := livechat.Target{Channel: given.Channel, BroadcastGroups: given.BroadcastGroups, Label: given.Label, Unknown: given.Unknown}
	hasGroups := len(given.Groups) > 0
	switch {
	case isGroupTarget(given) && (hasGroups || given.Channel != "" || given.Label != "" || len(given.BroadcastGroups) > 0):
		return livechat.Target{}, boterr.Invalid("", "is a target and a broadcast group at once: give either the channel, or id and type")
	case hasGroups && len(given.BroadcastGroups) > 0:
		return livechat.Target{}, boterr.Invalid("groups", "is another name for broadcastGroups: give only one of them")
	case hasGroups:
		target.BroadcastGroups = given.Groups
	case isGroupTarget(given):
		group := channel.BroadcastGroupMember{ID: given.ID, Type: given.Type, Unknown: given.Unknown}
		target = livechat.Target{BroadcastGroups: []channel.BroadcastGroupMember{group}}
	case given.Channel == "":
		return livechat.Target{}, boterr.Missing("channel", "the id of the outlet channel, or id and type of a broadcast group")
	}
	return target, nil
}

// outletOf returns the channel of a new target that only has groups: the only channel with tickets of the assignment, or
// the only one of them to whose broadcast groups they belong.
func (s *Service) outletOf(
	ctx context.Context, r *livechat.AssignmentRecord, groups []channel.BroadcastGroupMember,
) (string, error) {
	var asked, having []string
	for _, ticket := range r.Tickets {
		if !slices.Contains(asked, ticket.Channel) {
			asked = append(asked, ticket.Channel)
		}
	}
	if len(asked) == 1 {
		return asked[0], nil
	}
	for _, id := range asked {
		c, err := s.ports.Channels.Load(ctx, id)
		switch {
		case err == nil && hasGroups(c, groups):
			having = append(having, id)
		case err != nil && !errors.Is(err, boterr.NotFound):
			return "", err
		}
	}
	if len(having) != 1 {
		return "", boterr.Invalid("channel", "is missing: the request went to %s, and %d of them have these broadcast groups, so name one",
			strings.Join(asked, ", "), len(having))
	}
	return having[0], nil
}

func hasGroups(c *channel.Channel, groups []channel.BroadcastGroupMember) bool {
	return !slices.ContainsFunc(groups, func(g channel.BroadcastGroupMember) bool {
		return !channels.HasBroadcastGroup(c, g.ID)
	})
}

// claimPending makes the call the sender of an untaken assignment.
func (s *Service) claimPending(ctx context.Context, id string) (*livechat.AssignmentRecord, error) {
	var claimed *livechat.AssignmentRecord
	err := s.untilFree(ctx, func() (isFree bool, err error) {
		if claimed, err = s.claimSending(ctx, id, document.O()); err != nil || claimed != nil {
			return true, err
		}
		now, err := s.loadAssignment(ctx, id)
		if err != nil {
			return false, boterr.PrefixField(fieldAssignmentID, err)
		}
		return false, requireUntaken(now)
	})
	return claimed, err
}

// storeTickets stores tickets for the broadcast groups of outlets that have none yet.
func (p *pass) storeTickets(ctx context.Context, outlets []outlet) error {
	planned := *p.r
	if err := p.planTickets(&planned, outlets, p.asking); err != nil {
		return err
	}
	added := planned.Tickets[len(p.r.Tickets):]
	if len(added) == 0 {
		return nil
	}
	with, err := p.modify(ctx, p.r.ID, document.O(fieldEndedAt, isAbsent), document.Push(
		fieldTickets, document.O("$each", added), fieldTargets, document.O("$each", targetsOf(added, outlets))))
	switch {
	case err != nil:
		return err
	case with == nil:
		return withdrawn(p.r)
	}
	p.r = with
	return nil
}

func targetsOf(added []livechat.Ticket, outlets []outlet) []livechat.Target {
	var targets []livechat.Target
	for _, o := range outlets {
		target := livechat.Target{Channel: o.ID, Label: o.label, Unknown: o.unknown}
		for _, ticket := range added {
			isItsGroup := func(g channel.BroadcastGroupMember) bool { return g.ID == ticket.Group.ID }
			if ticket.Channel == o.ID && slices.ContainsFunc(o.groups, isItsGroup) {
				target.BroadcastGroups = append(target.BroadcastGroups, ticket.Group)
			}
		}
		if len(target.BroadcastGroups) > 0 {
			targets = append(targets, target)
		}
	}
	return targets
}
