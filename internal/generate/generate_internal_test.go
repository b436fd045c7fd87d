package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the module's root, seen from this package.
const root = "../.."

func TestTheCommittedCodeIsCurrent(t *testing.T) {
	t.Parallel()
	methods, err := readMethods(root)
	require.NoError(t, err)
	require.NoError(t, checkAgainstTable(methods))
	code, err := render(methods)
	require.NoError(t, err)
	committed, err := os.ReadFile(filepath.Join(root, "botctx", "operations_gen.go"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(code, committed), "botctx/operations_gen.go is not what the generator writes; run: make generate")
}

// readDomain writes a package whose Operations interface has the given source, and
// reads its methods.
func readDomain(t *testing.T, source string) ([]method, error) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "operations.go"), []byte("package member\n"+source), 0o600))
	parsed, err := parsePackage(folder)
	require.NoError(t, err)
	return parsed.methods(domain{"member", "Operations", "Members"})
}

func TestAMethodOfAnotherFormIsRefused(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"type Operations interface { GetMemberByName(ctx context.Context, p X) (int, error) }":                                "GetMemberByName is no operation of the table",
		"type Operations interface { GetMember(ctx context.Context) error }":                                                  "GetMember: must have the form",
		"type Operations interface { GetMember(ctx context.Context, p Params) (int, error) }":                                 "must take GetMemberParams",
		"type Operations interface { GetMember(ctx context.Context, p GetMemberParams) (int, error) }":                        "GetMemberParams is no struct",
		"type Operations interface { GetMember(c C, p GetMemberParams) (int, error) }; type GetMemberParams struct { A int }": "has no json tag",
	} {
		_, err := readDomain(t, source)
		require.ErrorContains(t, err, want)
	}
}

func TestADisagreementWithTheTableIsReported(t *testing.T) {
	t.Parallel()
	const params = "type GetMemberParams struct { ID string `json:\"id\"` }\n"
	methods, err := readDomain(t, params+"type Operations interface { GetMember(c C, p GetMemberParams) (*Member, error) }")
	require.NoError(t, err)
	require.Equal(t, "*member.Member", methods[0].result)
	methods[0].domain.pkg = "channel"
	err = checkAgainstTable(methods)
	for _, want := range []string{
		"getMember: the table has it in package member, the code in channel",
		"getMember: the method has no comment",
		"getMember: member.GetMemberParams lacks the parameter memberId",
		"getMember: the table lacks the field id of member.GetMemberParams",
		"getMember: the comment lacks the error NotFound",
	} {
		require.ErrorContains(t, err, want)
	}
	methods[0].doc = "Conflict: somebody else was faster."
	require.ErrorContains(t, checkAgainstTable(methods), "getMember: the table lacks the error Conflict")
}

func TestAPackageWithoutOperationsHasNoMethods(t *testing.T) {
	t.Parallel()
	methods, err := readDomain(t, "type Other interface { GetMember() }")
	require.NoError(t, err)
	require.Empty(t, methods)
}
