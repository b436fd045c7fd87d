// Package livechats carries out the operations of live chat: it routes requests, sends tickets, opens
// conversations and relays messages between members and agents. botctx calls its Service for bot logic and
// for events: an agent took a ticket, one side wrote, or a conversation was idle.
//
// # The states of an assignment
//
// A call changes the state of an assignment in a single write.
//
//	request
//	   |                     give back
//	   v               +------------------+
//	sending            v                  |
//	 | | |   open            take         |
//	 | | +---------> pending --------> taken
//	 | |                |               ^ |
//	 | +----------------|---------------+ |
//	 |          open in a group           |
//	 |                  |                 |
//	 +------------------+-----------------+
//	                    |  end in the outlet, end in the inlet,
//	                    |  expire, hand on, withdraw, lose a side
//	                    v
//	                  ended
//
// A request that is being sent does not expire, and one that an agent has is not withdrawn.
//
// The call then reconciles: it carries out each step that is due for its aim in the new state, unless the
// record shows the step as done. After a crash, the next call does the same, and so continues where the
// crashed call stopped.
//
//	step                           due in           for
//	send the tickets               sending, pending open request
//	store the group of the API     sending          open request
//	end the previous assignment    sending          open request
//	open                           sending          open request
//	move the kept messages         pending, taken   open request
//	close the previous assignment  pending, taken   open request
//	let the group's agent take it  pending, taken   open request
//	set the member's flag          pending, taken   open request
//	send the kept messages         taken            open request
//	open the conversation          taken            conversation
//	watch idle time                taken            conversation
//	set the member's flag          taken            conversation
//	send the summary               taken            conversation
//	send the kept messages         taken            conversation
//	show the agent on the tickets  taken            conversation
//	clear the member's flag        ended            closed
//	clear the member's group       ended            closed
//	deactivate the groups          ended            closed
//	tell the other side            ended            closed
//	close the previous assignment  ended            closed
//	recall the tickets             ended            closed
//	show the end on the tickets    ended            closed
//	withdraw the next assignment   ended            closed
//	close                          ended            closed
package livechats

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// Service carries out the live chats of a scope's app. It is safe for concurrent use.
type Service struct {
	env   record.Env
	scope record.Scope
	ports Ports
	texts livechat.Texts
}

var _ livechat.Operations = (*Service)(nil)

func (s *Service) assignments() *record.Collection {
	return record.OfApp(s.env, assignmentSchema, s.scope.App)
}

func (s *Service) groups() *record.Collection { return record.OfApp(s.env, groupSchema, s.scope.App) }

func (s *Service) admins() *record.Collection { return record.OfApp(s.env, adminSchema, s.scope.App) }

// New returns the Service for a scope. Missing optional ports get their defaults.
func New(env record.Env, scope record.Scope, ports Ports) *Service {
	if ports.IdleTimeout <= 0 {
		ports.IdleTimeout = livechat.IdleTimeout
	}
	if ports.Pause == nil {
		ports.Pause = func(ctx context.Context, d time.Duration) { _ = timelimit.Wait(ctx, d) } // The caller looks at ctx.
	}
	if ports.Unreadable == nil {
		ports.Unreadable = func(context.Context, error) {}
	}
	if ports.CustomAPI == nil {
		ports.CustomAPI = func(c *channel.Channel) (string, error) { return document.Get(c.Metadata, fieldLiveChatAPI, ""), nil }
	}
	if ports.InFlight == nil {
		ports.InFlight = func(m *member.Member) *member.Member { return m }
	}
	texts := livechat.DefaultTexts()
	if ports.Texts != nil {
		texts = *ports.Texts
	}
	return &Service{env: env.WithDefaults(), scope: scope, ports: ports, texts: texts}
}

