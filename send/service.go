package send

import (
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
)

// Ports are what a Service sends with.
type Ports struct {
	// Channels are those of the scope's app. Required.
	Channels channels.Loader
	// Members are those of the scope's app. Required. {{path}} is filled from the member
	// that they give, which may be one as a run has changed it and not stored it yet.
	Members members.Getter
	// Connectors are the platforms that can be sent to. The map is not to be changed later.
	Connectors Connectors
	// ParallelSends is how many messages of one call, to several members, are on their way at
	// once. The default is 1: one after the other, in order.
	ParallelSends int
	// Thread returns the thread in which the scope's own member is answered. The default is none.
	Thread func() Thread
	// IsStrict refuses parameters that the platform does not know, instead of ignoring
	// them.
	IsStrict bool
}

// Service sends messages for one scope. It is safe for concurrent use.
type Service struct {
	env   record.Env
	scope record.Scope
	ports Ports
}

var _ Operations = (*Service)(nil)

// New returns the sends of a scope. The store of the environment holds the comments of
// SavePostCommentAnalytics; the other operations use its clock and its ids alone.
func New(env record.Env, scope record.Scope, ports Ports) *Service {
	return &Service{env: env.WithDefaults(), scope: scope, ports: ports}
}
