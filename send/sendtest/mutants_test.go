package sendtest_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatplatform"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

// mutant is a connector with a defect, and the rules that it breaks.
type mutant struct {
	connector func(whole *chatplatform.Connector) send.Connector
	breaks    []string
	// in is the type of its channels, or "" for webchat.
	in channel.Type
}

// sending is a connector with a different Send method and the ports of the correct one.
type sending struct {
	*chatplatform.Connector

	send func(ctx context.Context, m send.Message) (send.Delivery, error)
}

func (s sending) Send(ctx context.Context, m send.Message) (send.Delivery, error) {
	return s.send(ctx, m)
}

// before returns a connector that alters each message before it sends it.
func before(change func(m *send.Message)) func(*chatplatform.Connector) send.Connector {
	return func(whole *chatplatform.Connector) send.Connector {
		return sending{whole, func(ctx context.Context, m send.Message) (send.Delivery, error) {
			if m.Channel != nil {
				change(&m)
			}
			return whole.Send(ctx, m)
		}}
	}
}

// after returns a connector that alters the result of each message.
func after(change func(m send.Message, d send.Delivery, err error) (send.Delivery, error)) func(*chatplatform.Connector) send.Connector {
	return func(whole *chatplatform.Connector) send.Connector {
		return sending{whole, func(ctx context.Context, m send.Message) (send.Delivery, error) {
			d, err := whole.Send(ctx, m)
			return change(m, d, err)
		}}
	}
}

func delivery(change func(d *send.Delivery)) func(*chatplatform.Connector) send.Connector {
	return after(func(_ send.Message, d send.Delivery, err error) (send.Delivery, error) {
		change(&d)
		return d, err
	})
}

func failing(change func(err error) error) func(*chatplatform.Connector) send.Connector {
	return after(func(_ send.Message, d send.Delivery, err error) (send.Delivery, error) {
		if err != nil {
			err = change(err)
		}
		return d, err
	})
}

func instead(answer func(m send.Message) (isAnswered bool, err error)) func(*chatplatform.Connector) send.Connector {
	return func(whole *chatplatform.Connector) send.Connector {
		return sending{whole, func(ctx context.Context, m send.Message) (send.Delivery, error) {
			if isAnswered, err := answer(m); isAnswered {
				return send.Delivery{}, err
			}
			return whole.Send(ctx, m)
		}}
	}
}

// transport returns a connector whose requests are altered.
func transport(change func(r *http.Request, next http.RoundTripper) (*http.Response, error)) func(*chatplatform.Connector) send.Connector {
	return func(whole *chatplatform.Connector) send.Connector {
		next := whole.HTTP.Transport
		return &chatplatform.Connector{URL: whole.URL, HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return change(r, next)
		})}}
	}
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func withText(m *send.Message, change func(string) string) {
	if text := m.Response.Text(); text != "" {
		m.Response = m.Response.With("text", change(text))
	}
}

// mutants are the connectors with defects, by name.
var mutants = merged(messageMutants, deliveryMutants, faultMutants, portMutants, receptionMutants)

