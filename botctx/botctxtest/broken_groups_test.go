package botctxtest_test

import (
	"context"
	"sync"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
)

// Short for the tables of groups.
type (
	getGroup           = livechat.GetGroupParams
	groupByExternal    = livechat.GetGroupByExternalIDParams
	groupByItsExternal = livechat.GetGroupByGroupExternalIDParams
	groupByInlet       = livechat.GetGroupByInletGroupParams
	groupByMember      = livechat.GetGroupByMemberIDParams
	groupRecord        = livechat.Group
)

// brokenGroupings are the defects of operations on groups and agents, and of the sends of live
// chat.
var brokenGroupings = []map[string]breakage{
	brokenGroups, brokenGroupUpdates, brokenBravoGroups, brokenHotelChannels, brokenAdmins, brokenInletSends, brokenOutletSends, brokenSavedGroups,
}

// brokenGroups are the defects of operations that find groups.
var brokenGroups = map[string]breakage{
	"getGroup makes one up": {
		breaking: answers(func(_ *botctx.Call, p getGroup) *groupRecord { return &groupRecord{ID: p.GroupID, Active: true} }),
		breaks:   []string{"GetGroupReadsIt", "GetGroupFindsNoOthers", "GetGroupRefusesBadInput"},
		others:   true,
	},
	"getGroup leaves out who joined": {
		breaking: gives(func(_ getGroup, g **groupRecord) { (*g).Admin = "" }),
		breaks:   []string{"GetGroupReadsIt"},
		others:   true,
	},
	"getGroupByExternalId makes one up": {
		breaking: answers(func(_ *botctx.Call, p groupByExternal) *groupRecord {
			return &groupRecord{ID: "group", AdminExternalID: p.AdminExternalID, Active: true}
		}),
		breaks: []string{
			"GetGroupByExternalIdCombinesAgentAndGroup", "GetGroupByExternalIdLooksInItsChannel",
			"GetGroupByExternalIdReadsTheNewestLiveOne", "GetGroupByExternalIdFindsNoOthers",
			"GetGroupByExternalIdRefusesBadInput", "GetGroupByExternalIdAnswersAsDocumented",
		},
	},
	"getGroupByExternalId keeps what it found": {
		breaking: kept[groupByExternal, *groupRecord], breaks: []string{"GetGroupByExternalIdReadsTheNewestLiveOne"},
	},
	"getGroupByExternalId looks at the agent alone": {
		breaking: given(func(p *groupByExternal) {
			if p.AdminExternalID != "" {
				p.GroupID = ""
			}
		}),
		breaks: []string{"GetGroupByExternalIdCombinesAgentAndGroup"},
	},
	"getGroupByExternalId has no channel of its own": {
		breaking: given(func(p *groupByExternal) {
			if p.ChannelID == "" {
				p.ChannelID = "elsewhere"
			}
		}),
		breaks: []string{
			"GetGroupByExternalIdLooksInItsChannel", "GetGroupByExternalIdRefusesBadInput",
			"GetGroupByExternalIdAnswersAsDocumented", "GetGroupByExternalIdTakesTheContextsOwn",
		},
	},
	"getGroupByExternalId looks at no type": {
		breaking: given(func(p *groupByExternal) { p.Type = "" }),
		breaks:   []string{"GetGroupByExternalIdLooksInItsChannel"},
	},
	"getGroupByGroupExternalId makes one up": {
		breaking: answers(func(_ *botctx.Call, p groupByItsExternal) *groupRecord {
			return &groupRecord{ID: "group", ExternalID: p.GroupExternalID, Active: true}
		}),
		breaks: []string{
			"GetGroupByGroupExternalIdReadsTheNewestLiveOne", "GetGroupByGroupExternalIdFindsNoOthers",
			"GetGroupByGroupExternalIdRefusesBadInput", "GetGroupByGroupExternalIdAnswersAsDocumented",
		},
	},
	"getGroupByGroupExternalId keeps what it found": {
		breaking: kept[groupByItsExternal, *groupRecord], breaks: []string{"GetGroupByGroupExternalIdReadsTheNewestLiveOne"},
	},
	"getGroupByInletGroup makes one up": {
		breaking: answers(func(_ *botctx.Call, p groupByInlet) *groupRecord {
			return &groupRecord{ID: "group", Inlet: p.Inlet, InletGroupExternalID: p.InletGroupExternalID, Active: true}
		}),
		breaks: []string{
			"GetGroupByInletGroupReadsTheNewestLiveOne", "GetGroupByInletGroupFindsNoOthers",
			"GetGroupByInletGroupRefusesBadInput", "GetGroupByInletGroupLooksInItsInlet",
			"GetGroupByInletGroupAnswersAsDocumented",
		},
	},
	"getGroupByInletGroup looks in the context's channel": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p groupByInlet, _ botctx.Next) (any, error) {
			p.Inlet = bot.Scope().Channel
			return bot.GetGroupByInletGroup(ctx, p)
		}),
		breaks: []string{"GetGroupByInletGroupLooksInItsInlet", "GetGroupByInletGroupRefusesBadInput"},
	},
	"getGroupByInletGroup keeps what it found": {
		breaking: kept[groupByInlet, *groupRecord], breaks: []string{"GetGroupByInletGroupReadsTheNewestLiveOne"},
	},
	"getGroupByMemberId makes one up": {
		breaking: answers(func(_ *botctx.Call, p groupByMember) *groupRecord {
			return &groupRecord{ID: "group", Inlet: p.Inlet, Member: p.MemberID, Active: true}
		}),
		breaks: []string{
			"GetGroupByMemberIdReadsTheNewestLiveOne", "GetGroupByMemberIdFindsNoOthers",
			"GetGroupByMemberIdRefusesBadInput", "GetGroupByInletGroupLooksInItsInlet",
			"GetGroupByMemberIdAnswersAsDocumented",
		},
	},
	"getGroupByMemberId keeps what it found": {
		breaking: kept[groupByMember, *groupRecord], breaks: []string{"GetGroupByMemberIdReadsTheNewestLiveOne"},
	},
	"one app for all groups": {
		altering: oneApp,
		breaks: []string{
			"GetGroupFindsNoOthers", "GetGroupByExternalIdFindsNoOthers", "GetGroupByGroupExternalIdFindsNoOthers",
			"GetGroupByInletGroupFindsNoOthers", "GetGroupByMemberIdFindsNoOthers",
		},
		others: true,
	},
}

