package console_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
)

func TestRun_RefusesNil(t *testing.T) {
	t.Parallel()
	for field, c := range map[string]console.Console{
		"In": {In: (*bytes.Buffer)(nil)}, "Out": {Out: (*bytes.Buffer)(nil)},
		"Members[0]": {Members: []*fakes.Actor{nil}}, "Agents[0]": {Agents: []*fakes.Agent{nil}},
	} {
		err := c.Run(t.Context())
		require.ErrorIs(t, err, boterr.InvalidArgument, field)
		e, _ := boterr.AsError(err)
		require.Equal(t, field, e.Field)
	}
}