func merged(tables ...map[string]mutant) map[string]mutant {
	all := map[string]mutant{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// deaf is a connector whose handler mishandles events of unknown kinds.
type deaf struct {
	*chatplatform.Connector

	does sendtest.Reception
}

func (d deaf) odd() sendtest.Reception { return d.does }

// receiving returns a mutant whose handler has the given reception for an event of an unknown kind.
func receiving(does sendtest.Reception) mutant {
	return mutant{
		connector: func(whole *chatplatform.Connector) send.Connector { return deaf{whole, does} },
		breaks:    []string{"OddEventLeavesATrace"},
	}
}

var receptionMutants = map[string]mutant{
	"a silent 200":               receiving(sendtest.Reception{Status: http.StatusOK}),
	"an empty text":              receiving(sendtest.Reception{Accepted: []send.MessageEvent{{Type: send.TypeText, From: "ada"}}}),
	"an event without a sender":  receiving(sendtest.Reception{Accepted: []send.MessageEvent{{Type: send.TypeMisc}}}),
	"an event without a type":    receiving(sendtest.Reception{Accepted: []send.MessageEvent{{From: "ada"}}}),
	"a drop that is not counted": receiving(sendtest.Reception{Status: http.StatusAccepted}),
}

var messageMutants = map[string]mutant{
	"escaped text": {connector: before(func(m *send.Message) { withText(m, html.EscapeString) }), breaks: []string{"TextArrivesToTheLetter"}},
	"trimmed text": {connector: before(func(m *send.Message) { withText(m, func(s string) string { return strings.ReplaceAll(s, "\n", " ") }) }), breaks: []string{"TextArrivesToTheLetter"}},
	"filled twice": {connector: before(func(m *send.Message) {
		withText(m, func(s string) string { return strings.ReplaceAll(s, "{{firstName}}", "") })
	}), breaks: []string{"TextArrivesToTheLetter"}},
	"literal marked": {connector: before(func(m *send.Message) { m.Response = m.Response.With("_literal", true) }), breaks: []string{"TextArrivesToTheLetter"}},
	"cut text": {connector: before(func(m *send.Message) {
		withText(m, func(s string) string { return string([]rune(s)[:min(1000, len([]rune(s)))]) })
	}), breaks: []string{"LongTextsArriveOrAreRefused"}},
	"halves in the wrong order": {connector: swapped, breaks: []string{"LongTextsArriveOrAreRefused"}},
	"members alone":             {connector: instead(func(m send.Message) (bool, error) { return m.Member == nil, nil }), breaks: []string{"MessagesWithoutAMemberArrive"}},
	"a member's panic":          {connector: instead(func(m send.Message) (bool, error) { return m.Member.ID == "nobody", nil }), breaks: []string{"MessagesWithoutAMemberArrive"}},
	"lost group":                {in: channel.Hotel, connector: before(func(m *send.Message) { m.GroupID = "" }), breaks: []string{"WhatOnePlatformAsksForArrives"}},
	"lost messaging tag":        {in: channel.Alpha, connector: before(func(m *send.Message) { m.MessagingTag = "" }), breaks: []string{"WhatOnePlatformAsksForArrives"}},
	"dropped cards":             {connector: instead(func(m send.Message) (bool, error) { return m.Response.Type() == send.TypeCarousel, nil }), breaks: []string{"EachTypeArrivesOrIsRefused"}},
	"text alone": {connector: before(func(m *send.Message) {
		if m.Response.Type() == send.TypeButton {
			m.Response = send.Text(m.Response.Text())
		}
	}), breaks: []string{"EachTypeArrivesOrIsRefused"}},
	"refusal without a field": {connector: instead(func(m send.Message) (bool, error) {
		return m.Response.Type() == send.TypeNews, boterr.New(boterr.Unsupported, "", "no")
	}), breaks: []string{"EachTypeArrivesOrIsRefused"}},
	"refusal with an odd field": {connector: instead(func(m send.Message) (bool, error) {
		return m.Response.Type() == send.TypeNews, boterr.New(boterr.Unsupported, "response.type", "no")
	}), breaks: []string{"EachTypeArrivesOrIsRefused"}},
	"refusal of another code": {connector: instead(func(m send.Message) (bool, error) {
		return m.Response.Type() == "HOLOGRAM", boterr.New(boterr.FailedPrecondition, "type", "no")
	}), breaks: []string{"EachTypeArrivesOrIsRefused"}},
	"refusal of what was sent": {connector: after(func(m send.Message, d send.Delivery, err error) (send.Delivery, error) {
		if m.Response.Type() == send.TypeFile {
			err = boterr.New(boterr.Unsupported, "type", "no")
		}
		return d, err
	}), breaks: []string{"EachTypeArrivesOrIsRefused"}},
}

var deliveryMutants = map[string]mutant{
	"one id":              {connector: delivery(func(d *send.Delivery) { d.MessageID = "message" }), breaks: []string{"DeliveryTellsWhatThePlatformKnows"}},
	"seconds":             {connector: delivery(func(d *send.Delivery) { d.Timestamp /= 1000 }), breaks: []string{"DeliveryTellsWhatThePlatformKnows"}},
	"a reply with NaN":    {connector: delivery(func(d *send.Delivery) { d.Reply = document.O("n", math.NaN()) }), breaks: []string{"DeliveryTellsWhatThePlatformKnows"}},
	"a reply without ok":  {in: channel.Charlie, connector: delivery(func(d *send.Delivery) { d.Reply = document.O("ok", false) }), breaks: []string{"ResultHasThePlatformsShape"}},
	"another text":        {in: channel.Charlie, connector: delivery(func(d *send.Delivery) { d.Reply = document.O("message", "Hello") }), breaks: []string{"ResultHasThePlatformsShape"}},
	"no key":              {connector: before(func(m *send.Message) { m.ID = "" }), breaks: []string{"MessageIDIsHandedOn"}},
	"a key of its own":    {connector: numbered(), breaks: []string{"MessageIDIsHandedOn"}},
	"the first channel's": {connector: firstChannel(), breaks: []string{"EachChannelUsesItsOwnCredentials", "ConcurrentSendsArriveOnce"}},
	"sent twice":          {connector: twice, breaks: []string{"ConcurrentSendsArriveOnce"}},
	"a changed channel":   {connector: before(func(m *send.Message) { m.Channel.Name = "used" }), breaks: []string{"NothingGivenIsChanged"}},
	"no check": {connector: func(whole *chatplatform.Connector) send.Connector {
		return sending{whole, func(ctx context.Context, m send.Message) (send.Delivery, error) {
			_ = m.Channel.ID
			return whole.Send(ctx, m)
		}}
	}, breaks: []string{"AbsentFieldsAreErrors"}},
	"nothing is fine": {connector: instead(func(m send.Message) (bool, error) { return m.Response.IsZero(), nil }), breaks: []string{"AbsentFieldsAreErrors"}},
	"a guest":         {connector: before(func(m *send.Message) { m.Channel = guest(m.Channel) }), breaks: []string{"ChannelWithoutCredentialsIsFailedPrecondition"}},
	"no end": {connector: func(whole *chatplatform.Connector) send.Connector {
		return sending{whole, func(ctx context.Context, m send.Message) (send.Delivery, error) {
			return whole.Send(context.WithoutCancel(ctx), m)
		}}
	}, breaks: []string{"EndedContextAsksNothing", "CancelEndsACall", "DeadlineEndsACall"}},
	"an end of its own": {connector: failing(func(err error) error {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return boterr.New(boterr.Unavailable, "", "no answer: %w", err)
		}
		return err
	}), breaks: []string{"EndedContextAsksNothing", "CancelEndsACall", "DeadlineEndsACall"}},
}

// numbered returns a connector that uses a new key for each message.
func numbered() func(*chatplatform.Connector) send.Connector {
	var mu sync.Mutex
	n := 0
	return before(func(m *send.Message) {
		mu.Lock()
		defer mu.Unlock()
		n++
		m.ID = fmt.Sprintf("own-%d", n)
	})
}

// firstChannel returns a connector that keeps the credentials of the first channel.
func firstChannel() func(*chatplatform.Connector) send.Connector {
	var once sync.Once
	var first *channel.Channel
	return before(func(m *send.Message) {
		once.Do(func() { first = m.Channel })
		m.Channel = first
	})
}

// twice is a connector that sends each message twice, with different keys.
func twice(whole *chatplatform.Connector) send.Connector {
	return sending{whole, func(ctx context.Context, m send.Message) (send.Delivery, error) {
		if d, err := whole.Send(ctx, m); err != nil {
			return d, err
		}
		m.ID += "-again"
		return whole.Send(ctx, m)
	}}
}

// swapped is a connector that sends a long text as two messages, second half first.
func swapped(whole *chatplatform.Connector) send.Connector {
	return sending{whole, func(ctx context.Context, m send.Message) (send.Delivery, error) {
		text := []rune(m.Response.Text())
		if len(text) < send.MaxText {
			return whole.Send(ctx, m)
		}
		second := m
		second.ID += "-2"
		second.Response = send.Text(string(text[len(text)/2:]))
		if d, err := whole.Send(ctx, second); err != nil {
			return d, err
		}
		m.Response = send.Text(string(text[:len(text)/2]))
		return whole.Send(ctx, m)
	}}
}

// guest returns a channel with a token that every platform accepts, if the channel has none.
func guest(in *channel.Channel) *channel.Channel {
	if chatplatform.TokenOf(in) != "" {
		return in
	}
	with := *in
	with.Info = channel.OtherInfo{Hidden: channel.Hide(document.O("token", "token-of-shop"))}
	return &with
}

var faultMutants = map[string]mutant{
	"every error Unavailable": {
		connector: failing(func(error) error { return boterr.New(boterr.Unavailable, "", "no answer") }),
		breaks: []string{
			"RateLimitIsResourceExhausted", "BadCredentialsAreFailedPrecondition", "UnknownRecipientIsNotFound",
			"BlockedRecipientIsFailedPrecondition", "RejectedMessageIsInvalidArgument", "RateLimitTellsWhenToComeAgain",
		},
	},
	"every error InvalidArgument": {
		connector: failing(func(error) error { return boterr.Invalid("type", "no") }),
		breaks:    []string{"FailureOfThePlatformIsUnavailable", "NoAnswerIsUnavailable", "GarbledAnswerIsNoRefusal", "LostAnswerIsNotSentTwice"},
	},
	"no error": {
		connector: after(func(_ send.Message, d send.Delivery, _ error) (send.Delivery, error) { return d, nil }),
		breaks: []string{
			"FailureOfThePlatformIsUnavailable", "NoAnswerIsUnavailable", "RateLimitIsResourceExhausted", "AbsentFieldsAreErrors",
		},
	},
	"no hint": {
		connector: failing(func(err error) error { return boterr.New(boterr.CodeOf(err), "", "too many") }),
		breaks:    []string{"RateLimitTellsWhenToComeAgain"},
	},
	"a hint in another unit": {
		connector: failing(func(err error) error {
			if hint, has := errors.AsType[*send.RetryAfterError](err); has {
				return boterr.New(boterr.CodeOf(err), "", "too many: %w", &send.RetryAfterError{After: hint.After / 1000})
			}
			return err
		}),
		breaks: []string{"RateLimitTellsWhenToComeAgain"},
	},
	"a panic at garbage": {
		connector: failing(func(err error) error {
			if strings.Contains(err.Error(), "cannot be read") {
				panic(err)
			}
			return err
		}),
		breaks: []string{"GarbledAnswerIsNoRefusal"},
	},
	"repeated under another key": {
		connector: func(whole *chatplatform.Connector) send.Connector {
			return sending{whole, func(ctx context.Context, m send.Message) (send.Delivery, error) {
				d, err := whole.Send(ctx, m)
				if err != nil && boterr.CodeOf(err) == boterr.Internal {
					m.ID += "-again"
					return whole.Send(ctx, m)
				}
				return d, err
			}}
		},
		breaks: []string{"LostAnswerIsNotSentTwice"},
	},
	"broken for good": {
		connector: func(whole *chatplatform.Connector) send.Connector {
			var isBroken bool
			return sending{whole, func(ctx context.Context, m send.Message) (send.Delivery, error) {
				d, err := whole.Send(ctx, m)
				if isBroken = isBroken || err != nil; isBroken {
					return d, errors.New("broken for good")
				}
				return d, nil
			}}
		},
		breaks: []string{"ConnectorOutlivesFaults"},
	},
	"an error with what the platform said": {
		connector: transport(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if err == nil && response.StatusCode != http.StatusOK {
				said, _ := io.ReadAll(response.Body)
				return nil, errors.Join(fmt.Errorf("the platform says %s", said), response.Body.Close())
			}
			return response, err
		}),
		breaks: []string{"ErrorsHoldNoCredentials"},
	},
	"an address with the token": {
		connector: transport(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if err != nil {
				err = fmt.Errorf("%s%s: %w", r.URL, r.Header.Get("Authorization"), err)
			}
			return response, err
		}),
		breaks: []string{"ErrorsHoldNoCredentials"},
	},
}

