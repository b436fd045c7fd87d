package firstbot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func TestBot_Greets(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(Nodes()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("Hi")
	require.Equal(t, "Hello Ada!", ada.Last())

	ada.Says("bye")
	require.Equal(t, "I do not know bye. Say hi.", ada.Last())
}
