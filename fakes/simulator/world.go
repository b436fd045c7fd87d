package simulator

import (
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// world is everything that a page shows of a branch: the answer to GET "world".
type world struct {
	// Instance distinguishes simulators at the same address. Revision counts the changes.
	Instance string `json:"instance"`
	Revision int64  `json:"revision"`
	// Busy describes the action in progress, or "" for none.
	Busy string `json:"busy"`
	// Bot is the name of the bot.
	Bot string `json:"bot"`
	// Branch is the id of the shown branch. Branches are all branches.
	Branch   string        `json:"branch"`
	Branches []shownBranch `json:"branches"`
	// Now is the virtual time.
	Now time.Time `json:"now"`
	// Current is the number of the shown moment. Moments are all moments, because the user can also go to later
	// ones.
	Current int           `json:"at"`
	Moments []shownMoment `json:"moments"`
	// Members and Agents are the people. Channels are their channels.
	Members  []shownMember  `json:"members"`
	Agents   []shownAgent   `json:"agents"`
	Channels []shownChannel `json:"channels"`
	// Agendas are the agendas of all members that have not run yet. Assignments are the requests for a person.
	Agendas     []document.Object `json:"agendas"`
	Assignments []document.Object `json:"assignments"`
	// Data are the data sources.
	Data []shownData `json:"data"`
	// Outbox lists the sent messages, newest last. Mails, Files and Payments list the bot's other effects.
	Outbox      []entry           `json:"outbox"`
	Mails       []render.Entry    `json:"mails"`
	Files       []shownFile       `json:"files"`
	Payments    []utility.Payment `json:"payments"`
	DeadLetters []shownDeadLetter `json:"deadLetters"`
	Faults      shownFaults       `json:"faults"`
	Graph       botctx.Graph      `json:"graph"`
	Choices     []shownChoice     `json:"choices"`
	Transcript  string            `json:"transcript"`
	Problem     *page.Problem     `json:"problem,omitempty"`
	// Log is the log, the newest line last.
	Log []logLine `json:"log"`
	// Loads counts how often Simulator.Reload has returned new nodes. Stale is the error of the newest ones: the bot
	// still has the previous nodes.
	Loads int           `json:"loads"`
	Stale *page.Problem `json:"stale,omitempty"`
	// Operations are the names of all operations. Codes are the codes of errors. Platforms are the types of
	// channels. Services are the services that can be down.
	Operations []botctx.Op    `json:"operations"`
	Codes      []boterr.Code  `json:"codes"`
	Platforms  []channel.Type `json:"platforms"`
	Services   []string       `json:"services"`
	// Groups are the platforms on which members speak in groups. FileTypes are the types of files that people
	// send. Accounts are the names of the payment accounts.
	Groups    []channel.Type `json:"groups"`
	FileTypes []send.Type    `json:"fileTypes"`
	Accounts  []string       `json:"accounts"`
}

// shownBranch is one sequence of actions.
type shownBranch struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Moments is the number of moments.
	Moments int `json:"moments"`
}

// shownMoment is an action in the timeline.
type shownMoment struct {
	Number int       `json:"number"`
	At     time.Time `json:"at"`
	What   string    `json:"what"`
	// By is the id of the actor, or "" for none.
	By string `json:"by"`
	// IsKept is true if the user can go back to it.
	IsKept bool          `json:"isKept"`
	Error  *page.Problem `json:"error,omitempty"`
}

// shownMember is a member who talks with the bot.
type shownMember struct {
	ID string `json:"id"`
	// Member is the id of the member's record. Group is the group in which the member speaks, or "" if the member
	// is alone with the bot.
	Member  string `json:"member"`
	Group   string `json:"group,omitempty"`
	Name    string `json:"name"`
	Channel string `json:"channel"`
	// Platform is the type of the channel. ExternalID is the member's id there.
	Platform   channel.Type `json:"platform"`
	ExternalID string       `json:"externalId"`
	// Position is the current node of the conversation, or zero for none.
	Position botctx.NodeRef `json:"position"`
	// IsInLiveChat is true if an agent answers.
	IsInLiveChat bool `json:"isInLiveChat"`
	// Record is the stored member.
	Record document.Object `json:"record"`
	// Talk lists the messages, in order.
	Talk []entry `json:"talk"`
}

// shownAgent is an agent who answers for the bot.
type shownAgent struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Channel string `json:"channel"`
	// Platform is the type of the channel.
	Platform channel.Type `json:"platform"`
	Groups   []string     `json:"groups"`
	// Tickets are the tickets to the agent's groups, the newest last.
	Tickets []shownTicket `json:"tickets"`
	// Talk lists the messages of the agent's conversations, in order.
	Talk []entry `json:"talk"`
}

// shownTicket is a request for a person, as agents see it.
type shownTicket struct {
	Message string    `json:"message"`
	At      time.Time `json:"at"`
	Group   string    `json:"group"`
	Text    string    `json:"text"`
	// IsOpen is true if it can be taken.
	IsOpen bool `json:"isOpen"`
}

// shownChannel is a channel of members or agents.
type shownChannel struct {
	ID       string       `json:"id"`
	Platform channel.Type `json:"platform"`
	Name     string       `json:"name"`
	IsOn     bool         `json:"isOn"`
	// Outlets are the ids of the channels that receive its requests for a person.
	Outlets []string `json:"outlets"`
}

// shownData is a data source and its newest entries.
type shownData struct {
	Name string `json:"name"`
	// Count is the number of entries.
	Count   int               `json:"count"`
	Entries []document.Object `json:"entries"`
}

type shownFile struct {
	At   time.Time `json:"at"`
	Key  string    `json:"key"`
	Type string    `json:"type"`
	Size int       `json:"size"`
}

// shownDeadLetter is an event that the bot has given up on.
type shownDeadLetter struct {
	ID       string      `json:"id"`
	From     string      `json:"from"`
	At       time.Time   `json:"at"`
	Failures int         `json:"failures"`
	Code     boterr.Code `json:"code"`
	Error    string      `json:"error"`
}

type shownFaults struct {
	// Planned are the faults that are still to come. Out names what is out of service, refused or limited.
	Planned []string `json:"planned"`
	Out     []string `json:"out"`
	// IsDown is true if the process of the bot has crashed.
	IsDown bool `json:"isDown"`
}

// shownChoice is the chosen answer to an event, with the reasons.
type shownChoice struct {
	// Moment is the number of the event's moment. By is the id of the member or agent who wrote it, or "" if they
	// are not on the page.
	Moment int            `json:"moment"`
	By     string         `json:"by"`
	Answer botctx.Answer  `json:"answer"`
	Node   botctx.NodeRef `json:"node"`
	IsMute bool           `json:"isMute"`
	Logic  string         `json:"logic"`
	// Position is the member's position. Lost is the reason why the member counts as new, or "".
	Position botctx.NodeRef `json:"position"`
	Lost     string         `json:"lost"`
	Serving  string         `json:"serving"`
	// IsInLiveChat is true if the member was in a live chat.
	IsInLiveChat bool `json:"isInLiveChat"`
	// Candidates are the nodes that were asked, in order. No other node could answer.
	Candidates []shownCandidate `json:"candidates"`
	Others     []shownCandidate `json:"others"`
}

// shownCandidate is a node that might have answered.
type shownCandidate struct {
	Node botctx.NodeRef `json:"node"`
	Rule string         `json:"rule"`
	Why  string         `json:"why"`
}
