package livechats

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// SetBravoGroupIcon implements Operations.
func (s *Service) SetBravoGroupIcon(ctx context.Context, p livechat.SetBravoGroupIconParams) (livechat.SetBravoGroupIconResult, error) {
	switch {
	case p.ImageURL == "":
		return livechat.SetBravoGroupIconResult{}, boterr.Missing(fieldImageURL, "the address of a picture")
	case p.BravoGroupID == "":
		return livechat.SetBravoGroupIconResult{}, boterr.Missing(fieldBravoGroupID, "the id of a group on Bravo")
	}
	in, err := s.namedChannel(ctx, channels.ByID(s.scope, fieldChannelID, p.ChannelID), channel.Bravo)
	if err != nil {
		return livechat.SetBravoGroupIconResult{}, err
	}
	setter, err := send.RequirePort[livechat.GroupIconSetter](s.ports.Connectors, in, "set icons of groups")
	if err != nil {
		return livechat.SetBravoGroupIconResult{}, boterr.WithField(fieldChannelID, err)
	}
	of := fmt.Sprintf("icon %q %q", in.ID, p.BravoGroupID)
	return sends.Once(ctx, s.env, of, func(ctx context.Context) (livechat.SetBravoGroupIconResult, error) {
		return livechat.SetBravoGroupIconResult{OK: "ok"}, s.setIcon(ctx, setter, in, p)
	})
}

// setIcon fetches the picture of a call, and gives it to the group.
func (s *Service) setIcon(
	ctx context.Context, setter livechat.GroupIconSetter, in *channel.Channel, p livechat.SetBravoGroupIconParams,
) error {
	icon, err := s.fetchPicture(ctx, p.ImageURL)
	if err != nil {
		return boterr.WithField(fieldImageURL, err)
	}
	err = sends.PlatformError(ctx, in.Type, setter.SetGroupIcon(ctx, in, p.BravoGroupID, icon))
	if boterr.CodeOf(err) == boterr.InvalidArgument {
		return boterr.WithField(fieldImageURL, err)
	}
	return aboutGroup(fieldBravoGroupID, err)
}

const fieldImageURL = "imageUrl"

// fetchPicture fetches the picture at an address.
func (s *Service) fetchPicture(ctx context.Context, address string) (livechat.Picture, error) {
	answer, err := outbound.Fetch(ctx, s.ports.HTTP, outbound.Request{URL: address})
	switch {
	case err != nil:
		return livechat.Picture{}, err
	case isPassing(answer.Status):
		return livechat.Picture{}, boterr.New(boterr.Unavailable, "", "the address answers with the status %d: try again later", answer.Status)
	case !answer.OK():
		return livechat.Picture{}, boterr.Invalid("", "the address answers with the status %d: give one of a picture", answer.Status)
	}
	picture := livechat.Picture{ContentType: mediaTypeOf(answer), Bytes: answer.Body}
	if !strings.HasPrefix(picture.ContentType, "image/") || len(picture.Bytes) == 0 {
		return livechat.Picture{}, boterr.Invalid("", "the address has %d bytes of type %q: give one of a picture",
			len(picture.Bytes), picture.ContentType)
	}
	return picture, nil
}

// isPassing reports whether a request with this status may succeed later.
func isPassing(status int) bool {
	return status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// mediaTypeOf returns the media type of a response: what it says, or what its bytes look
// like where it says nothing of use.
func mediaTypeOf(answer *outbound.Response) string {
	said, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil || said == "application/octet-stream" || said == "" {
		said, _, _ = strings.Cut(http.DetectContentType(answer.Body), ";")
	}
	return said
}
