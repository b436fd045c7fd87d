package livechats

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// Ports are what a Service works with.
type Ports struct {
	// Members are those of the scope's app. Required.
	Members Members
	// Channels are those of the scope's app. Required.
	Channels channels.Loader
	// Pairing returns the ids of the outlets that serve the live chats of an inlet, in the
	// order in which they are asked: none, where the inlet is not paired. Required.
	Pairing func(ctx context.Context, inlet string) ([]string, error)
	// Agendas are those of the scope's app. Required.
	Agendas Agendas
	// Connectors are the platforms that can be sent to. Where one offers ports of package livechat,
	// they are used. The map must not be changed later.
	Connectors send.Connectors
	// HTTP sends the requests to addresses that channels and bot logic give: a custom
	// channel's live-chat API, pictures, Charlie's responseUrl. nil makes what needs one
	// Unsupported.
	HTTP outbound.Doer
	// CustomAPI returns the URL of a custom channel's live-chat API, "" where it has none:
	// then requests go through the connector. The default is liveChatApi of the channel's
	// metadata.
	CustomAPI func(c *channel.Channel) (string, error)
	// HistoryURL returns where the history of the conversation can be read. nil makes
	// history: true Unsupported.
	HistoryURL func(a *livechat.Assignment) (string, error)
	// IdleTimeout is how long a conversation may be idle before it ends. The default is
	// livechat.IdleTimeout.
	IdleTimeout time.Duration
	// Texts are what live chats say by themselves. nil means livechat.DefaultTexts.
	Texts *livechat.Texts
	// Pause waits for a while, or until ctx ends: a call waits so for another one that sends
	// the same request. The default waits by the machine's clock.
	Pause func(ctx context.Context, d time.Duration)
	// IsStrict refuses parameters that the platform does not know, instead of ignoring
	// them.
	IsStrict bool
}

// Members are what live chats do with members.
type Members interface {
	members.Getter
	// PatchMembers is that of member.Operations.
	PatchMembers(ctx context.Context, p member.PatchMembersParams) (member.PatchMembersResult, error)
}

// Agendas are what live chats do with agendas.
type Agendas interface {
	// NewAgenda is that of agenda.Operations.
	NewAgenda(ctx context.Context, p agenda.NewAgendaParams) (*agenda.Agenda, error)
	// DeleteMemberAgenda is that of agenda.Operations.
	DeleteMemberAgenda(ctx context.Context, p agenda.DeleteMemberAgendaParams) (agenda.DeleteMemberAgendaResult, error)
}
