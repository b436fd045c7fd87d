package botctxtest_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/operations"
)

// shown names, for an operation, the broken implementations that show that the suite would
// notice them.
type shown struct {
	// nothing has no effect or finds nothing, constant gives a plausible constant. They are the
	// same where the right answer is always the same.
	nothing, constant string
	// defaults are for each default of the table of operations, by its path.
	defaults map[string]string
}

// showing are the operations, by their names in the table of operations.
var showing = allShown(showingRecords, showingLiveChats, showingDeliveries)

// showingRecords are the operations on channels, members, data sources, agendas, nodes and
// assignments, and sendResponse.
var showingRecords = map[string]shown{
	"getChannel": {nothing: "getChannel finds nothing", constant: "a constant app"},
	"getMember":  {nothing: "getMember finds nothing", constant: "getMember of the context's own"},
	"findAndModifyMember": {
		nothing: "findAndModifyMember changes nothing", constant: "findAndModifyMember finds somebody else",
		defaults: map[string]string{
			"withModifier":  "findAndModifyMember without modifiers by default",
			"option.new":    "findAndModifyMember returns the new member always",
			"option.upsert": "findAndModifyMember ignores upserts",
		},
	},
	"patchMembers": {
		nothing: "patchMembers changes nothing", constant: "patchMembers returns nobody",
		defaults: map[string]string{"withModifier": "patchMembers with modifiers always"},
	},
	"updateMember": {nothing: "updateMember changes nothing", constant: "updateMember counts 1 always"},
	"checkAndSaveMemberReferFrom": {
		nothing: "no referFrom is kept", constant: "checkAndSaveMemberReferFrom is constant",
	},
	"findAndModifyDataFromDataSource": {
		nothing: "findAndModifyData changes nothing", constant: "findAndModifyData is constant",
		defaults: map[string]string{
			"withModifier":  "findAndModifyData without modifiers by default",
			"option.new":    "findAndModifyData returns the new entry always",
			"option.upsert": "findAndModifyData upserts always",
		},
	},
	"upsertDataToDataSource": {nothing: "upsert changes nothing", constant: "upsert calls all inserted"},
	"patchDataToDataSource": {
		nothing: "patchData changes nothing", constant: "patchData counts matched as modified",
		defaults: map[string]string{
			"multi": "patchData changes all", "withModifier": "patchData with modifiers always",
			"options.upsert": "patchData upserts always",
		},
	},
	"countDataSource": {nothing: "count finds nothing", constant: "count is constant"},
	"fetchDataFromDataSource": {
		nothing: "fetch is empty", constant: "fetch returns the same list again",
		defaults: map[string]string{
			"count": "fetch counts always", "skip": "fetch leaves out one entry", "limit": "fetch has a limit of one",
		},
	},
	"fetchDistinctDataFromDataSource": {
		nothing: "distinct finds nothing", constant: "distinct is constant",
		defaults: map[string]string{"count": "distinct counts always"},
	},
	"fetchGeoNearFromDataSource": {
		nothing: "geoNear finds nothing", constant: "geoNear is constant",
		defaults: map[string]string{
			"data.spherical":          "geoNear is spherical by default",
			"data.distanceMultiplier": "geoNear measures in kilometres",
		},
	},
	"newAgenda": {
		nothing: "nothing is scheduled", constant: "agendas have one id",
		defaults: map[string]string{"priority": "newAgenda has priority 1", "replace": "newAgenda replaces always"},
	},
	"updateAgenda": {
		nothing: "updateAgenda changes nothing", constant: "updateAgenda finds nothing",
		defaults: map[string]string{"replace": "updateAgenda replaces always"},
	},
	"deleteMemberAgenda": {nothing: "nothing is deleted", constant: "deleteMemberAgenda gives one id"},
	"redirectMemberToNode": {
		nothing: "no node runs", constant: "redirectMemberToNode tells of one node",
		defaults: map[string]string{
			"redirectOptions.runPreAction":  "redirectMemberToNode runs no pre-actions by default",
			"redirectOptions.sendResponse":  "redirectMemberToNode sends no responses by default",
			"redirectOptions.runPostAction": "redirectMemberToNode runs no post-actions by default",
		},
	},
	"sendResponse": {nothing: "nothing is sent", constant: "no message ids"},
	"createAssignment": {
		nothing: "createAssignment does nothing", constant: "createAssignment gives one id",
		defaults: map[string]string{
			"label":             "createAssignment is for sales by default",
			"history":           "createAssignment adds the history always",
			"setLiveChatAgenda": "createAssignment watches no idle time by default",
		},
	},
	"addNewTargetsToAssignment": {
		nothing: "addNewTargetsToAssignment adds nothing", constant: "addNewTargetsToAssignment gives one id",
		defaults: map[string]string{"liveChat": "addNewTargetsToAssignment ends live chat by default"},
	},
	"reassignAssignment": {
		nothing: "reassignAssignment does nothing", constant: "reassignAssignment gives one id",
		defaults: map[string]string{
			"liveChat":   "reassignAssignment ends live chat by default",
			"inletGroup": "reassignAssignment is to an inlet group always",
		},
	},
	"getAssignment": {nothing: "getAssignment finds nothing", constant: "getAssignment finds one and the same"},
	"getAssignmentByOutlet": {
		nothing: "getAssignmentByOutlet finds nothing", constant: "getAssignmentByOutlet finds one and the same",
	},
	"getAssignmentByBravoGroupId": {
		nothing: "getAssignmentByBravoGroupId finds nothing", constant: "getAssignmentByBravoGroupId finds one and the same",
	},
	"getAssignmentsByMemberId": {
		nothing: "getAssignmentsByMemberId finds nothing", constant: "getAssignmentsByMemberId finds one and the same",
	},
	"getAssignmentsByMeta": {
		nothing: "getAssignmentsByMeta finds nothing", constant: "getAssignmentsByMeta finds one and the same",
	},
	"getAssignmentsByParentAssignmentId": {
		nothing:  "getAssignmentsByParentAssignmentId finds nothing",
		constant: "getAssignmentsByParentAssignmentId finds one and the same",
	},
	"updateAssignmentGroup": {nothing: "updateAssignmentGroup changes nothing", constant: "updateAssignmentGroup changes one always"},
	"updateAssignmentMeta":  {nothing: "updateAssignmentMeta changes nothing", constant: "updateAssignmentMeta changes one always"},
	"removePendingAssignmentByMemberId": {
		nothing:  "removePendingAssignmentByMemberId removes nothing",
		constant: "removePendingAssignmentByMemberId gives one id",
	},
	"endLiveChat": {nothing: "endLiveChat ends nothing", constant: "endLiveChat tells of one and the same"},
	"inletEndLiveChat": {
		nothing: "inletEndLiveChat ends nothing", constant: "inletEndLiveChat tells of one and the same",
		defaults: map[string]string{"options.recallRelayMessage": "inletEndLiveChat recalls always"},
	},
	"endBravoLiveChat": {nothing: "endBravoLiveChat ends nothing", constant: "endBravoLiveChat tells of one and the same"},
}

