package simulator_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/simulator"
)

func TestHandler_RefusesNil(t *testing.T) {
	t.Parallel()
	for field, s := range map[string]simulator.Simulator{
		"Out": {Out: (*bytes.Buffer)(nil)}, "Accounts[0]": {Accounts: []*fakes.Account{nil}},
		"Members[0]": {Members: []*fakes.Actor{nil}}, "Agents[0]": {Agents: []*fakes.Agent{nil}},
	} {
		_, err := s.Handler()
		require.ErrorIs(t, err, boterr.InvalidArgument, field)
		e, _ := boterr.AsError(err)
		require.Equal(t, field, e.Field)
	}
}
