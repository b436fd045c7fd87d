package botctxtest

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Capability is a feature that an implementation may lack.
type Capability string

// The capabilities. An implementation without a capability must return Unsupported when it is used.
const (
	// Channels, Members, DataSources, Agendas, Nodes, Sends, LiveChats and Utilities are all operations of one
	// domain each. Sends are the 15 operations of package send, and LiveChats the 34 of package livechat.
	Channels    Capability = "Channels"
	Members     Capability = "Members"
	DataSources Capability = "DataSources"
	Agendas     Capability = "Agendas"
	Nodes       Capability = "Nodes"
	Sends       Capability = "Sends"
	LiveChats   Capability = "LiveChats"
	Utilities   Capability = "Utilities"
	// GeoQueries is fetchGeoNearFromDataSource.
	GeoQueries Capability = "GeoQueries"
	// ArrayFilters is a path with "$[name]" in a patch.
	ArrayFilters Capability = "ArrayFilters"
	// PatchSort is options.sort of patchDataToDataSource.
	PatchSort Capability = "PatchSort"
	// Batches is sendDeltaResponse.
	Batches Capability = "Batches"
	// Broadcasts are alphaCreateBroadcast and alphaSendBroadcast.
	Broadcasts Capability = "Broadcasts"
	// Attachments is alphaGetAttachmentId.
	Attachments Capability = "Attachments"
	// Threads is alphaPassThreadControl.
	Threads Capability = "Threads"
	// Labels are alphaSaveCustomLabel and alphaRemoveCustomLabel. The platform must accept every number as a
	// label.
	Labels Capability = "Labels"
	// Comments is savePostCommentAnalytics.
	Comments Capability = "Comments"
	// Archives is charlieArchiveConversation.
	Archives Capability = "Archives"
	// MessageUpdates is updateMessage on Charlie.
	MessageUpdates Capability = "MessageUpdates"
	// Tags is EchoSaveMemberTag. The platform must accept every number from 100 as a tag.
	Tags Capability = "Tags"
	// Mails is sendEmail.
	Mails Capability = "Mails"
	// Uploads is uploadFileToObjectStore.
	Uploads Capability = "Uploads"
	// Histories is the parameter history of createAssignment.
	Histories Capability = "Histories"
	// OutletLookups is getAssignmentByOutlet.
	OutletLookups Capability = "OutletLookups"
)

// Parts of the harness that may be missing. No operation depends on them.
const (
	readSent    Capability = "Harness.Sent"
	tellIDs     Capability = "Harness.TellsIDs"
	moveClock   Capability = "Harness.Advance"
	handleNodes Capability = "Harness.Handle"
	// receiveEvents is needed by the rules about handling events.
	receiveEvents Capability = "Harness.Receive"
	// commonShape is missing if messages can be sent only on Charlie and Echo, whose results do not contain the
	// message event.
	commonShape  Capability = "a platform with message events"
	pairOutlets  Capability = "Harness.Pair"
	addAgents    Capability = "Harness.Agent"
	switchOff    Capability = "Harness.SwitchOff"
	readAsked    Capability = "Harness.Asked"
	readMade     Capability = "Harness.Made"
	serveFiles   Capability = "Harness.Serve"
	refuseSends  Capability = "Harness.Refuse"
	readComments Capability = "Harness.Comments"
	readMails    Capability = "Harness.Mails"
	readFiles    Capability = "Harness.Files and Harness.Serve"
	addAccounts  Capability = "Harness.AddAccount"
	failStore    Capability = "Harness.FailStore"
	// tickets is missing if messages cannot be sent on any platform in ticketing.
	tickets Capability = "a platform with tickets and groups"
	// recalledTickets is missing if messages cannot be sent on any platform in recalling, and noTickets if they
	// can be sent only on platforms in ticketing.
	recalledTickets Capability = "a platform with tickets that are recalled"
	noTickets       Capability = "a platform without tickets"
)

