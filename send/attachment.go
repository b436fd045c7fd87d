package send

import (
	"context"
	"fmt"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/outbound"
)

// fileTypes are the kinds of files.
var fileTypes = []Type{TypeImage, TypeAudio, TypeVideo, TypeFile}

// AlphaGetAttachmentID implements Operations.
func (s *Service) AlphaGetAttachmentID(ctx context.Context, p AlphaGetAttachmentIDParams) (AlphaGetAttachmentIDResult, error) {
	kind := Type(p.Type.upper())
	switch {
	case kind == "":
		return AlphaGetAttachmentIDResult{}, boterr.Missing(fieldType, "the kind of file: image, audio, video or file")
	case !slices.Contains(fileTypes, kind):
		return AlphaGetAttachmentIDResult{}, boterr.Invalid(fieldType, "must be image, audio, video or file, got %.40q", string(p.Type))
	}
	if err := checkFileURL(p.URL); err != nil {
		return AlphaGetAttachmentIDResult{}, err
	}
	in, uploader, err := channelWith[AttachmentUploader](ctx, s, p.Channel, "take files", channel.Alpha)
	if err != nil {
		return AlphaGetAttachmentIDResult{}, err
	}
	if err := canceled(ctx); err != nil {
		return AlphaGetAttachmentIDResult{}, err
	}
	of := fmt.Sprintf("attachment %q %q %q", in.ID, kind, p.URL)
	return Once(ctx, s.env, of, func(ctx context.Context) (AlphaGetAttachmentIDResult, error) {
		id, err := uploader.UploadAttachment(ctx, in, kind, p.URL)
		if err == nil && id == "" {
			return AlphaGetAttachmentIDResult{}, boterr.New(boterr.Internal, "",
				"the connector took the file and told no id: have it tell the platform's")
		}
		return AlphaGetAttachmentIDResult{AttachmentID: id}, PlatformError(ctx, in.Type, err)
	})
}

// checkFileURL refuses what is no address of HTTP or HTTPS. The platform fetches the file,
// not this host, so whether the address is a private one is its affair.
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
