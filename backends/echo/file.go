package echo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/send"
)

// fileKind has the platform's rules for a type of file.
type fileKind struct {
	name string
	// most is the maximum size in bytes. suffix is added to the file's name if the address has none.
	most   int64
	suffix string
}

var fileKinds = map[send.Type]fileKind{
	send.TypeImage: {"image", 10 << 20, ".jpg"},
	send.TypeAudio: {"voice", 2 << 20, ".mp3"},
	send.TypeVideo: {"video", 10 << 20, ".mp4"},
}

// fileOf converts a file to the platform's form. A file with an address and no id is uploaded first.
func (c *Connector) fileOf(ctx context.Context, from account, response send.Response) (shown, error) {
	kind := fileKinds[response.Type()]
	id, address := document.Get(response, "attachment_id", ""), document.Get(response, "url", "")
	if id == "" {
		var err error
		if id, err = c.upload(ctx, from, kind, address); err != nil {
			return shown{}, err
		}
	}
	file := document.O("media_id", id)
	reply := document.O("msgType", kind.name)
	if address != "" {
		reply = reply.With("url", address)
	}
	if response.Type() != send.TypeAudio {
		reply = reply.With(kind.name, id)
	}
	if response.Type() == send.TypeVideo {
		for _, field := range []string{"thumb_media_id", "title", "description"} {
			text := document.Get(response, field, "")
			if text == "" {
				continue
			}
			file = file.With(field, text)
			if field != "thumb_media_id" {
				reply = reply.With(field, text)
			}
		}
	}
	return shown{document.O("msgtype", kind.name, kind.name, file), reply}, nil
}

// upload fetches a file and uploads it to the platform, which keeps it for three days. It returns the file's
// id.
func (c *Connector) upload(ctx context.Context, from account, kind fileKind, address string) (string, error) {
	if err := bounded.CheckURL("url", address); err != nil {
		return "", err
	}
	file, err := c.fetch(ctx, kind, address)
	if err != nil {
		return "", err
	}
	form, formType := calls.Form(nil, "media", fileName(address, kind), "application/octet-stream", file)
	reply, err := c.call(ctx, from, request{
		path: "/cgi-bin/media/upload", query: url.Values{"type": {kind.name}}, form: form, formType: formType,
	})
	if err != nil {
		return "", aboutFile(err)
	}
	id := document.Get(reply, "media_id", "")
	if id == "" {
		return "", errors.New("the platform returned no id for the uploaded file")
	}
	return id, nil
}

// aboutFile sets the field url in the InvalidArgument error of an upload.
func aboutFile(err error) error {
	if boterr.CodeOf(err) == boterr.InvalidArgument {
		return boterr.WithField("url", err)
	}
	return err
}

func (c *Connector) fetch(ctx context.Context, kind fileKind, address string) ([]byte, error) {
	asked, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, boterr.Invalid("url", "is not a valid address; give an HTTP or HTTPS address")
	}
	answer, err := c.config.Files.Do(asked)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // The body has been read.
	if answer.StatusCode >= http.StatusInternalServerError {
		return nil, fmt.Errorf("the server of the file failed with status %d", answer.StatusCode)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, boterr.Invalid("url", "cannot be fetched: the server answered with status %d; give an address that needs no login",
			answer.StatusCode)
	}
	file, err := bounded.ReadAll(answer.Body, kind.most)
	if _, isTooLong := errors.AsType[*bounded.TooLongError](err); isTooLong {
		return nil, boterr.Invalid("url",
			"is a file of more than %d MiB, the limit for a %s on echo: give a smaller one", kind.most>>20, kind.name)
	}
	return file, err
}

// fileName returns the name of an uploaded file. The platform derives the file's type from the suffix.
func fileName(address string, kind fileKind) string {
	name := cmp.Or(pieces.FileName(address), kind.name)
	if path.Ext(name) == "" {
		name += kind.suffix
	}
	return name
}

// Open fetches a file that a member sent, by its attachment_id in the event. Callers must close it; reading
// fails after Config.MaxFileBytes. NotFound: the platform no longer has the file. The platform keeps files for
// three days.
func (c *Connector) Open(ctx context.Context, in *channel.Channel, attachmentID string) (io.ReadCloser, error) {
	from, err := accountOf(in)
	if err != nil {
		return nil, err
	}
	var file io.ReadCloser
	err = c.withToken(ctx, from, func(token string) (err error) {
		file, err = c.open(ctx, from, token, attachmentID)
		return err
	})
	if refused := calls.RefusalIn(err); refused.Text != "" && boterr.CodeOf(err) == boterr.InvalidArgument {
		return nil, boterr.New(boterr.NotFound, "attachmentID", "%s", refused.Text)
	}
	return file, err
}

// open fetches a file. The platform's answer is the file, an error, or the address of a video.
func (c *Connector) open(ctx context.Context, from account, token, attachmentID string) (io.ReadCloser, error) {
	sent := c.client.requestOf(from, token, request{path: "/cgi-bin/media/get", query: url.Values{"media_id": {attachmentID}}})
	answer, err := calls.Open(ctx, c.client.files, sent)
	if err != nil {
		return nil, err
	}
	kind := cmp.Or(answer.Header.Get("Content-Type"), "application/json")
	if answer.StatusCode == http.StatusOK && !strings.Contains(kind, "json") && !strings.HasPrefix(kind, "text/plain") {
		return answer.Body, nil
	}
	defer answer.Body.Close() //nolint:errcheck // The body has been read.
	body, err := bounded.ReadAll(answer.Body, maxReplyBytes)
	if err != nil {
		return nil, calls.Unanswered(ctx, err, sent.Secrets...)
	}
	reply, err := c.client.read(calls.Answer{Status: answer.StatusCode, Header: answer.Header, Body: body}, sent.Secrets, false)
	if err != nil {
		return nil, err
	}
	return c.openVideo(ctx, document.Get(reply, "video_url", ""))
}

// openVideo fetches a video from this address, without sending the token.
func (c *Connector) openVideo(ctx context.Context, address string) (io.ReadCloser, error) {
	asked, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil || address == "" {
		return nil, calls.ErrUnreadable
	}
	answer, err := c.config.Files.Do(asked)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case answer.StatusCode != http.StatusOK:
		return nil, errors.Join(errors.New("the platform could not return the video"), answer.Body.Close())
	}
	limited := bounded.NewReader(answer.Body, c.config.MaxFileBytes, &bounded.TooLongError{Most: c.config.MaxFileBytes})
	return struct {
		io.Reader
		io.Closer
	}{limited, answer.Body}, nil
}