// notOperated returns the capabilities that no operation depends on.
func notOperated() []Capability {
	return []Capability{
		readSent, tellIDs, moveClock, handleNodes, receiveEvents, commonShape, pairOutlets, addAgents, switchOff, readAsked, readMade, serveFiles,
		tickets, recalledTickets, noTickets, refuseSends, readComments, readMails, readFiles, addAccounts, failStore,
	}
}

const platformPrefix = "On "

// On returns the capability to send through channels of a type.
func On(platform channel.Type) Capability { return Capability(platformPrefix + string(platform)) }

var uses = map[Capability]func(*trial) error{
	GeoQueries: func(t *trial) error {
		_, err := t.home.FetchGeoNearFromDataSource(t.Context(), datasource.FetchGeoNearParams{
			DataSourceID: source, Data: document.O("near", document.A(0, 0), "key", "at"),
		})
		return err
	},
	ArrayFilters: func(t *trial) error {
		_, err := t.home.FindAndModifyDataFromDataSource(t.Context(), datasource.FindAndModifyParams{
			DataSourceID: source, Filter: document.O(), Patch: document.Set("list.$[x]", 1),
			Option: datasource.FindAndModifyOption{ArrayFilters: []document.Object{document.O("x", 0)}},
		})
		return err
	},
	PatchSort: func(t *trial) error {
		_, err := t.home.PatchDataToDataSource(t.Context(), datasource.PatchParams{
			DataSourceID: source, Patch: document.O("n", 1), Options: datasource.PatchOptions{Sort: document.O("n", 1)},
		})
		return err
	},
	OutletLookups: func(t *trial) error {
		d := t.openDesk(t.home, t.ticketing())
		_, _ = t.home.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{}) // A supported look-up finds this.
		return errorOf(t.home.GetAssignmentByOutlet(t.Context(), livechat.GetAssignmentByOutletParams{ChannelID: d.ID}))
	},
	Histories: func(t *trial) error {
		t.openDesk(t.home, t.ticketing())
		return errorOf(t.home.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{History: true}))
	},
}

// unsupportedRule returns the rule for a capability in Harness.Lacks. It returns false for a missing part of the
// harness.
func unsupportedRule(lack Capability) (Rule, bool) {
	name := strings.ReplaceAll(string(lack), " ", "")
	var needs []Capability
	if lack == Histories || lack == OutletLookups {
		needs = liveChatNeeds()
	}
	return Rule{
		Name:  "LackOf" + name + "IsUnsupported",
		Text:  "an implementation returns Unsupported for capabilities that it lacks",
		Needs: needs,
		check: func(t *trial) {
			requireUnsupported(t, lack)
		},
	}, !slices.Contains(notOperated(), lack)
}

func requireUnsupported(t *trial, lack Capability) {
	t.Helper()
	if use, ok := uses[lack]; ok {
		t.requireCode(boterr.Unsupported, use(t))
		return
	}
	if platform, ok := strings.CutPrefix(string(lack), platformPrefix); ok {
		t.requireCode(boterr.Unsupported, sendOn(t, channel.Type(platform)))
	}
	lacking := slices.DeleteFunc(table(), func(o operation) bool { return !o.isFor(lack) })
	require.True(t, len(lacking) > 0 || strings.HasPrefix(string(lack), platformPrefix), "%q in Lacks is not a capability", lack)
	for _, o := range lacking {
		t.try(string(o.op), func(t *trial) {
			t.requireCode(boterr.Unsupported, o.try(t.Context(), o.bare(t)))
		})
	}
}

// sendOn sends a text through a new channel of a type.
func sendOn(t *trial, platform channel.Type) error {
	c := t.AddChannel(channel.Channel{App: t.home.scope.App, Type: platform})
	m := t.AddMember(member.Member{App: c.App, Channel: c.ID, ExternalID: unique("external")})
	_, err := t.home.SendResponse(t.Context(), send.SendResponseParams{
		ChannelID: c.ID, MemberID: document.One(m.ID), Response: send.Text("Hello"),
	})
	return err
}
