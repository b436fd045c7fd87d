package operations_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/operations"
)

// addedParameters are parameters missing from the specification's tables, with the reason for each.
func addedParameters() map[string]string {
	return map[string]string{
		"fetchDataFromDataSource.skip":    "to read a long table page by page",
		"fetchDataFromDataSource.limit":   "the same",
		"getGroupByExternalId.groupId":    "real calls give it in place of adminExternalId",
		"getAssignmentsByMemberId.sortBy": "real calls give it",
		"updateMessage.messageEvent":      "the usage line has it in place of messageTs; both are accepted",
	}
}

// addedDefaults are defaults missing from the specification, with the reason for each.
func addedDefaults() map[string]string {
	return map[string]string{
		"newAgenda.priority":          "an agenda without priority ranks as 0, as a node does",
		"patchDataToDataSource.multi": "without it the first match is changed",
	}
}

// optionalAlthoughUnmarked are parameters that the specification does not mark as optional. Each value is the reason
// why the parameter may be absent.
func optionalAlthoughUnmarked() map[string]string {
	const (
		allOptional = "an object in which nothing is required may be absent"
		unchanged   = "an absent field does not change"
		onePlatform = "only one platform uses it"
		derived     = "it comes from the previous assignment"
		called      = "real calls leave it out"
		member      = "it is the channel of the member"
	)
	return map[string]string{
		"patchDataToDataSource.options":        allOptional,
		"createAssignment.assignmentDetails":   allOptional,
		"inletEndLiveChat.options":             allOptional,
		"uploadFileToObjectStore.options":      allOptional,
		"patchMembers.memberId":                "without it all matches in the channel are patched",
		"newAgenda.treeId":                     "without it the member's tree is meant",
		"redirectMemberToNode.treeId":          called,
		"updateAgenda.meta":                    unchanged,
		"updateAgenda.nodeCompositeId":         unchanged,
		"updateAgenda.nextRunAt":               unchanged,
		"updateAgenda.pattern":                 unchanged,
		"updateAgenda.priority":                unchanged,
		"updateAgenda.runUntil":                unchanged,
		"updateAgenda.treeId":                  unchanged,
		"deleteMemberAgenda.tag":               "without it all open agendas of the member are meant",
		"createAssignment.createGroup":         onePlatform,
		"inletEndLiveChat.channel":             member,
		"sendResponse.messagingType":           onePlatform,
		"sendResponse.messagingTag":            onePlatform,
		"sendMessageToOutletGroup.responseUrl": onePlatform,
		"reassignAssignment.groupName":         derived,
		"reassignAssignment.meta":              derived,
		"reassignAssignment.relayMessage":      derived,
		"reassignAssignment.summary":           derived,
		"reassignAssignment.takenMessage":      derived,
		"sendHotelResponse.receiverType":       "it follows from the ids",
		"savePostCommentAnalytics.comment":     "a comment may have no text",
		"alphaPassThreadControl.targetAppId":   called,
		"alphaPassThreadControl.metadata":      called,
	}
}

// addedKeys are keys of results that the specification lacks.
func addedKeys() map[string][]string {
	return map[string][]string{
		// Scripts use the member after the call.
		"inletEndLiveChat": {"member"},
		// The specification shows these keys only for inletEndLiveChat.
		"endLiveChat": {"_id", "email", "createdAt", "apps", "acls", "_version", "member"},
		// The specification shows this key only for other operations that remove something.
		"disableBravoGroupInviteLink": {"clientMutationId"},
	}
}

// addedFields returns fields of records that the specification lacks.
func addedFields() map[string][]string {
	return map[string][]string{
		"member":     {"email", "locale", "customLocale", "group", "admin", "profilePic"},
		"group":      {"active", "updatedAt", "inletGroupExternalId"},
		"admin":      {"name"},
		"assignment": {"parentAssignment"},
	}
}

func TestSpecification_Operations(t *testing.T) {
	t.Parallel()
	var specified, updated, inTable []string
	spec := readSpecificationFile(t)
	for _, operation := range spec.operations {
		specified = append(specified, operation.name)
	}
	for _, operation := range operations.All() {
		inTable = append(inTable, operation.Name)
		if operation.Updated {
			updated = append(updated, operation.Name)
		}
	}
	require.Equal(t, specified, inTable)
	require.Equal(t, spec.updated, updated)
}

func TestSpecification_Parameters(t *testing.T) {
	t.Parallel()
	for _, specified := range readSpecificationFile(t).operations {
		operation, _ := operations.ByName(specified.name)
		var names []string
		for _, field := range operation.Parameters {
			if addedParameters()[specified.name+"."+field.Name] == "" {
				names = append(names, field.Name)
			}
		}
		require.Equal(t, namesOf(specified.parameters), names, specified.name)
		requireAgreement(t, specified.parameters, operation.Parameters, specified.name)
	}
}

func TestSpecification_Platforms(t *testing.T) {
	t.Parallel()
	for _, specified := range readSpecificationFile(t).operations {
		operation, _ := operations.ByName(specified.name)
		if len(specified.platforms) > 0 {
			require.Equal(t, specified.platforms, operation.Platforms, specified.name)
			continue
		}
		names := strings.ToLower(specified.name + strings.Join(namesOf(specified.parameters), " "))
		for _, platform := range operation.Platforms {
			require.Contains(t, names, platform)
		}
	}
}

