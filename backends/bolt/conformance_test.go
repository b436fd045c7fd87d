package bolt_test

import (
	"testing"
	"time"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
)

// The operations of a platform whose records are in a file obey the rules that those of
// one in memory obey.
func TestConformance(t *testing.T) {
	t.Parallel()
	botctxtest.RunConformance(t, func(t *testing.T) *botctxtest.Harness {
		t.Helper()
		p := fakes.New(fakes.For(t), fakes.Store(func(now func() time.Time) document.Store {
			return open(t, newPath(t), bolt.WithNow(now))
		}))
		return &botctxtest.Harness{
			Operations: func(scope record.Scope) botctx.Operations { return p.Operations(scope) },
			AddChannel: p.AddChannel,
			AddMember:  func(m member.Member) *member.Member { return p.AddMember(m).Member() },
			Advance:    p.Advance,
			Handle:     p.Handle,
			Sent: func() []botctxtest.Sent {
				var arrived []botctxtest.Sent
				for _, s := range p.Sent() {
					arrived = append(arrived, botctxtest.Sent{Channel: s.Channel, To: s.To, Response: s.Response})
				}
				return arrived
			},
		}
	})
}
