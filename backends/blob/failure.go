package blob

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"gocloud.dev/gcerrors"

	"github.com/botctx/go-sdk/boterr"
)

// failure returns the error of a bucket with its code. Where ctx has ended, it is that of
// ctx.
func failure(ctx context.Context, key string, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	switch gcerrors.Code(err) {
	case gcerrors.InvalidArgument:
		return boterr.Invalid("filename", "cannot be stored as %q: %w", key, err)
	case gcerrors.NotFound:
		return boterr.New(boterr.FailedPrecondition, "", "the bucket does not exist; create it: %w", err)
	case gcerrors.PermissionDenied:
		return boterr.New(boterr.FailedPrecondition, "", "the account may not write to the bucket; let it: %w", err)
	case gcerrors.FailedPrecondition:
		return boterr.New(boterr.FailedPrecondition, "", "the bucket is closed, or does not allow it: %w", err)
	case gcerrors.ResourceExhausted:
		return boterr.New(boterr.ResourceExhausted, "", "a limit of the bucket is reached; try again later: %w", err)
	case gcerrors.Unimplemented:
		return boterr.New(boterr.Unsupported, "", "the bucket does not offer it: %w", err)
	default:
		return systemFailure(key, err)
	}
}

// reserved ends the names of the files in which a folder's driver keeps content types.
const reserved = ".attrs"

// systemFailure returns the error of a driver that gives no code, as that of folders.
func systemFailure(key string, err error) error {
	switch {
	case strings.HasSuffix(key, reserved) && strings.Contains(err.Error(), reserved):
		return boterr.Invalid("filename", "must not end with %q in this bucket: choose another name", reserved)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return boterr.Invalid("filename", "has a name that is too long for this bucket: shorten it: %w", err)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.EEXIST),
		errors.Is(err, syscall.ENOTEMPTY):
		return boterr.Invalid("filename",
			"names a folder as a file, or a file as a folder, which this bucket cannot hold: choose another name: %w", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return boterr.New(boterr.ResourceExhausted, "", "the disk is full; make room: %w", err)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EROFS):
		return boterr.New(boterr.FailedPrecondition, "", "the folder may not be written to; let it: %w", err)
	}
	return boterr.New(boterr.Unavailable, "", "the bucket did not store the file; try again later: %w", err)
}
