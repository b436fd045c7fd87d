package botctxtest

import (
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// ofAssignment returns input with the id of the assignment of the live chat.
func ofAssignment(p *place) document.Object { return document.O("assignmentId", p.assignmentID()) }

// ofEvent returns input with the agent's message in the group of the live chat.
func ofEvent(p *place) document.Object { return document.O("messageEvent", p.event()) }

var assignmentOperations = []operation{
	{
		op: botctx.OpCreateAssignment, call: calling(botctx.Operations.CreateAssignment), scene: anOpenDesk,
		refuses: badCreateAssignment, findsNot: strangeTargets,
		input: func(*place) document.Object { return document.O("meta", document.O("n", 1)) },
	}, {
		op: botctx.OpAddNewTargetsToAssignment, call: calling(botctx.Operations.AddNewTargetsToAssignment), scene: atInlet,
		names: []string{"assignmentId"}, refuses: badNewTargets, findsNot: strangeNewTargets,
		input: func(p *place) document.Object {
			return document.O("assignmentId", p.waitingID(), "targets", document.A(document.O("channel", p.desk().ID, "label", "sales")))
		},
	}, {
		op: botctx.OpReassignAssignment, call: calling(botctx.Operations.ReassignAssignment), scene: atDesk, isOnce: true,
		names: []string{"messageEvent.to"}, refuses: badReassignments, findsNot: strangeTargets,
		input: func(p *place) document.Object { return document.O("label", "sales", "messageEvent", p.event()) },
	}, {
		op: botctx.OpGetAssignment, call: calling(botctx.Operations.GetAssignment), scene: atInlet,
		names: []string{"assignmentId"}, input: ofAssignment,
	}, {
		op: botctx.OpGetAssignmentByOutlet, call: calling(botctx.Operations.GetAssignmentByOutlet), needs: []Capability{OutletLookups},
		scene: atInlet, names: []string{"channelId"}, findsNot: idleOutlets,
		input: func(p *place) document.Object { return document.O("channelId", p.desk().ID) },
	}, {
		op: botctx.OpGetAssignmentByBravoGroupID, call: calling(botctx.Operations.GetAssignmentByBravoGroupID), scene: atBravoDesk,
		names: []string{"bravoGroupId"},
		input: func(p *place) document.Object { return document.O("bravoGroupId", p.group().ExternalID) },
	}, {
		op: botctx.OpGetAssignmentsByMemberID, call: calling(botctx.Operations.GetAssignmentsByMemberID), scene: atInlet,
		input:   func(p *place) document.Object { return document.O("memberId", p.scope.Member) },
		refuses: func(*trial, *place) []change { return each("sortBy", badSorts) },
	}, {
		op: botctx.OpGetAssignmentsByMeta, call: calling(botctx.Operations.GetAssignmentsByMeta), scene: atInlet,
		input: func(*place) document.Object { return document.O("meta", document.O("text", "x")) }, refuses: noFilters,
	}, {
		op: botctx.OpGetAssignmentsByParentAssignmentID, call: calling(botctx.Operations.GetAssignmentsByParentAssignmentID),
		scene: handedOn, input: ofAssignment,
	}, {
		op: botctx.OpUpdateAssignmentGroup, call: calling(botctx.Operations.UpdateAssignmentGroup), scene: atInlet,
		names: []string{"assignmentId"},
		input: func(p *place) document.Object {
			return document.O("assignmentId", p.waitingID(), "group", document.O("_id", p.group().ID))
		},
	}, {
		op: botctx.OpUpdateAssignmentMeta, call: calling(botctx.Operations.UpdateAssignmentMeta), scene: atInlet,
		names: []string{"assignmentId"}, refuses: noSettings,
		input: func(p *place) document.Object { return ofAssignment(p).With("meta", document.O("called", true)) },
	}, {
		op: botctx.OpRemovePendingAssignmentByMemberID, call: calling(botctx.Operations.RemovePendingAssignmentByMemberID),
		scene: atInlet, input: func(p *place) document.Object { return document.O("memberId", p.scope.Member) },
	}, {
		op: botctx.OpEndLiveChat, call: calling(botctx.Operations.EndLiveChat), scene: atDesk, isOnce: true,
		names: []string{"messageEvent.to"}, findsNot: otherOutlets, input: ofEvent,
	}, {
		op: botctx.OpInletEndLiveChat, call: calling(botctx.Operations.InletEndLiveChat), scene: atInlet, isOnce: true,
		input: func(*place) document.Object { return document.O() },
		refuses: func(_ *trial, p *place) []change {
			return []change{{"another channel than the member's", document.O("channel", document.O("_id", p.desk().ID)), "channel"}}
		},
	}, {
		op: botctx.OpEndBravoLiveChat, call: calling(botctx.Operations.EndBravoLiveChat), scene: atBravoDesk, isOnce: true,
		names: []string{"bravoGroupId"},
		input: func(p *place) document.Object {
			return document.O("adminExternalId", p.desk().agent.ExternalID, "bravoGroupId", p.group().ExternalID)
		},
	},
}

var groupOperations = []operation{
	{
		op: botctx.OpGetGroup, call: calling(botctx.Operations.GetGroup), scene: atInlet, names: []string{"groupId"},
		input: func(p *place) document.Object { return document.O("groupId", p.group().ID) },
	}, {
		op: botctx.OpGetGroupByExternalID, call: calling(botctx.Operations.GetGroupByExternalID), scene: atDesk,
		names: []string{"adminExternalId"}, lookedFor: "adminExternalId",
		input: func(p *place) document.Object { return document.O("adminExternalId", p.desk().agent.ExternalID) },
	}, {
		op: botctx.OpGetGroupByGroupExternalID, call: calling(botctx.Operations.GetGroupByGroupExternalID), scene: atInlet,
		names: []string{"groupExternalId"},
		input: func(p *place) document.Object { return document.O("groupExternalId", p.group().ExternalID) },
	}, {
		op: botctx.OpGetGroupByInletGroup, call: calling(botctx.Operations.GetGroupByInletGroup), scene: inFamily,
		names: []string{"inletGroupExternalId"},
		input: func(p *place) document.Object {
			return document.O("inlet", p.scope.Channel, "inletGroupExternalId", p.scope.GroupExternalID)
		},
	}, {
		op: botctx.OpGetGroupByMemberID, call: calling(botctx.Operations.GetGroupByMemberID), scene: atInlet,
		names: []string{"memberId"},
		input: func(p *place) document.Object {
			return document.O("inlet", p.scope.Channel, "memberId", p.scope.Member)
		},
	}, {
		op: botctx.OpUpdateGroup, call: calling(botctx.Operations.UpdateGroup), scene: atInlet, names: []string{"group._id"},
		refuses: badUpdateGroup,
		input: func(p *place) document.Object {
			return document.O("group", document.O("_id", p.group().ID, "name", "Called", "meta.text", "x"))
		},
	}, {
		op: botctx.OpUpdateGroupMeta, call: calling(botctx.Operations.UpdateGroupMeta), scene: withMeta, names: []string{"groupId"},
		refuses: noSettings,
		input: func(p *place) document.Object {
			return document.O("groupId", p.group().ID, "meta", document.O("called", true))
		},
	}, {
		op: botctx.OpInactivateGroup, call: calling(botctx.Operations.InactivateGroup), scene: atInlet, names: []string{"groupId"},
		isOnce: true, input: func(p *place) document.Object { return document.O("groupId", p.group().ID) },
	}, {
		op: botctx.OpHandleAdminJoinedGroup, call: calling(botctx.Operations.HandleAdminJoinedGroup), scene: atBravoDesk,
		names: []string{"bravoGroupId"}, isOnce: true, findsNot: otherBravoGroups("bravoGroupId"),
		input: func(p *place) document.Object {
			return document.O("externalId", p.desk().agent.ExternalID, "bravoGroupId", p.prepared.bravoGroup)
		},
	}, {
		op: botctx.OpCreateBravoGroup, call: calling(botctx.Operations.CreateBravoGroup), scene: atBravoDesk,
		input: func(*place) document.Object { return document.O("name", "Orders") },
	}, {
		op: botctx.OpDisableBravoGroupInviteLink, call: calling(botctx.Operations.DisableBravoGroupInviteLink), scene: atBravoDesk,
		names: []string{"externalId"}, findsNot: otherBravoGroups("externalId"),
		input: func(p *place) document.Object { return document.O("externalId", p.prepared.bravoGroup) },
	}, {
		op: botctx.OpSetBravoGroupIcon, call: calling(botctx.Operations.SetBravoGroupIcon), scene: atBravoPictures,
		names: []string{"bravoGroupId"}, findsNot: otherBravoGroups("bravoGroupId"), refuses: badPictures,
		input: func(p *place) document.Object {
			return document.O("imageUrl", p.url, "bravoGroupId", p.prepared.bravoGroup)
		},
	}, {
		op: botctx.OpCreateHotelChannel, call: calling(botctx.Operations.CreateHotelChannel), scene: onHotel,
		needs: liveChatNeeds()[1:],
		input: func(*place) document.Object { return document.O("hotelGroupId", "floor", "displayName", "Lobby") },
	}, {
		op: botctx.OpGetAdmin, call: calling(botctx.Operations.GetAdmin), scene: atInlet, names: []string{"adminId"},
		input: func(p *place) document.Object { return document.O("adminId", p.desk().agent.AdminID) },
		findsNot: func(_ *trial, p *place) []change {
			return []change{{"by the id on the platform", document.O("adminId", p.desk().agent.ExternalID), "adminId"}}
		},
	}, {
		op: botctx.OpGetAdminByExternalID, call: calling(botctx.Operations.GetAdminByExternalID), scene: atInlet,
		names: []string{"externalId"},
		input: func(p *place) document.Object { return document.O("externalId", p.desk().agent.ExternalID) },
		findsNot: func(_ *trial, p *place) []change {
			return []change{{"by the agent's own id", document.O("externalId", p.desk().agent.AdminID), "externalId"}}
		},
	},
}

// relayOperations are the operations that relay a message from one side of a live chat to the other.
var relayOperations = []operation{
	{
		op: botctx.OpSendMessageToInlet, call: calling(botctx.Operations.SendMessageToInlet), scene: atDesk,
		names: []string{"messageEvent.to"}, findsNot: otherOutlets, refuses: badFilled,
		input: func(p *place) document.Object { return saying("messageEvent", p.event())(p) },
	}, {
		op: botctx.OpSendMessageToInletGroup, call: calling(botctx.Operations.SendMessageToInletGroup), scene: inFamily,
		names: []string{"groupId"}, refuses: badGroupSends,
		input: func(p *place) document.Object { return saying("groupId", p.group().ID)(p) },
	}, {
		op: botctx.OpSendMessageToOutletGroup, call: calling(botctx.Operations.SendMessageToOutletGroup), scene: atInlet,
		names: []string{"groupId"}, refuses: badGroupSends,
		input: func(p *place) document.Object { return saying("groupId", p.group().ID)(p) },
	}, {
		op: botctx.OpSaveGroupIDToMember, call: calling(botctx.Operations.SaveGroupIDToMember), scene: atDesk,
		names: []string{"messageEvent.to"}, findsNot: otherOutlets, input: ofEvent,
	},
}

// Invalid input for the operations on live chats, in addition to the input that package operations implies.

func badDetails(name string, details document.Object, path string) change {
	return change{name, document.O("assignmentDetails", details), "assignmentDetails." + path}
}

// targets returns input with a list of targets.
func targets(all ...any) document.Object { return document.O("targets", document.A(all...)) }

func badCreateAssignment(_ *trial, p *place) []change {
	d := p.desk()
	relay := func(text string) document.Object {
		return document.O("relayMessage", document.O(string(d.Type), document.O("type", "TEXT", "text", text)))
	}
	relayField := "relayMessage." + string(d.Type)
	group := document.O("id", d.support.ID, "type", d.support.Type)
	return []change{
		{"a target without channel", targets(document.O("channel", d.ID), document.O("label", "sales")), "targets[1].channel"},
		{"the inlet as a target", targets(document.O("channel", p.scope.Channel)), "targets[0].channel"},
		{
			"a broadcast group without id",
			targets(document.O("channel", d.ID, "broadcastGroups", document.A(group, group.Without("id")))), "targets[0].broadcastGroups[1]",
		},
		badDetails("a summary that is too long", document.O("summary", tooLong()), "summary"),
		badDetails("a ticket without text", relay(""), relayField),
		badDetails("a ticket that is too long", relay(tooLong()), relayField),
	}
}

// strangeTargets returns targets that do not exist in the app.
func strangeTargets(t *trial, _ *place) []change {
	var changes []change
	for name, id := range t.strangeChannels() {
		changes = append(changes, change{"a target " + name, targets(document.O("channel", id)), "targets[0].channel"})
	}
	return changes
}

func badNewTargets(t *trial, p *place) []change {
	d := p.desk()
	fine := document.O("channel", d.ID, "label", "sales")
	sales := document.O("id", d.sales.ID, "type", d.sales.Type)
	bad := func(name string, target document.Object, field string) change {
		return change{name, targets(fine, target), "targets[1]" + field}
	}
	second := t.addDesk(t.home, d.Type)
	t.Pair(p.channel, d.Channel, second.Channel)
	both := t.request(t.asking(p), livechat.CreateAssignmentParams{})
	return []change{
		{"no target", targets(), "targets"},
		bad("neither a target nor a group", document.O("label", "sales"), ""),
		bad("a target and a group at once", sales.With("channel", d.ID), ""),
		bad("groups by both names", document.O("channel", d.ID, "groups", document.A(sales), "broadcastGroups", document.A(sales)), ".groups"),
		bad("the inlet", document.O("channel", p.scope.Channel), ".channel"),
		bad("a group without id", document.O("channel", d.ID, "broadcastGroups", document.A(sales.Without("id"))), ".broadcastGroups[0].id"),
		{"a group of neither outlet", targets(sales.With("id", "other")).With("assignmentId", both.ID), "targets[0].channel"},
	}
}

func strangeNewTargets(t *trial, p *place) []change {
	var changes []change
	for name, id := range t.strangeChannels() {
		second := targets(document.O("channel", p.desk().ID, "label", "sales"), document.O("channel", id))
		changes = append(changes, change{"a channel " + name, second, "targets[1].channel"})
	}
	return changes
}

func badReassignments(_ *trial, p *place) []change {
	return []change{
		{"another assignment than that of the event", document.O("previousAssignment", document.O("_id", p.waitingID())), "previousAssignment"},
		{"a summary that is too long", document.O("summary", tooLong()), "summary"},
		{"a ticket that is too long", document.O("relayMessage", tooLong()), "relayMessage"},
		{"a target without channel", targets(document.O("label", "sales")), "targets[0].channel"},
		{"an operator in meta", document.O("meta", document.O("$inc", document.O("n", 1))), "meta"},
		{"a path with an empty part in meta", document.O("meta", document.O("a..b", 1)), "meta"},
		{"a path into a text in meta", document.O("meta", document.O("text.x", 1)), "meta"},
	}
}

// idleOutlets returns outlets without an open assignment.
func idleOutlets(t *trial, p *place) []change {
	return []change{{"none is open", document.O("channelId", t.addDesk(t.home, p.desk().Type).ID), "channelId"}}
}

// otherOutlets returns outlets that do not have the group of the live chat's event.
func otherOutlets(t *trial, p *place) []change {
	other := t.addDesk(t.home, p.desk().Type)
	return []change{
		{"an event of another channel", document.O("channel", other.Channel), "messageEvent"},
		{"an event of the inlet", document.O("channel", t.home.channel), "messageEvent"},
	}
}

// otherBravoGroups returns Bravo groups of another channel of the app.
func otherBravoGroups(parameter string) func(*trial, *place) []change {
	return func(t *trial, _ *place) []change {
		var changes []change
		for name, id := range t.strangeBravoGroups() {
			changes = append(changes, change{"a group " + name, document.O(parameter, id), parameter})
		}
		return changes
	}
}

// noFilters returns values of meta with operators. Operations must refuse them, because meta is data and not a filter.
func noFilters(*trial, *place) []change {
	return each("meta", []named{
		{"an operator", document.O("$or", document.A(document.O()))},
		{"an operator on a field", document.O("n", document.O("$gt", 0))},
		{"an operator deep inside", document.O("n", document.A(document.O("x", document.O("$ne", 1))))},
		{"an operator in a path", document.O("n.$gt", 0)},
	})
}

// noSettings returns values of meta that cannot be merged into {"text": "x"}.
func noSettings(*trial, *place) []change {
	return each("meta", []named{
		{"a modifier", document.O("$inc", document.O("n", 1))},
		{"a positional operator", document.O("list.$", 1)},
		{"an empty name", document.O("", 1)},
		{"a path with an empty part", document.O("a..b", 1)},
		{"a path into a text", document.O("text.inside", 1)},
		{"a path and a path in it", document.O("a", document.O(), "a.b", 1)},
		{"a good field and a bad one", document.O("n", 1, "text.inside", 1)},
	})
}

func badUpdateGroup(t *trial, p *place) []change {
	id := p.group().ID
	t.setGroup(t.home, id, "text", "x")
	changes := []change{
		{"no _id", document.O("group", document.O("name", "Order 7")), "group._id"},
		{"an _id that is a number", document.O("group", document.O("_id", 7, "name", "Order 7")), "group._id"},
	}
	for name, fields := range map[string]document.Object{
		"a name that is a number":    document.O("name", 7),
		"active that is a text":      document.O("active", "yes"),
		"meta that is a text":        document.O("meta", "x"),
		"meta that is null":          document.O("meta", nil),
		"another app":                document.O("app", t.away.scope.App),
		"another createdAt":          document.O("createdAt", 1),
		"a modifier":                 document.O("$inc", document.O("n", 1)),
		"a path into a text":         document.O("text.inside", 1),
		"a path and a path in it":    document.O("meta", document.O(), "meta.n", 1),
		"a path with an empty part":  document.O("a..b", 1),
		"a good field and a bad one": document.O("name", "Order 7", "active", 1),
	} {
		changes = append(changes, change{name, document.O("group", fields.With("_id", id)), "group"})
	}
	return changes
}

// badPictures returns addresses that serve no picture.
func badPictures(t *trial, _ *place) []change {
	var changes []change
	for name, url := range map[string]string{
		"no address":            "nonsense",
		"an address of a file":  "file:///etc/hostname",
		"an address with space": "https://   ",
		"a text":                t.Serve("text/html", "<html>").URL,
		"an empty picture":      t.Serve("image/gif", "").URL,
	} {
		changes = append(changes, change{name, document.O("imageUrl", url), "imageUrl"})
	}
	return changes
}

// badGroupSends returns calls with two different groups, with invalid addresses and with invalid responses.
func badGroupSends(t *trial, p *place) []change {
	second := t.chatting(t.asking(t.home), t.ticketing()).group()
	return append(badFilled(t, p), change{"two different groups", document.O("group", document.O("_id", second.ID)), "groupId"})
}
