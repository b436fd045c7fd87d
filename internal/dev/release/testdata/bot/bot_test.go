package bot

import (
	"testing"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func TestEcho(t *testing.T) {
	p := fakes.New(fakes.For(t))
	p.HandleFunc(Echo)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	ada.Says("hi")
	if got := ada.Last(); got != "You said: hi" {
		t.Error(got)
	}
}