func TestEveryOperationAndDefaultIsBrokenBySomething(t *testing.T) {
	t.Parallel()
	missing := []string{}
	for _, op := range operations.All() {
		by, ok := showing[op.Name]
		defaults := defaultsOf("", op.Parameters)
		if !ok && len(defaults) == 0 {
			continue // It is enough that it is broken anyhow.
		}
		wanted := slices.Concat(defaults, []string{"nothing", "constant"})
		names := by.names()
		for _, what := range wanted {
			if names[what] == "" {
				missing = append(missing, op.Name+": "+what)
			}
		}
		for what := range names {
			require.Contains(t, wanted, what, "%s has no such default", op.Name)
		}
	}
	require.Empty(t, missing, "no broken implementation shows that the suite would notice")
}

// names returns the names of the broken implementations by what they show.
func (s shown) names() map[string]string {
	names := map[string]string{"nothing": s.nothing, "constant": s.constant}
	maps.Copy(names, s.defaults)
	return names
}

// defaultsOf returns the paths of the fields that have a default.
func defaultsOf(parent string, fields []operations.Field) []string {
	var paths []string
	for _, field := range fields {
		if field.Default != nil {
			paths = append(paths, parent+field.Name)
		}
		paths = append(paths, defaultsOf(parent+field.Name+".", field.Fields)...)
	}
	return paths
}

// allShown returns what is in one of the maps.
func allShown(parts ...map[string]shown) map[string]shown {
	all := map[string]shown{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

func TestWhatIsShownIsThere(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	for _, table := range tables {
		for name := range table.breakages {
			require.False(t, there[name], "%q comes twice", name)
			there[name] = true
		}
	}
	for op, by := range showing {
		for what, name := range by.names() {
			require.True(t, name == "" || there[name], "%s, %s: there is no %q", op, what, name)
		}
	}
}