// lying is a connector whose ports do nothing and report success.
type lying struct{ *chatplatform.Connector }

func (lying) SaveLabel(context.Context, *channel.Channel, string, string) (int64, error) {
	return 7, nil
}
func (lying) RemoveLabel(context.Context, *channel.Channel, string, string) error { return nil }

func (lying) SendBatch(_ context.Context, messages []send.Message) (send.Batch, error) {
	return send.Batch{Outcomes: make([]send.Outcome, len(messages))}, nil
}

func (lying) SendBroadcast(context.Context, *channel.Channel, send.Broadcast) (int64, error) {
	return 1, nil
}

func (lying) UploadAttachment(context.Context, *channel.Channel, send.Type, string) (string, error) {
	return "", nil
}

func (lying) PassThreadControl(context.Context, *channel.Channel, string, send.ThreadHandover) error {
	return nil
}

func (lying) SaveTag(context.Context, *channel.Channel, string, int64) (send.TagReply, error) {
	return send.TagReply{Message: "ok"}, nil
}

func (lying) ArchiveConversation(context.Context, *channel.Channel, string) error { return nil }

func (lying) UpdateMessage(context.Context, *channel.Channel, send.MessageUpdate) (document.Object, error) {
	return document.O("ok", true), nil
}

func (lying) CreateGroup(context.Context, *channel.Channel, livechat.NewGroup) (livechat.CreatedGroup, error) {
	return livechat.CreatedGroup{ExternalID: "group-1"}, nil
}

