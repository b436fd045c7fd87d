package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/operations"
)

// root is the module's root relative to this package.
const root = "../.."

func TestGenerate_CommittedAreCurrent(t *testing.T) {
	t.Parallel()
	written, err := generate(root)
	require.NoError(t, err)
	require.Len(t, written, 5)
	for name, text := range written {
		committed, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		require.True(t, bytes.Equal(text, committed), "%s is not what the generator writes; run: make generate", name)
	}
}

// readDomain writes a package with the given source for its Operations interface, and reads the methods.
func readDomain(t *testing.T, source string) ([]method, error) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "operations.go"), []byte("package member\n"+source), 0o600))
	parsed, err := parsePackage(folder)
	require.NoError(t, err)
	return parsed.methods(domain{"member", "Operations", "Members"})
}

func TestGenerate_MethodOfAnotherForm(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"type Operations interface { GetMemberByName(ctx context.Context, p X) (int, error) }":                    "GetMemberByName is not an operation of the table",
		"type Operations interface { GetMember(ctx context.Context) error }":                                      "GetMember: must have the form",
		"type Operations interface { GetMember(ctx context.Context, p Params) (int, error) }":                     "must accept GetParams",
		"type Operations interface { GetMember(ctx context.Context, p GetParams) (int, error) }":                  "GetParams is not a struct",
		"type Operations interface { GetMember(c C, p GetParams) (int, error) }; type GetParams struct { A int }": "has no json tag",
	} {
		_, err := readDomain(t, source)
		require.ErrorContains(t, err, want)
	}
}

// problemsOf returns the problems of getMember in a domain with the given source.
func problemsOf(t *testing.T, source string) error {
	t.Helper()
	methods, err := readDomain(t, source)
	require.NoError(t, err)
	require.Len(t, methods, 1)
	_, problems := contractOf(methods[0])
	return errors.Join(problems...)
}

// getMember returns the source of an interface with only getMember and the given comment.
func getMember(comment string) string {
	return "type Operations interface {\n" + comment + "\nGetMember(c C, p GetParams) (*Member, error)\n}\n"
}

func TestGenerate_DisagreesWithTable(t *testing.T) {
	t.Parallel()
	const fine = "// GetMember reads.\n"
	for source, want := range map[string]string{
		getMember("") + params("// MemberID is it. Required.", "string"):                             "the comment must begin with GetMember",
		getMember(fine) + params("// MemberID is it.", "string"):                                     `memberId: the table has the need "required", the comment of MemberID says "optional"`,
		getMember(fine) + params("// MemberID is it. Required. The default is 5.", "string"):         `memberId: the table has the default "", the comment of MemberID says "5"`,
		getMember(fine) + params("// MemberID is it. Required.", "[]int"):                            "memberId: the table has the type string, the field MemberID is []int",
		getMember(fine) + params("// MemberID is it. Required.", "string", "document:\"listOfOne\""): "memberId: the table has the property listOfOne false, the field MemberID says true",
		getMember(fine) + params("", "string"):                                                       "memberId: the field MemberID has no comment, and none names it",
		getMember(fine) + "type GetParams struct { ID string `json:\"id\"` }":                        "id: the table lacks the field ID",
		getMember(fine) + "type GetParams struct {}":                                                 "memberId: there is no Go field, and the table gives no meaning",
		getMember(fine+"//\n// Errors:\n//   - Wrong: it is.") + params("", "string"):                `has the error "Wrong: it is.": it must be a code of boterr`,
		getMember(fine+"//\n// Errors:\n//   - NotFound: the app has none") + params("", "string"):   "must end with a period",
	} {
		require.ErrorContains(t, problemsOf(t, source), want)
	}
}

// params returns the source of getMember's params, with the comment and type of their field.
func params(comment, declared string, tags ...string) string {
	return "type GetParams struct {\n" + comment + "\nMemberID " + declared +
		" `json:\"memberId\" " + strings.Join(tags, " ") + "`\n}\n"
}

func TestGenerate_MeaningWrittenTwice(t *testing.T) {
	t.Parallel()
	r := newReading(nil, func(*goPackage, operations.Field, field) error { return nil })
	r.read([]operations.Field{{Name: "a", Meaning: "It is."}}, []field{{json: "a", name: "A", comment: "A is."}}, words{}, place{})
	require.ErrorContains(t, errors.Join(r.problems...), "a: the table has a meaning, and the field A a comment: remove the meaning")
}

func TestGenerate_OperationInNoInterface(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, checkOperations(nil), "getMember: no Operations interface has the method GetMember")
}

func TestComment_InTermsOfJSON(t *testing.T) {
	t.Parallel()
	methods, err := readDomain(t, getMember(`// GetMember reads the member of MemberID, whose _id it is; of at most Most. Others
// stay.
//
// It is nil if MemberID is "MemberID".
//
// Errors:
//   - NotFound: the app has
//     no MemberID. It is so.
//   - Conflict: another one wrote meta.seen.
//
// Specification: Members.`)+params(`// MemberID is the id, by which GetMember finds {{path}} and
// document.O("a", 1), [adminName], of list[3].name: "go" becomes {"payload": "go", "value": "<id>"}. Required.`, "string")+"const Most = 2_000")
	require.NoError(t, err)
	read, problems := contractOf(methods[0])
	require.Empty(t, problems)
	require.Equal(t, operations.Comment{
		Package: "member",
		Summary: "Reads the member of `memberId`, whose `_id` it is; of at most 2,000.",
		Description: []string{
			"Reads the member of `memberId`, whose `_id` it is; of at most 2,000. Others stay.",
			"It is null if `memberId` is \"MemberID\".",
		},
		Errors: []operations.Failure{
			{Code: boterr.NotFound, When: "The app has no `memberId`. It is so."},
			{Code: boterr.Conflict, When: "Another one wrote `meta.seen`."},
		},
		Parameters: map[string]string{"memberId": "`memberId` is the id, by which `getMember` finds `{{path}}` and `document.O(\"a\", 1)`, " +
			"`[adminName]`, of `list[3].name`: \"go\" becomes `{\"payload\": \"go\", \"value\": \"<id>\"}`."},
		Result: map[string]string{},
	}, read)
}

func TestGenerate_WithoutOperations(t *testing.T) {
	t.Parallel()
	methods, err := readDomain(t, "type Other interface { GetMember() }")
	require.NoError(t, err)
	require.Empty(t, methods)
}