// kept keeps the first result of an operation for the same params in the same scope, whatever
// happens meanwhile.
func kept[P comparable, R any]() botctx.Interceptor {
	type key struct {
		scope  record.Scope
		params P
	}
	var mutex sync.Mutex
	first := map[key]R{}
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		params, ok := call.Params.(P)
		if !ok {
			return next(ctx)
		}
		mutex.Lock()
		defer mutex.Unlock()
		at := key{call.Context.Scope(), params}
		if known, ok := first[at]; ok {
			return known, nil
		}
		answer, err := next(ctx)
		if result, ok := answer.(R); ok && err == nil {
			first[at] = result
		}
		return answer, err
	}
}

// Short for the table below.
type (
	updateGroup     = livechat.UpdateGroupParams
	updateGroupMeta = livechat.UpdateGroupMetaParams
	groupUpdate     = livechat.UpdateGroupResult
	inactivateGroup = livechat.InactivateGroupParams
	recordUpdate    = livechat.RecordUpdate
)

// brokenGroupUpdates are the defects of operations that change groups.
var brokenGroupUpdates = map[string]breakage{
	"updateGroup does nothing": {
		breaking: answers(func(_ *botctx.Call, p updateGroup) groupUpdate {
			id := document.Get(p.Group, "_id", "")
			return groupUpdate{DocsIDs: livechat.DocsIDs{Updated: []string{id}}, Docs: []*groupRecord{{ID: id}}, Modified: 1}
		}),
		breaks: []string{
			"UpdateGroupSetsTheGivenFields", "UpdateGroupTellsWhatItDid", "GroupsTellWhenTheyChanged", "UpdateGroupFindsNoOthers",
			"UpdateGroupRefusesBadInput",
		},
		others: true,
	},
	"updateGroup begins meta anew": {
		breaking: given(func(p *updateGroup) {
			if _, ok := p.Group.Field("meta.m"); ok {
				p.Group = p.Group.With("meta", document.O("m", 2)).Without("meta.m")
			}
		}),
		breaks: []string{"UpdateGroupSetsTheGivenFields"},
	},
	"updateGroup drops unknown fields": {
		breaking: given(func(p *updateGroup) {
			if _, ok := p.Group.Field("list"); ok {
				p.Group = p.Group.Without("list")
			}
		}),
		breaks: []string{"UpdateGroupSetsTheGivenFields"},
	},
	"updateGroup always modified": {
		breaking: gives(func(_ updateGroup, r *groupUpdate) { r.Modified = 1 }),
		breaks:   []string{"UpdateGroupTellsWhatItDid"},
	},
	"updateGroup touches what it does not change": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p updateGroup, next botctx.Next) (any, error) {
			touched, err := next(ctx)
			if err == nil {
				id := document.Get(p.Group, "_id", "")
				_, err = bot.UpdateGroup(ctx, updateGroup{Group: document.O("_id", id, "touched", bot.Now().String())})
			}
			return touched, err
		}),
		breaks: []string{"UpdateGroupSetsTheGivenFields", "UpdateGroupTellsWhatItDid", "GroupsTellWhenTheyChanged"},
		others: true,
	},
	"groups are shared": {
		breaking: kept[getGroup, *groupRecord],
		breaks:   []string{"GroupsAreCopies", "UpdateGroupSetsTheGivenFields"},
		others:   true,
	},
	"updateGroupMeta does nothing": {
		breaking: answers(func(_ *botctx.Call, p updateGroupMeta) groupUpdate {
			return groupUpdate{
				DocsIDs: livechat.DocsIDs{Updated: []string{p.GroupID}}, Docs: []*groupRecord{{ID: p.GroupID, Meta: p.Meta}}, Modified: 1,
			}
		}),
		breaks: []string{
			"UpdateGroupMetaSetsTheGivenFields", "UpdateGroupMetaTellsWhatItDid", "UpdateGroupMetaFindsNoOthers",
			"UpdateGroupMetaRefusesBadInput", "UpdateGroupMetaLosesNoField",
		},
	},
	"updateGroupMeta begins meta anew": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p updateGroupMeta, next botctx.Next) (any, error) {
			if p.Meta.Len() == 0 || p.GroupID == "" {
				return next(ctx)
			}
			if _, err := bot.UpdateGroup(ctx, updateGroup{Group: document.O("_id", p.GroupID, "meta", document.O())}); err != nil {
				return nil, boterr.In("groupId", err)
			}
			return next(ctx)
		}),
		breaks: []string{"UpdateGroupMetaSetsTheGivenFields"},
		others: true,
	},
	"updateGroupMeta always modified": {
		breaking: gives(func(_ updateGroupMeta, r *groupUpdate) { r.Modified = 1 }),
		breaks:   []string{"UpdateGroupMetaTellsWhatItDid"},
	},
	"inactivateGroup does nothing": {
		breaking: answers(func(_ *botctx.Call, p inactivateGroup) recordUpdate { return recordUpdate{ID: p.GroupID, Version: 1} }),
		breaks: []string{
			"InactivateGroupPutsItOutOfUse", "InactivateGroupTellsOfTheRecord", "InactivateGroupFindsNoOthers",
			"InactivateGroupRefusesBadInput", "InactivateGroupAnswersAsDocumented",
		},
	},
	"inactivateGroup leaves it valid": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p inactivateGroup, next botctx.Next) (any, error) {
			result, err := next(ctx)
			if err == nil {
				_, err = bot.UpdateGroup(ctx, updateGroup{Group: document.O("_id", p.GroupID, "valid", true)})
			}
			return result, err
		}),
		breaks: []string{"InactivateGroupPutsItOutOfUse", "InactivateGroupTellsOfTheRecord"},
	},
	"inactivateGroup tells of another record": {
		breaking: gives(func(_ inactivateGroup, r *recordUpdate) { r.CreatedAt, r.ID = 1, "group" }),
		breaks:   []string{"InactivateGroupTellsOfTheRecord"},
	},
	"one app for all updates": {
		altering: oneApp,
		breaks:   []string{"UpdateGroupFindsNoOthers", "UpdateGroupMetaFindsNoOthers", "InactivateGroupFindsNoOthers"},
		others:   true,
	},
}

