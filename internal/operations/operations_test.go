package operations_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/operations"
)

// platforms are the channel types that the specification names.
func platforms() []string {
	var names []string
	for _, known := range channel.Types() {
		names = append(names, string(known))
	}
	return names
}

func TestNames_UniqueAndFound(t *testing.T) {
	t.Parallel()
	names, methods := map[string]bool{}, map[string]bool{}
	for _, operation := range operations.All() {
		names[operation.Name], methods[operation.Method] = true, true
		found, ok := operations.ByName(operation.Name)
		require.True(t, ok)
		require.Equal(t, operation, found)
	}
	require.Len(t, names, len(operations.All()))
	require.Len(t, methods, len(operations.All()))
	_, ok := operations.ByName("getmember")
	require.False(t, ok, "names are case-sensitive")
}

func TestMethodName(t *testing.T) {
	t.Parallel()
	for _, operation := range operations.All() {
		require.Equal(t, operations.GoName(operation.Name), operation.Method)
	}
}

func TestTable_DescribesEachOperation(t *testing.T) {
	t.Parallel()
	for _, operation := range operations.All() {
		require.NotEmpty(t, operation.Package, operation.Name)
		requireSentence(t, operation.Summary, operation.Name)
		require.NotEmpty(t, operation.Responses, operation.Name)
		requireSubset(t, platforms(), operation.Platforms, operation.Name)
		requireErrors(t, operation.Errors, operation.Name)
		for _, response := range operation.Responses {
			requireResponse(t, operation, response)
		}
		requireFields(t, operation.Parameters, operation.Name)
	}
	requireErrors(t, operations.CommonErrors(), "common errors")
}

func TestTable_SaysWhenParameterIsNeeded(t *testing.T) {
	t.Parallel()
	for _, operation := range operations.All() {
		for path, field := range flatten(operation.Parameters, operation.Name) {
			require.Contains(t, []operations.Need{
				operations.Required, operations.Optional, operations.FromContext,
				operations.RequiredUnless, operations.RequiredWith,
			}, field.Need, path)
			refers := field.Need == operations.RequiredUnless || field.Need == operations.RequiredWith
			require.True(t, !refers || field.Other != "", "%s refers to another field", path)
			require.True(t, field.Default == nil || field.Need == operations.Optional,
				"%s has a default, so it is optional", path)
		}
	}
}

func TestTable_AlternativesNameEachOther(t *testing.T) {
	t.Parallel()
	for _, operation := range operations.All() {
		for path, siblings := range groups(operation.Parameters, operation.Name) {
			for _, field := range siblings {
				if field.Other == "" {
					continue
				}
				other, ok := named(siblings, field.Other)
				require.True(t, ok, "%s.%s refers to %s", path, field.Name, field.Other)
				if field.Need != operations.RequiredWith {
					require.Equal(t, field.Name, other.Other, "%s.%s and %s", path, field.Name, other.Name)
				}
			}
		}
	}
}

func TestParameter_ByName(t *testing.T) {
	t.Parallel()
	operation, _ := operations.ByName("savePostCommentAnalytics")
	field, ok := operation.Parameter("fbId")
	require.True(t, ok)
	require.Equal(t, "FbID", operations.GoName(field.Name))
	_, ok = operation.Parameter("FbID")
	require.False(t, ok)
}

func TestKinds_DeclaredOnceAndUsed(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	note := func(kind string) {
		if kind != "" {
			_, ok := operations.KindNamed(kind)
			require.True(t, ok, "kind %s is declared", kind)
			used[kind] = true
		}
	}
	for _, operation := range operations.All() {
		for _, field := range flatten(operation.Parameters, "") {
			note(field.Kind)
		}
		for _, response := range operation.Responses {
			note(response.Kind)
			for _, field := range flatten(response.Fields, "") {
				note(field.Kind)
			}
		}
	}
	var declared []string
	for _, kind := range operations.Kinds() {
		declared = append(declared, kind.Name)
		requireSentence(t, kind.Meaning, kind.Name)
		requireFields(t, kind.Fields, kind.Name)
		for _, field := range flatten(kind.Fields, "") {
			note(field.Kind)
		}
	}
	require.ElementsMatch(t, declared, slices.Collect(maps.Keys(used)))
}

func TestAll_ReturnsACopy(t *testing.T) {
	t.Parallel()
	all := operations.All()
	all[0].Name = "changed"
	require.NotEqual(t, "changed", operations.All()[0].Name)
}

// requireErrors requires known codes and a sentence for each error.
func requireErrors(t *testing.T, failures []operations.Failure, where string) {
	t.Helper()
	for _, failure := range failures {
		require.Contains(t, boterr.Codes(), failure.Code, where)
		requireSentence(t, failure.When, where)
	}
}

// requireResponse checks one shape of a result. Its keys must be in the response or in its kind, but not in both,
// and its platforms must be among the operation's.
func requireResponse(t *testing.T, operation operations.Operation, response operations.Response) {
	t.Helper()
	requireType(t, response.Type, operation.Name)
	requireSubset(t, platforms(), response.Platforms, operation.Name)
	if len(operation.Platforms) > 0 {
		requireSubset(t, operation.Platforms, response.Platforms, operation.Name)
	}
	kind, _ := operations.KindNamed(response.Kind)
	ofOtherShapes := operation.Name == "sendResponse" && response.When != ""
	if slices.Contains([]operations.Type{"object", "object[]"}, response.Type) && !ofOtherShapes {
		require.NotEqual(t, len(kind.Fields) > 0, len(response.Fields) > 0,
			"%s: the keys must be in the kind or in the response, and not in both", operation.Name)
	}
	requireFields(t, response.Fields, operation.Name)
}

