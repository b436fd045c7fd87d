package botctx

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/record"
)

// utilities are the SDK's own utilities of a scope, over the host's ports.
type utilities struct {
	runtime  *Runtime
	scope    record.Scope
	channels channels
}

var _ UtilityOperations = utilities{}

// SendEmail implements UtilityOperations.
func (u utilities) SendEmail(context.Context, SendEmailParams) (SendEmailResult, error) {
	return SendEmailResult{}, boterr.New(boterr.Unsupported, "", "is not there yet")
}

// Golf implements UtilityOperations.
func (u utilities) Golf(context.Context, GolfParams) (GolfResult, error) {
	return GolfResult{}, boterr.New(boterr.Unsupported, "", "is not there yet")
}

// UploadFileToObjectStore implements UtilityOperations.
func (u utilities) UploadFileToObjectStore(
	context.Context, UploadFileToObjectStoreParams,
) (UploadFileToObjectStoreResult, error) {
	return UploadFileToObjectStoreResult{}, boterr.New(boterr.Unsupported, "", "is not there yet")
}
