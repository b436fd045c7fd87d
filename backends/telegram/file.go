package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// MaxFileBytes is the largest file that Open can read. It is Telegram's limit for bots.
const MaxFileBytes = 20 << 20

// pathForm matches paths of files on Telegram's server.
var pathForm = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_./-]*$`)

// Open returns the content of a file that a member sent, by the attachment_id in the event. Callers must close
// it. Config.PollTime and Config.Timeout together limit the time for reading.
//
// NotFound: Telegram does not know the file. InvalidArgument: the file is too large for bots. The file's
// address is not returned, because it contains the bot's token.
func (c *Connector) Open(ctx context.Context, in *channel.Channel, attachmentID string) (io.ReadCloser, error) {
	result, err := c.call(ctx, in, "getFile", document.O("file_id", attachmentID))
	switch {
	case saysAny(err, "wrong file|wrong remote file|invalid file"):
		return nil, boterr.New(boterr.NotFound, "attachmentID", "this bot has no such file: %w", errors.Unwrap(err))
	case errors.Is(err, boterr.InvalidArgument):
		return nil, boterr.WithField("attachmentID", err)
	case err != nil:
		return nil, err
	}
	of, err := credentialsOf(in)
	if err != nil {
		return nil, err
	}
	found, _ := result.(document.Object)
	path := document.Get(found, "file_path", "")
	if !pathForm.MatchString(path) || strings.Contains(path, "..") {
		return nil, boterr.New(boterr.Unsupported, "", "the Bot API's address serves no files: do not run the server in local mode")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.config.APIURL+"/file/bot"+of.token+"/"+path, http.NoBody)
	if err != nil {
		return nil, of.unanswered("the file", err)
	}
	resp, err := c.config.HTTPClient.Do(req)
	switch {
	case err == nil && resp.StatusCode == http.StatusOK:
		return resp.Body, nil
	case err == nil:
		return nil, errors.Join(fmt.Errorf("telegram returned no file, but status %d", resp.StatusCode), resp.Body.Close())
	case ctx.Err() != nil:
		return nil, ctx.Err()
	default:
		return nil, of.unanswered("the file", err)
	}
}