// EnsureIndexes creates the indexes that live chats need in a store, unless they exist. Call it once before
// the store is used. Unique indexes ensure that a member has at most one open assignment, and that agents of
// an app have different externalIds. The other indexes find open records and the newest ended ones, so that
// the cost of an event does not grow with past live chats, and list assignments in pages by id. Errors come
// from store.Collection.EnsureIndex.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	ofApp := func(paths ...string) store.Index {
		return store.Ascending(append([]string{record.FieldApp}, paths...)...)
	}
	unique := func(path string) store.Index {
		index := ofApp(path)
		index.Unique = true
		return index
	}
	ended := store.Ascending(fieldEndedAt)
	ended.Sparse = true
	const bravoGroup = fieldGroupInfo + "." + fieldBravoGroupID
	for _, wanted := range []struct {
		kind  *record.Schema
		index store.Index
	}{
		{assignmentSchema, unique(fieldSlot)},
		{assignmentSchema, ofApp(fieldMember, fieldClosedAt)},
		{assignmentSchema, ofApp(fieldGroup, fieldEndedAt)},
		{assignmentSchema, ofApp(fieldGroup, record.FieldCreatedAt)},
		{assignmentSchema, ofApp(fieldParentAssignment)},
		{assignmentSchema, ofApp(fieldEndedAt, fieldAssignedAt, fieldSentAt)},
		{assignmentSchema, ofApp(bravoGroup, fieldEndedAt)},
		{assignmentSchema, ofApp(bravoGroup, record.FieldCreatedAt)},
		{assignmentSchema, ended},
		{assignmentSchema, ofApp(record.FieldID)},
		{assignmentSchema, ofApp(fieldMember, record.FieldID)},
		{groupSchema, ofApp(fieldOutlet, fieldExternalID, fieldActive, record.FieldCreatedAt)},
		{groupSchema, ofApp(fieldExternalID, fieldActive, record.FieldCreatedAt)},
		{groupSchema, ofApp(fieldOutlet, fieldAdminExternalID, fieldActive, record.FieldCreatedAt)},
		{groupSchema, ofApp(fieldInletGroupExternalID, fieldActive, record.FieldCreatedAt)},
		{groupSchema, ofApp(fieldMember, fieldActive, record.FieldCreatedAt)},
		{groupSchema, ofApp(fieldAssignment, fieldOutlet)},
		{groupSchema, store.Ascending(fieldActive, record.FieldUpdatedAt)},
		{adminSchema, unique(fieldExternalID)},
	} {
		if err := database.Collection(wanted.kind.Collection).EnsureIndex(ctx, wanted.index); err != nil {
			return err
		}
	}
	return nil
}

// EnsureIndex creates an index of assignments by app and path, unless it exists. Errors come from
// store.Collection.EnsureIndex.
func EnsureIndex(ctx context.Context, database store.Store, path string) error {
	return database.Collection(assignmentSchema.Collection).EnsureIndex(ctx, store.Ascending(record.FieldApp, path))
}

// Ports are the dependencies and settings of a Service.
type Ports struct {
	// Members serves the members of the scope's app. Required.
	Members Members
	// InFlight returns a member with the changes of the current run that are not stored yet. {{path}} is filled from the
	// result. The default returns the member.
	InFlight func(m *member.Member) *member.Member
	// Channels serves the channels of the scope's app. Required.
	Channels channels.Loader
	// Pairing returns the ids of the outlets that are paired with an inlet, in order of preference. It
	// returns none if the inlet is not paired. Required.
	Pairing func(ctx context.Context, inlet string) ([]string, error)
	// Agendas serves the agendas of the scope's app. Required.
	Agendas Agendas
	// Connectors send to the platforms. A connector may also implement ports of package livechat. The map
	// must not be changed later.
	Connectors send.Connectors
	// HTTP sends requests to addresses from channels and bot logic: a custom channel's live-chat API, pictures,
	// Charlie's responseUrl. If it is nil, operations that need it return Unsupported.
	HTTP outbound.Doer
	// CustomAPI returns the URL of a custom channel's live-chat API. If it is "", requests go through the connector.
	// The default is liveChatApi in the channel's metadata.
	CustomAPI func(c *channel.Channel) (string, error)
	// HistoryURL returns the address of a conversation's history. If it is nil, history: true is Unsupported.
	HistoryURL func(a *livechat.Assignment) (string, error)
	// IdleTimeout is the time without a message after which a conversation ends. The default is livechat.IdleTimeout.
	IdleTimeout time.Duration
	// Texts are the messages that live chats send without bot logic. The default is livechat.DefaultTexts.
	Texts *livechat.Texts
	// Pause waits for d or until ctx ends. Calls use it to wait for another call that sends the same request. The
	// default uses the machine's clock.
	Pause func(ctx context.Context, d time.Duration)
	// Unreadable gets the error of a stored assignment that a search leaves out. The default ignores it.
	Unreadable func(ctx context.Context, err error)
	// IsStrict makes a parameter that the platform does not support an error. By default it is ignored.
	IsStrict bool
}

// Members are the operations on members that live chats use.
type Members interface {
	members.Getter
	// PatchMembers works like PatchMembers of member.Operations.
	PatchMembers(ctx context.Context, p member.PatchParams) (member.PatchResult, error)
}

// Agendas are the operations on agendas that live chats use.
type Agendas interface {
	// NewAgenda works like NewAgenda of agenda.Operations.
	NewAgenda(ctx context.Context, p agenda.NewParams) (*agenda.Agenda, error)
	// DeleteMemberAgenda works like DeleteMemberAgenda of agenda.Operations.
	DeleteMemberAgenda(ctx context.Context, p agenda.DeleteParams) (agenda.DeleteResult, error)
}

