package sends

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/replies"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// SendAlphaResponse implements Operations.
func (s *Service) SendAlphaResponse(ctx context.Context, p send.SendAlphaResponseParams) (send.Result, error) {
	same := send.SendResponseParams{Channel: p.Channel, ChannelID: p.ChannelID, Member: p.Member, Response: p.Response}
	if p.MemberID != "" {
		same.MemberID = document.One(p.MemberID)
	}
	connector, messages, err := s.alphaMessages(ctx, same)
	if err != nil {
		return send.Result{}, err
	}
	return deliver(ctx, s.env, connector, messages[0])
}

// SendAlphaResponseToMemberIDs implements Operations.
func (s *Service) SendAlphaResponseToMemberIDs(
	ctx context.Context, p send.SendAlphaResponseToMemberIDsParams,
) (send.SendAlphaResponseToMemberIDsResult, error) {
	if len(p.MemberID) == 0 {
		return send.SendAlphaResponseToMemberIDsResult{}, boterr.Missing("memberId", "the id of at least one member")
	}
	connector, messages, err := s.alphaMessages(ctx, send.SendResponseParams{
		Channel: p.Channel, ChannelID: p.ChannelID, MemberID: p.MemberID, Response: p.Response,
	})
	if err != nil {
		return send.SendAlphaResponseToMemberIDsResult{}, err
	}
	results, err := s.deliverAll(ctx, connector, messages)
	return send.SendAlphaResponseToMemberIDsResult{Results: results}, err
}

// alphaMessages returns the validated message to each member of an Alpha channel, and the connector
// that sends them.
func (s *Service) alphaMessages(ctx context.Context, p send.SendResponseParams) (send.Connector, []send.Message, error) {
	to, messages, err := s.messages(ctx, p, channel.Alpha)
	if err != nil {
		return nil, nil, err
	}
	connector, err := s.ports.Connectors.Of(to)
	if err != nil {
		return nil, nil, boterr.WithField(channels.ByRecordOrID(s.scope, p.Channel, p.ChannelID).Field(), err)
	}
	return connector, messages, nil
}

// AlphaSaveCustomLabel implements Operations.
func (s *Service) AlphaSaveCustomLabel(ctx context.Context, p send.AlphaSaveCustomLabelParams) (send.AlphaSaveCustomLabelResult, error) {
	with, err := s.labeled(ctx, p.Channel, p.Member, p.LabelID)
	if err != nil {
		return send.AlphaSaveCustomLabelResult{}, err
	}
	of := fmt.Sprintf("label %q %q %q", with.in.ID, with.to, p.LabelID)
	return Once(ctx, s.env, of, func(ctx context.Context) (send.AlphaSaveCustomLabelResult, error) {
		id, err := with.port.SaveLabel(ctx, with.in, with.to, p.LabelID)
		return send.AlphaSaveCustomLabelResult{ID: id}, PlatformError(ctx, with.in.Type, err)
	})
}

// AlphaRemoveCustomLabel implements Operations.
func (s *Service) AlphaRemoveCustomLabel(
	ctx context.Context, p send.AlphaRemoveCustomLabelParams,
) (send.AlphaRemoveCustomLabelResult, error) {
	with, err := s.labeled(ctx, p.Channel, p.Member, p.LabelID)
	if err != nil {
		return send.AlphaRemoveCustomLabelResult{}, err
	}
	of := fmt.Sprintf("label off %q %q %q", with.in.ID, with.to, p.LabelID)
	return Once(ctx, s.env, of, func(ctx context.Context) (send.AlphaRemoveCustomLabelResult, error) {
		err := with.port.RemoveLabel(ctx, with.in, with.to, p.LabelID)
		return send.AlphaRemoveCustomLabelResult{Success: true}, PlatformError(ctx, with.in.Type, err)
	})
}

func (s *Service) labeled(
	ctx context.Context, given *channel.Channel, who *member.Member, labelID string,
) (contact[send.Labeler], error) {
	if labelID == "" {
		return contact[send.Labeler]{}, boterr.Missing("labelId", "the id of a label")
	}
	return contactWith[send.Labeler](ctx, s, given, who, requirement{platform: channel.Alpha, what: "put labels on members"})
}

// AlphaPassThreadControl implements Operations.
func (s *Service) AlphaPassThreadControl(
	ctx context.Context, p send.AlphaPassThreadControlParams,
) (send.AlphaPassThreadControlResult, error) {
	requires := requirement{platform: channel.Alpha, what: "hand on conversations"}
	with, err := contactWith[send.ThreadPasser](ctx, s, p.Channel, p.Member, requires)
	if err != nil {
		return send.AlphaPassThreadControlResult{}, err
	}
	handover := send.ThreadHandover{TargetAppID: p.TargetAppID, Metadata: p.Metadata}
	of := fmt.Sprintf("thread %q %q", with.in.ID, with.to)
	return Once(ctx, s.env, of, func(ctx context.Context) (send.AlphaPassThreadControlResult, error) {
		err := with.port.PassThreadControl(ctx, with.in, with.to, handover)
		return send.AlphaPassThreadControlResult{Success: true}, PlatformError(ctx, with.in.Type, err)
	})
}

var fileTypes = []send.Type{send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile}

