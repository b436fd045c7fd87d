package schematest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/schema"
)

func TestSchemas_AreValidAndStandForThemselves(t *testing.T) {
	t.Parallel()
	each, err := compile()
	require.NoError(t, err)
	require.Len(t, each, len(botctx.Ops()))
}

func TestSchemas_TheFileOfAll(t *testing.T) {
	t.Parallel()
	_, err := compileOne("all", schema.All())
	require.NoError(t, err)
}