// Short for the table below.
type (
	getAdmin        = livechat.GetAdminParams
	adminByExternal = livechat.GetAdminByExternalIDParams
	adminRecord     = livechat.Admin
)

// brokenAdmins are the defects of operations that find agents.
var brokenAdmins = map[string]breakage{
	"getAdmin makes one up": {
		breaking: answers(func(call *botctx.Call, p getAdmin) *adminRecord {
			return &adminRecord{AppID: call.Context.Scope().App, AdminID: p.AdminID, ExternalID: "agent"}
		}),
		breaks: []string{"GetAdminReadsTheAgent", "GetAdminFindsNoOthers", "GetAdminRefusesBadInput"},
	},
	"getAdmin takes either id": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p getAdmin, next botctx.Next) (any, error) {
			found, err := next(ctx)
			if boterr.CodeOf(err) == boterr.NotFound {
				if other, otherErr := bot.GetAdminByExternalID(ctx, adminByExternal{ExternalID: p.AdminID}); otherErr == nil {
					return other, nil
				}
			}
			return found, err
		}),
		breaks: []string{"GetAdminFindsNoOthers"},
	},
	"getAdmin shares the record": {breaking: kept[getAdmin, *adminRecord], breaks: []string{"GetAdminReadsTheAgent"}},
	"getAdminByExternalId makes one up": {
		breaking: answers(func(call *botctx.Call, p adminByExternal) *adminRecord {
			return &adminRecord{AppID: call.Context.Scope().App, AdminID: "admin", ExternalID: p.ExternalID}
		}),
		breaks: []string{
			"GetAdminByExternalIdReadsTheAgent", "GetAdminByExternalIdFindsNoOthers", "GetAdminByExternalIdRefusesBadInput",
		},
	},
	"getAdminByExternalId takes either id": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p adminByExternal, next botctx.Next) (any, error) {
			found, err := next(ctx)
			if boterr.CodeOf(err) == boterr.NotFound {
				if other, otherErr := bot.GetAdmin(ctx, getAdmin{AdminID: p.ExternalID}); otherErr == nil {
					return other, nil
				}
			}
			return found, err
		}),
		breaks: []string{"GetAdminByExternalIdFindsNoOthers"},
	},
	"getAdminByExternalId shares the record": {
		breaking: kept[adminByExternal, *adminRecord], breaks: []string{"GetAdminByExternalIdReadsTheAgent"},
	},
}