func (lying) RenewInviteLink(context.Context, *channel.Channel, string) (string, error) {
	return "https://join.example", nil
}

func (lying) GroupName(context.Context, *channel.Channel, string) (string, error) {
	return "another", nil
}

func (lying) SetGroupIcon(context.Context, *channel.Channel, string, livechat.Picture) error {
	return nil
}

func (lying) ShowTaken(context.Context, *channel.Channel, livechat.Ticket, string) error { return nil }

func (lying) RecallTicket(context.Context, *channel.Channel, livechat.Ticket) error { return nil }

func (lying) CreateChannel(context.Context, *channel.Channel, string, string) (document.Object, error) {
	return document.Object{}, nil
}

// strict is a connector whose ports refuse to repeat a change, and return an error for missing objects.
type strict struct {
	*chatplatform.Connector

	done *[]string
}

// once records a change. It returns AlreadyExists if the change was recorded before.
func (s strict) once(what string) error {
	if slices.Contains(*s.done, what) {
		return boterr.New(boterr.AlreadyExists, "", "%s was done", what)
	}
	*s.done = append(*s.done, what)
	return nil
}

func (s strict) SaveLabel(ctx context.Context, in *channel.Channel, to, id string) (int64, error) {
	if err := s.once("label " + to + id); err != nil {
		return 0, err
	}
	return s.Connector.SaveLabel(ctx, in, to, id)
}