// AlphaGetAttachmentID implements Operations.
func (s *Service) AlphaGetAttachmentID(ctx context.Context, p send.AlphaGetAttachmentIDParams) (send.AlphaGetAttachmentIDResult, error) {
	kind := send.Type(strings.ToUpper(string(p.Type)))
	switch {
	case kind == "":
		return send.AlphaGetAttachmentIDResult{}, boterr.Missing("type", "the kind of file: image, audio, video or file")
	case !slices.Contains(fileTypes, kind):
		return send.AlphaGetAttachmentIDResult{}, boterr.Invalid("type", "must be image, audio, video or file, got %.40q", string(p.Type))
	}
	if err := checkFileURL(p.URL); err != nil {
		return send.AlphaGetAttachmentIDResult{}, err
	}
	in, uploader, err := channelWith[send.AttachmentUploader](ctx, s, p.Channel, "take files", channel.Alpha)
	if err != nil {
		return send.AlphaGetAttachmentIDResult{}, err
	}
	of := fmt.Sprintf("attachment %q %q %q", in.ID, kind, p.URL)
	return Once(ctx, s.env, of, func(ctx context.Context) (send.AlphaGetAttachmentIDResult, error) {
		id, err := uploader.UploadAttachment(ctx, in, kind, p.URL)
		if err == nil && id == "" {
			return send.AlphaGetAttachmentIDResult{}, boterr.New(boterr.Internal, "",
				"the connector uploaded the file but returned no id; it must return the platform's")
		}
		return send.AlphaGetAttachmentIDResult{AttachmentID: id}, PlatformError(ctx, in.Type, err)
	})
}

// checkFileURL returns an error unless text is an HTTP or HTTPS URL. Private addresses are allowed,
// because the platform fetches the file, not this host.
func checkFileURL(text string) error {
	if text == "" {
		return boterr.Missing("url", "the address of the file")
	}
	u, err := outbound.ParseURL(text)
	switch {
	case err != nil:
		return boterr.WithField("url", err)
	case u.Scheme != "http" && u.Scheme != "https":
		return boterr.Invalid("url", "must begin with https:// or http://")
	case u.Hostname() == "":
		return boterr.Invalid("url", "has no host; write it as https://host/path")
	default:
		return nil
	}
}

const doBroadcast = "broadcast"

// AlphaCreateBroadcast implements Operations.
func (s *Service) AlphaCreateBroadcast(ctx context.Context, p send.AlphaCreateBroadcastParams) (send.AlphaCreateBroadcastResult, error) {
	if err := p.Response.Validate(); err != nil {
		return send.AlphaCreateBroadcastResult{}, boterr.PrefixField("response", err)
	}
	in, broadcaster, err := channelWith[send.Broadcaster](ctx, s, p.Channel, doBroadcast, channel.Alpha)
	if err != nil {
		return send.AlphaCreateBroadcastResult{}, err
	}
	of := fmt.Sprintf("stored message %q", in.ID)
	return Once(ctx, s.env, of, func(ctx context.Context) (send.AlphaCreateBroadcastResult, error) {
		stored, err := broadcaster.CreateBroadcast(ctx, in, send.Raw(p.Response.Object()))
		if err != nil {
			return send.AlphaCreateBroadcastResult{}, atResponse(PlatformError(ctx, in.Type, err))
		}
		if len(stored) == 0 {
			return send.AlphaCreateBroadcastResult{}, boterr.New(boterr.Internal, "",
				"the connector stored the message but returned nothing; it must return the platform's reply")
		}
		stored = slices.Clone(stored)
		for i := range stored {
			stored[i].Response = replies.Writable(stored[i].Response)
		}
		return send.AlphaCreateBroadcastResult{OK: 1, Result: stored}, nil
	})
}

// AlphaSendBroadcast implements Operations.
func (s *Service) AlphaSendBroadcast(ctx context.Context, p send.AlphaSendBroadcastParams) (send.AlphaSendBroadcastResult, error) {
	switch {
	case p.BroadcastID == "":
		return send.AlphaSendBroadcastResult{}, boterr.Missing("broadcastId", "the stored message, as alphaCreateBroadcast returns it")
	case p.LabelID == "":
		return send.AlphaSendBroadcastResult{}, boterr.Missing("labelId", "the label of the members who get the message")
	case p.NotificationType == "":
		return send.AlphaSendBroadcastResult{}, boterr.Missing("notificationType", "how Alpha notifies the members")
	}
	in, broadcaster, err := channelWith[send.Broadcaster](ctx, s, p.Channel, doBroadcast, channel.Alpha)
	if err != nil {
		return send.AlphaSendBroadcastResult{}, err
	}
	broadcast := send.Broadcast{MessageID: string(p.BroadcastID), LabelID: p.LabelID, NotificationType: p.NotificationType}
	of := fmt.Sprintf("broadcast %q %q %q", in.ID, broadcast.MessageID, broadcast.LabelID)
	return Once(ctx, s.env, of, func(ctx context.Context) (send.AlphaSendBroadcastResult, error) {
		id, err := broadcaster.SendBroadcast(ctx, in, broadcast)
		return send.AlphaSendBroadcastResult{BroadcastID: id}, PlatformError(ctx, in.Type, err)
	})
}
