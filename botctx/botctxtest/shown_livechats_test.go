package botctxtest_test

// showingLiveChats are the operations on groups and agents, and the sends of live chat.
var showingLiveChats = map[string]shown{
	"getGroup":                  {nothing: "getGroup finds nothing", constant: "getGroup makes one up"},
	"getGroupByExternalId":      {nothing: "getGroupByExternalId finds nothing", constant: "getGroupByExternalId makes one up"},
	"getGroupByGroupExternalId": {nothing: "getGroupByGroupExternalId finds nothing", constant: "getGroupByGroupExternalId makes one up"},
	"getGroupByInletGroup":      {nothing: "getGroupByInletGroup finds nothing", constant: "getGroupByInletGroup makes one up"},
	"getGroupByMemberId":        {nothing: "getGroupByMemberId finds nothing", constant: "getGroupByMemberId makes one up"},
	"getAdmin":                  {nothing: "getAdmin finds nothing", constant: "getAdmin makes one up"},
	"getAdminByExternalId":      {nothing: "getAdminByExternalId finds nothing", constant: "getAdminByExternalId makes one up"},
	"updateGroup":               {nothing: "updateGroup does nothing", constant: "updateGroup is constant"},
	"updateGroupMeta":           {nothing: "updateGroupMeta does nothing", constant: "updateGroupMeta is constant"},
	"inactivateGroup":           {nothing: "inactivateGroup does nothing", constant: "inactivateGroup tells of another record"},
	"handleAdminJoinedGroup": {
		nothing: "handleAdminJoinedGroup records nothing", constant: "handleAdminJoinedGroup tells a link that does not work",
		defaults: map[string]string{"isRenewGroupInviteLink": "handleAdminJoinedGroup makes no link by default"},
	},
	"createBravoGroup": {
		nothing: "createBravoGroup makes none", constant: "createBravoGroup gives each the same id",
		defaults: map[string]string{"requireInvitationLink": "createBravoGroup makes no link by default"},
	},
	"disableBravoGroupInviteLink": {
		nothing: "disableBravoGroupInviteLink does nothing", constant: "disableBravoGroupInviteLink answers with a constant",
	},
	"setBravoGroupIcon":        {nothing: "setBravoGroupIcon does nothing", constant: "setBravoGroupIcon does nothing"},
	"createHotelChannel":       {nothing: "createHotelChannel makes none", constant: "createHotelChannel gives one id"},
	"sendMessageToInlet":       {nothing: "sendMessageToInlet sends nothing", constant: "sendMessageToInlet is constant"},
	"sendMessageToInletGroup":  {nothing: "sendMessageToInletGroup sends nothing", constant: "sendMessageToInletGroup is constant"},
	"sendMessageToOutletGroup": {nothing: "sendMessageToOutletGroup sends nothing", constant: "sendMessageToOutletGroup is constant"},
	"saveGroupIdToMember": {
		nothing: "saveGroupIdToMember keeps nothing", constant: "saveGroupIdToMember answers with a constant",
	},
}

// showingDeliveries are the sends beside sendResponse, and the utilities.
var showingDeliveries = map[string]shown{
	"sendAlphaResponse": {
		nothing: "sendAlphaResponse does nothing: ReachesTheMember", constant: "sendAlphaResponse is constant",
	},
	"sendAlphaResponseToMemberIds": {
		nothing: "sendAlphaResponseToMemberIds does nothing: ReachesEach", constant: "sendAlphaResponseToMemberIds is constant",
	},
	"sendHotelResponse": {
		nothing: "sendHotelResponse does nothing: ReachesTheRecipient", constant: "sendHotelResponse is constant",
	},
	"sendDeltaResponse": {
		nothing: "sendDeltaResponse does nothing: ReachesEach", constant: "sendDeltaResponse is constant",
	},
	"alphaCreateBroadcast": {
		nothing: "alphaCreateBroadcast does nothing: StoresTheMessage", constant: "alphaCreateBroadcast is constant",
	},
	"alphaSendBroadcast": {
		nothing: "alphaSendBroadcast does nothing: ReachesTheLabelled", constant: "alphaSendBroadcast is constant",
	},
	"alphaGetAttachmentId": {
		nothing: "alphaGetAttachmentId does nothing: GivesAnIDForMessages", constant: "alphaGetAttachmentId is constant",
	},
	"alphaPassThreadControl": {
		nothing: "alphaPassThreadControl does nothing: TakesTheConversationAway", constant: "alphaPassThreadControl is constant",
	},
	"alphaSaveCustomLabel": {
		nothing: "alphaSaveCustomLabel does nothing: AnswersAsDocumented", constant: "alphaSaveCustomLabel is constant",
	},
	"alphaRemoveCustomLabel": {
		nothing: "alphaRemoveCustomLabel does nothing: TakesTheLabelOff", constant: "alphaRemoveCustomLabel is constant",
	},
	"savePostCommentAnalytics": {
		nothing: "savePostCommentAnalytics does nothing: RecordsTheComment", constant: "savePostCommentAnalytics is constant",
		defaults: map[string]string{"isMatched": "savePostCommentAnalytics matches all"},
	},
	"charlieArchiveConversation": {
		nothing: "charlieArchiveConversation does nothing: EndsTheConversation", constant: "charlieArchiveConversation is constant",
	},
	"updateMessage": {
		nothing: "updateMessage does nothing: ChangesTheMessage", constant: "updateMessage is constant",
	},
	"EchoSaveMemberTag": {
		nothing: "EchoSaveMemberTag does nothing: KeepsTheLimit", constant: "EchoSaveMemberTag is constant",
	},
	"uploadFileToObjectStore": {
		nothing: "uploadFileToObjectStore does nothing: StoresTheFile", constant: "uploadFileToObjectStore is constant",
	},
	"sendEmail": {
		nothing: "sendEmail does nothing: SendsTheMail", constant: "sendEmail does nothing: SendsTheMail",
		defaults: map[string]string{
			"message.Subject.Charset":   "sendEmail has a subject in ASCII by default",
			"message.Body.Text.Charset": "sendEmail has a text in ASCII by default",
			"message.Body.Html.Charset": "sendEmail has HTML in ASCII by default",
		},
	},
	"golf": {nothing: "golf knows no accounts", constant: "golf gives all accounts"},
}