func (s strict) ArchiveConversation(ctx context.Context, in *channel.Channel, id string) error {
	if err := s.once("archive " + id); err != nil {
		return err
	}
	return s.Connector.ArchiveConversation(ctx, in, id)
}

func (s strict) DisableInviteLink(ctx context.Context, in *channel.Channel, id string) error {
	if err := s.once("unlink " + id); err != nil {
		return err
	}
	return s.Connector.DisableInviteLink(ctx, in, id)
}

func (s strict) ShowTaken(ctx context.Context, in *channel.Channel, ticket livechat.Ticket, text string) error {
	if err := s.once("taken " + ticket.MessageID); err != nil {
		return err
	}
	return s.Connector.ShowTaken(ctx, in, ticket, text)
}

func (s strict) SaveTag(ctx context.Context, in *channel.Channel, to string, tag int64) (send.TagReply, error) {
	reply, err := s.Connector.SaveTag(ctx, in, to, tag)
	if err == nil && reply.Code != 0 {
		err = boterr.New(boterr.ResourceExhausted, "", "%s", reply.Message)
	}
	return reply, err
}

// uncoded is a connector whose ports drop the codes of errors.
type uncoded struct{ *chatplatform.Connector }

func withoutCode(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(err.Error())
}

func (u uncoded) SendBroadcast(ctx context.Context, in *channel.Channel, b send.Broadcast) (int64, error) {
	number, err := u.Connector.SendBroadcast(ctx, in, b)
	return number, withoutCode(err)
}