func TestSpecification_Exceptions(t *testing.T) {
	t.Parallel()
	for _, exceptions := range []map[string]string{addedParameters(), addedDefaults(), optionalAlthoughUnmarked()} {
		for path := range exceptions {
			name, parameter, _ := strings.Cut(path, ".")
			operation, _ := operations.ByName(name)
			_, ok := operation.Parameter(parameter)
			require.True(t, ok, path)
		}
	}
}

func TestSpecification_FieldsOfParameters(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, specified := range readSpecificationFile(t).operations {
		operation, _ := operations.ByName(specified.name)
		for name, within := range specified.within {
			field, ok := operation.Parameter(name)
			fields := field.Fields
			if !ok {
				kind, known := operations.KindNamed(strings.ToLower(name))
				require.True(t, known, "%s describes %s", specified.name, name)
				fields = kind.Fields
			}
			var names []string
			for _, field := range fields {
				names = append(names, field.Name)
			}
			require.Equal(t, namesOf(within), names, "%s.%s", specified.name, name)
			for _, one := range within {
				inTable, _ := named(fields, one.name)
				require.Equal(t, one.defaultValue, strings.Trim(string(inTable.Default), `"`), one.name)
			}
			compared++
		}
	}
	require.Equal(t, 3, compared, "redirectOptions, assignmentDetails and Target")
}

func TestSpecification_ResultKeys(t *testing.T) {
	t.Parallel()
	spec := readSpecificationFile(t)
	for _, specified := range spec.operations {
		operation, _ := operations.ByName(specified.name)
		keys := append(slices.Clone(spec.keysOf(specified)), addedKeys()[specified.name]...)
		var inTable []string
		for _, response := range operation.Responses {
			for _, field := range response.Fields {
				inTable = append(inTable, field.Name)
			}
		}
		require.Equal(t, sortedSet(keys), sortedSet(inTable), specified.name)
	}
}

func TestSpecification_RecordFields(t *testing.T) {
	t.Parallel()
	spec := readSpecificationFile(t)
	for kindName, heading := range map[string]string{
		"member": "Member record", "agenda": "Agenda record", "assignment": "Assignment record",
		"group": "Group record", "admin": "Admin record", "channelReference": "Channel reference",
	} {
		kind, ok := operations.KindNamed(kindName)
		require.True(t, ok, kindName)
		var names []string
		for _, field := range kind.Fields {
			names = append(names, field.Name)
		}
		require.NotEmpty(t, spec.records[heading], heading)
		require.Equal(t, append(slices.Clone(spec.records[heading]), addedFields()[kindName]...), names, heading)
	}
}

// requireAgreement requires that the table and the specification agree on types, defaults and optional parameters.
func requireAgreement(t *testing.T, specified []specParameter, fields []operations.Field, operation string) {
	t.Helper()
	for _, parameter := range specified {
		field, _ := named(fields, parameter.name)
		path := operation + "." + parameter.name
		require.True(t, hasType(field.Type, parameter.declaredType), "%s is %s, not %s", path, parameter.declaredType, field.Type)
		added := addedDefaults()[path] != ""
		require.Equal(t, added, parameter.defaultValue == "" && field.Default != nil, "%s has a default that the specification does not have", path)
		if !added {
			require.Equal(t, parameter.defaultValue, strings.Trim(string(field.Default), `"`), "default of %s", path)
		}
		marked := parameter.optional || parameter.defaultValue != ""
		optional := field.Need == operations.Optional
		require.Equal(t, optionalAlthoughUnmarked()[path] != "", optional && !marked, "%s is optional although unmarked", path)
		require.True(t, optional || !marked, "%s is marked as optional", path)
	}
}

// hasType reports whether one of the alternatives is the type in the specification. An empty specified type matches
// every type.
func hasType(declared operations.Type, specified string) bool {
	return specified == "" || slices.ContainsFunc(declared.Alternatives(), func(alternative operations.Type) bool {
		_, isArray := alternative.Element()
		return string(alternative) == specified || isArray && specified == "array"
	})
}

// keysOf returns the keys of an operation's result, or of the operation whose result has the same keys.
func (s *specification) keysOf(operation *specOperation) []string {
	for _, other := range s.operations {
		if other.name == operation.like {
			return other.keys
		}
	}
	return operation.keys
}

func namesOf(parameters []specParameter) []string {
	var names []string
	for _, parameter := range parameters {
		names = append(names, parameter.name)
	}
	return names
}

func sortedSet(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// readSpecificationFile reads ../shared/spec/interface.md, relative to the root of the module. It skips the test if
// the file does not exist, because a clone of the repository lacks it.
func readSpecificationFile(t *testing.T) specification {
	t.Helper()
	path := filepath.Join(moduleRoot(t), "..", "shared", "spec", "interface.md")
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("the specification is not installed: there is no %s", path)
	}
	require.NoError(t, err)
	return readSpecification(string(text))
}

// moduleRoot returns the nearest parent folder with a go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs(".")
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		parent := filepath.Dir(folder)
		require.NotEqual(t, folder, parent, "no go.mod above this package")
		folder = parent
	}
}
