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

// MaxFileBytes is the maximum size of a file for Open, which is Telegram's limit.
const MaxFileBytes = 20 << 20

// pathForm matches the paths at which Telegram serves files.
var pathForm = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_./-]*$`)

// Open returns the content of a file that a member has sent, by the attachment_id in its event. The caller must close
// it. Reading takes at most Config.PollTime and Config.Timeout together.
//
// NotFound: Telegram does not know the file. InvalidArgument: it is too large for bots. The address of the file
// contains the bot's token, so it is not returned.
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
		return nil, boterr.New(boterr.Unsupported, "", "the Bot API's address serves no files: a server in local mode keeps them on its own disk")
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
