package send

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
)

func errStub() error { return boterr.New(boterr.Unsupported, "", "is not there yet") }

// SendAlphaResponse implements Operations.
func (s *Service) SendAlphaResponse(_ context.Context, _ SendAlphaResponseParams) (Result, error) {
	return Result{}, errStub()
}

// SendAlphaResponseToMemberIDs implements Operations.
func (s *Service) SendAlphaResponseToMemberIDs(_ context.Context, _ SendAlphaResponseToMemberIDsParams) (SendAlphaResponseToMemberIDsResult, error) {
	return SendAlphaResponseToMemberIDsResult{}, errStub()
}

// SendHotelResponse implements Operations.
func (s *Service) SendHotelResponse(_ context.Context, _ SendHotelResponseParams) (Result, error) {
	return Result{}, errStub()
}

// SendDeltaResponse implements Operations.
func (s *Service) SendDeltaResponse(_ context.Context, _ SendDeltaResponseParams) (SendDeltaResponseResult, error) {
	return SendDeltaResponseResult{}, errStub()
}

// AlphaCreateBroadcast implements Operations.
func (s *Service) AlphaCreateBroadcast(_ context.Context, _ AlphaCreateBroadcastParams) (AlphaCreateBroadcastResult, error) {
	return AlphaCreateBroadcastResult{}, errStub()
}

// AlphaSendBroadcast implements Operations.
func (s *Service) AlphaSendBroadcast(_ context.Context, _ AlphaSendBroadcastParams) (AlphaSendBroadcastResult, error) {
	return AlphaSendBroadcastResult{}, errStub()
}

// AlphaGetAttachmentID implements Operations.
func (s *Service) AlphaGetAttachmentID(_ context.Context, _ AlphaGetAttachmentIDParams) (AlphaGetAttachmentIDResult, error) {
	return AlphaGetAttachmentIDResult{}, errStub()
}

// AlphaPassThreadControl implements Operations.
func (s *Service) AlphaPassThreadControl(_ context.Context, _ AlphaPassThreadControlParams) (AlphaPassThreadControlResult, error) {
	return AlphaPassThreadControlResult{}, errStub()
}

// AlphaSaveCustomLabel implements Operations.
func (s *Service) AlphaSaveCustomLabel(_ context.Context, _ AlphaSaveCustomLabelParams) (AlphaSaveCustomLabelResult, error) {
	return AlphaSaveCustomLabelResult{}, errStub()
}

// AlphaRemoveCustomLabel implements Operations.
func (s *Service) AlphaRemoveCustomLabel(_ context.Context, _ AlphaRemoveCustomLabelParams) (AlphaRemoveCustomLabelResult, error) {
	return AlphaRemoveCustomLabelResult{}, errStub()
}

// SavePostCommentAnalytics implements Operations.
func (s *Service) SavePostCommentAnalytics(_ context.Context, _ SavePostCommentAnalyticsParams) (SavePostCommentAnalyticsResult, error) {
	return SavePostCommentAnalyticsResult{}, errStub()
}

// CharlieArchiveConversation implements Operations.
func (s *Service) CharlieArchiveConversation(_ context.Context, _ CharlieArchiveConversationParams) (CharlieArchiveConversationResult, error) {
	return CharlieArchiveConversationResult{}, errStub()
}

// UpdateMessage implements Operations.
func (s *Service) UpdateMessage(_ context.Context, _ UpdateMessageParams) (UpdateMessageResult, error) {
	return UpdateMessageResult{}, errStub()
}

// EchoSaveMemberTag implements Operations.
func (s *Service) EchoSaveMemberTag(_ context.Context, _ EchoSaveMemberTagParams) (EchoSaveMemberTagResult, error) {
	return EchoSaveMemberTagResult{}, errStub()
}