func (u uncoded) UpdateMessage(ctx context.Context, in *channel.Channel, update send.MessageUpdate) (document.Object, error) {
	reply, err := u.Connector.UpdateMessage(ctx, in, update)
	return reply, withoutCode(err)
}

func (u uncoded) GroupName(ctx context.Context, in *channel.Channel, id string) (string, error) {
	name, err := u.Connector.GroupName(ctx, in, id)
	return name, withoutCode(err)
}

func (u uncoded) RecallTicket(ctx context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	return withoutCode(u.Connector.RecallTicket(ctx, in, ticket))
}

func (u uncoded) SaveLabel(ctx context.Context, in *channel.Channel, to, id string) (int64, error) {
	number, err := u.Connector.SaveLabel(ctx, in, to, id)
	return number, withoutCode(err)
}

var portMutants = map[string]mutant{
	"ports that lie": {
		connector: func(whole *chatplatform.Connector) send.Connector { return lying{whole} },
		breaks: []string{
			"LabelsArePutAndTaken", "BroadcastsReachThoseWithTheLabel", "BroadcastOfNothingIsNotFound", "UploadedFilesCanBeSent",
			"ThreadsAreHandedOn", "TagsArePutOrRefusedInTheReply", "ConversationsAreArchivedOnce", "UpdatedMessagesShowTheNewText",
			"UpdateOfNothingIsNotFound", "BatchesArriveInTheirOrder", "GroupsCanBeWrittenTo", "GroupsHaveTheLinkThatIsAskedFor",
			"LinksAreRenewedAndDisabled", "GroupNameIsThatOfTheGroup", "IconsAreSetOrRefused", "ChannelsAreMade",
			"TakenTicketsShowTheText", "RecalledTicketsAreGone", "AbsentFieldsAreErrors", "EndedContextAsksNothing",
			"ChannelWithoutCredentialsIsFailedPrecondition", "RateLimitIsResourceExhausted", "NoAnswerIsUnavailable",
		},
	},
	"ports that do a thing once": {
		connector: func(whole *chatplatform.Connector) send.Connector { return strict{whole, new([]string)} },
		breaks: []string{
			"LabelsArePutAndTaken", "ConversationsAreArchivedOnce", "LinksAreRenewedAndDisabled", "TakenTicketsShowTheText",
			"TagsArePutOrRefusedInTheReply",
		},
	},
	"ports without codes": {
		connector: func(whole *chatplatform.Connector) send.Connector { return uncoded{whole} },
		breaks: []string{
			"BroadcastOfNothingIsNotFound", "UpdateOfNothingIsNotFound", "GroupNameIsThatOfTheGroup", "RecalledTicketsAreGone",
			"RateLimitIsResourceExhausted", "BadCredentialsAreFailedPrecondition", "ChannelWithoutCredentialsIsFailedPrecondition",
		},
	},
}