// messageTo returns a validated message to an external id in a channel. {{path}} in it is filled from about;
// a nil about has no values.
func (s *Service) messageTo(
	to *channel.Channel, externalID string, about *member.Member, response send.Response,
) (send.Message, error) {
	if about == nil {
		about = &member.Member{}
	}
	if _, err := s.ports.Connectors.Of(to); err != nil {
		return send.Message{}, err
	}
	if response.IsTemplate() {
		about = s.ports.InFlight(about)
	}
	filled, err := send.Filled(response, about)
	if err != nil {
		return send.Message{}, boterr.PrefixField(fieldResponse, err)
	}
	return send.Message{Channel: to, To: externalID, Response: filled}, nil
}

// deliver sends a message through the connector of its channel.
func (s *Service) deliver(ctx context.Context, message send.Message) (send.Result, error) {
	connector, err := s.ports.Connectors.Of(message.Channel)
	if err != nil {
		return send.Result{}, err
	}
	return sends.Deliver(ctx, s.env, connector, message)
}

// Parameters of sends, for errors.
const (
	fieldResponse     = "response"
	fieldMessageEvent = "messageEvent"
)

// once carries out an operation that has several steps and cannot be repeated. If an earlier attempt of the
// same run completed it, once returns the earlier result. Sends within the steps have keys below the key of
// once, so later sends of the run have the same keys in each attempt.
func once[T any](ctx context.Context, s *Service, of string, carryOut func(ctx context.Context) (T, error)) (T, error) {
	trying, err := s.env.Attempt(ctx)
	if err != nil || trying == nil { // Without attempts, there is no id to make.
		var none T
		if err == nil {
			return carryOut(ctx)
		}
		return none, err
	}
	type done struct{ Result T }
	came, err := sends.Once(ctx, s.env, of, func(ctx context.Context) (done, error) {
		result, err := carryOut(ctx)
		return done{Result: result}, err
	})
	return came.Result, err
}

// assignmentOnce is once for operations on an assignment, including its creation. It returns the current assignment.
func (s *Service) assignmentOnce(ctx context.Context, of string, carryOut func(ctx context.Context) (*pass, error)) (*pass, error) {
	var run *pass
	id, err := once(ctx, s, of, func(ctx context.Context) (string, error) {
		var err error
		if run, err = carryOut(ctx); err != nil {
			return "", err
		}
		return run.r.ID, nil
	})
	if err != nil || run != nil {
		return run, err
	}
	r, err := s.loadAssignment(ctx, id)
	return &pass{Service: s, r: r}, err
}

// Names of parameters that identify records.
const (
	fieldChannel            = "channel"
	fieldChannelID          = "channelId"
	fieldGroupID            = "groupId"
	fieldAssignmentID       = "assignmentId"
	fieldPreviousAssignment = "previousAssignment"
)

// assignmentByID is the reference of a call that requires assignmentId.
func assignmentByID(id string) record.Ref {
	return record.Ref{Kind: assignmentSchema.Name, IDParameter: fieldAssignmentID, ID: id}
}

// previousAssignment returns the reference of a call that requires previousAssignment.
func previousAssignment(given *livechat.Assignment) record.Ref {
	named := record.Ref{Kind: assignmentSchema.Name, RecordParameter: fieldPreviousAssignment}
	if given != nil {
		named.Record = &given.ID
	}
	return named
}

// namedAssignment returns the stored assignment for a reference.
func (s *Service) namedAssignment(ctx context.Context, named record.Ref) (*livechat.AssignmentRecord, error) {
	return record.Load(named, func(id string) (*livechat.AssignmentRecord, error) { return s.loadAssignment(ctx, id) })
}

// groupByID returns the reference of a call that requires groupId.
func groupByID(id string) record.Ref {
	return record.Ref{Kind: groupSchema.Name, IDParameter: fieldGroupID, ID: id}
}

// groupByRecord returns the reference of a call that requires the group's record in group.
func groupByRecord(given *livechat.Group) record.Ref {
	named := record.Ref{Kind: groupSchema.Name, RecordParameter: fieldGroup}
	if given != nil {
		named.Record = &given.ID
	}
	return named
}

// groupByRecordOrID returns the reference of a call that requires the group's record in group, or its id in groupId.
func groupByRecordOrID(given *livechat.Group, id string) record.Ref {
	named := groupByRecord(given)
	named.IDParameter, named.ID = fieldGroupID, id
	return named
}

// namedGroup returns the stored group for a reference.
func (s *Service) namedGroup(ctx context.Context, named record.Ref) (*livechat.Group, error) {
	return record.Load(named, func(id string) (*livechat.Group, error) { return s.loadGroup(ctx, id) })
}
