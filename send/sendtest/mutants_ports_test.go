package sendtest_test

import (
	"context"
	"errors"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatplatform"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// lying is a connector whose ports do nothing, and say that all is well.
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

// strict is a connector whose ports refuse what was done already, and know nothing that is not there.
type strict struct {
	*chatplatform.Connector

	done *[]string
}

// once returns an error for what was done already.
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

// uncoded is a connector whose ports lose the codes of errors.
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