// requireFields checks fields and nested fields: names must be unique, meanings must be sentences, types and
// platforms must exist, and a default must have the field's type.
func requireFields(t *testing.T, fields []operations.Field, where string) {
	t.Helper()
	for path, siblings := range groups(fields, where) {
		names := map[string]bool{}
		for _, field := range siblings {
			require.False(t, names[field.Name], "%s has %s twice", path, field.Name)
			names[field.Name] = true
		}
	}
	for path, field := range flatten(fields, where) {
		requireType(t, field.Type, path)
		requireSentence(t, field.Meaning, path)
		requireSubset(t, platforms(), field.Platforms, path)
		if field.Default != nil {
			require.True(t, field.Type.Accepts(decoded(t, string(field.Default))), "default of %s", path)
		}
	}
}

func requireType(t *testing.T, declared operations.Type, where string) {
	t.Helper()
	for _, alternative := range declared.Alternatives() {
		if element, isArray := alternative.Element(); isArray {
			alternative = element
		}
		require.Contains(t, []operations.Type{"any", "null", "boolean", "number", "string", "object"}, alternative, where)
	}
}

func requireSentence(t *testing.T, text, where string) {
	t.Helper()
	require.Regexp(t, "^[A-Z0-9`].*\\.$", text, where)
}

func requireSubset(t *testing.T, all, some []string, where string) {
	t.Helper()
	for _, one := range some {
		require.Contains(t, all, one, where)
	}
}

// flatten returns the fields and nested fields by their paths.
func flatten(fields []operations.Field, prefix string) map[string]operations.Field {
	flat := map[string]operations.Field{}
	for path, siblings := range groups(fields, prefix) {
		for _, field := range siblings {
			flat[path+"."+field.Name] = field
		}
	}
	return flat
}

// groups returns the fields of each object by the path of the object.
func groups(fields []operations.Field, prefix string) map[string][]operations.Field {
	grouped := map[string][]operations.Field{prefix: fields}
	for _, field := range fields {
		if len(field.Fields) > 0 {
			maps.Copy(grouped, groups(field.Fields, prefix+"."+field.Name))
		}
	}
	return grouped
}

func named(fields []operations.Field, name string) (operations.Field, bool) {
	i := slices.IndexFunc(fields, func(field operations.Field) bool { return field.Name == name })
	if i < 0 {
		return operations.Field{}, false
	}
	return fields[i], true
}

func TestType_AcceptsItsAlternatives(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		declared operations.Type
		accepted []string
		refused  []string
	}{
		{"string", []string{`""`, `"a"`}, []string{`1`, `null`, `["a"]`, `{}`}},
		{"number", []string{`0`, `1.5`}, []string{`"1"`, `true`}},
		{"boolean", []string{`true`, `false`}, []string{`0`, `null`}},
		{"object", []string{`{}`, `{"a": 1}`}, []string{`[]`, `[{}]`, `null`}},
		{"null", []string{`null`}, []string{`{}`, `false`}},
		{"any", []string{`null`, `1`, `"a"`, `[]`, `{}`}, nil},
		{"string[]", []string{`[]`, `["a", "b"]`}, []string{`"a"`, `["a", 1]`}},
		{"any[]", []string{`[]`, `[1, null, "a"]`}, []string{`1`, `{}`}},
		{"object | object[]", []string{`{}`, `[{}, {}]`}, []string{`"a"`, `[{}, 1]`, `null`}},
		{"object | null", []string{`{}`, `null`}, []string{`[]`}},
	} {
		for _, text := range c.accepted {
			require.True(t, c.declared.Accepts(decoded(t, text)), "%s accepts %s", c.declared, text)
		}
		for _, text := range c.refused {
			require.False(t, c.declared.Accepts(decoded(t, text)), "%s refuses %s", c.declared, text)
		}
	}
}

func TestType_NamesElementOfAnArray(t *testing.T) {
	t.Parallel()
	element, isArray := operations.Type("object[]").Element()
	require.True(t, isArray)
	require.Equal(t, operations.Type("object"), element)
	for _, noArray := range []operations.Type{"object", "object | object[]"} {
		_, isArray = noArray.Element()
		require.False(t, isArray, noArray)
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal([]byte(text), &value))
	return value
}

func TestGoName(t *testing.T) {
	t.Parallel()
	for jsonName, want := range map[string]string{
		"dataSourceId":                 "DataSourceID",
		"memberId":                     "MemberID",
		"fbId":                         "FbID",
		"collectionName":               "CollectionName",
		"url":                          "URL",
		"imageUrl":                     "ImageURL",
		"isRenewGroupInviteLink":       "IsRenewGroupInviteLink",
		"CcAddresses":                  "CcAddresses",
		"STATUS":                       "STATUS",
		"JSAPITicket":                  "JSAPITicket",
		"_id":                          "ID",
		"_docsIds":                     "DocsIDs",
		"attachment_id":                "AttachmentID",
		"messageTs":                    "MessageTS",
		"getAssignmentByBravoGroupId":  "GetAssignmentByBravoGroupID",
		"sendAlphaResponseToMemberIds": "SendAlphaResponseToMemberIDs",
		"setBravoGroupIcon":            "SetBravoGroupIcon",
		"inletEndLiveChat":             "InletEndLiveChat",
		"EchoSaveMemberTag":            "EchoSaveMemberTag",
		"identity":                     "Identity",
	} {
		require.Equal(t, want, operations.GoName(jsonName), jsonName)
	}
}
