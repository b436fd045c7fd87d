package desk

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// The limits of files.
const (
	maxFile    = 10 << 20
	uploadTime = 2 * time.Minute
	sniffed    = 512
)

// kinds are the types of files that agents may send, by the bytes at their beginning, with the type of the message.
// Pages and pictures that can hold scripts are not among them.
var kinds = map[string]send.Type{
	"image/png": send.TypeImage, "image/jpeg": send.TypeImage, "image/gif": send.TypeImage, "image/webp": send.TypeImage,
	"audio/mpeg": send.TypeAudio, "audio/wave": send.TypeAudio, "application/ogg": send.TypeAudio,
	"video/mp4": send.TypeVideo, "video/webm": send.TypeVideo,
	"application/pdf": send.TypeFile, "application/zip": send.TypeFile, "text/plain": send.TypeFile,
}

// file is a file that an agent sends.
type file struct {
	Kind send.Type `json:"kind"`
	URL  string    `json:"url"`
	Name string    `json:"name"`
}

// response returns the message with the file.
func (f file) response() (send.Response, error) {
	response := send.Other(f.Kind, document.O("url", f.URL, "name", f.Name))
	return response, boterr.PrefixField("file", response.Validate())
}

// upload stores a file for the member of a chat.
func (p *pages) upload(c *call) (any, error) {
	if p.config.Files == nil {
		return nil, boterr.New(boterr.Unsupported, "", "this host does not accept files from agents")
	}
	if given := c.Header.Get("Content-Type"); given != "application/octet-stream" { // Forms of other sites cannot send it.
		return nil, boterr.Invalid("Content-Type", "is %.100q: send application/octet-stream", given)
	}
	of, err := p.mine(c)
	if err != nil {
		return nil, err
	}
	page.LimitBody(c.w, uploadTime)
	name := page.FileName(c.URL.Query().Get("name"))
	body := http.MaxBytesReader(c.w, c.Body, maxFile)
	begin := make([]byte, sniffed)
	n, err := io.ReadFull(body, begin)
	if err != nil && n == 0 {
		return nil, boterr.Invalid("", "the file is empty; send a file with content")
	}
	begin = begin[:n]
	mediaType, _, _ := mime.ParseMediaType(http.DetectContentType(begin))
	kind, isAllowed := kinds[mediaType]
	if !isAllowed {
		return nil, boterr.Invalid("", "the file is of type %s; send pictures, sound, videos, PDF, ZIP or plain text", mediaType)
	}
	id := p.desk.env.NewID()
	in := of.log()
	address, err := p.config.Files(c.Context(), utility.StoredFile{
		ID: id, App: in.App, Channel: in.Channel, Name: id + "/" + name, ContentType: mediaType,
		Key:     url.PathEscape(in.App) + "/" + url.PathEscape(in.Channel) + "/" + id + "/" + name,
		Content: io.MultiReader(bytes.NewReader(begin), body),
	})
	if err != nil {
		return nil, err
	}
	stored := file{Kind: kind, URL: address, Name: name}
	_, err = p.desk.tickets(of.App).Insert(c.Context(), document.O(
		document.IDField, uploadID(of, &stored), fieldTo, in.ID, fieldAssignment, of.ID,
	))
	if err != nil && boterr.CodeOf(err) != boterr.AlreadyExists {
		return nil, err
	}
	return stored, nil
}

// uploadID returns the id of the record of an upload. Uploads are stored with the tickets, so that an agent can only
// send addresses that the host returned.
func uploadID(of chat, f *file) string {
	return idOf("upload", of.log().App, of.log().Channel, of.log().ID, string(f.Kind), f.URL, f.Name)
}

// requireUploaded returns an error for a file that was not uploaded for the chat.
func (p *pages) requireUploaded(ctx context.Context, of chat, f *file) error {
	_, err := p.desk.tickets(of.App).Get(ctx, uploadID(of, f))
	if boterr.CodeOf(err) == boterr.NotFound {
		return boterr.Invalid("file", "was not uploaded for this chat; upload it first")
	}
	return err
}
