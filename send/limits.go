package send

// The limits of the specification. Texts are counted in Unicode code points.
const (
	// MaxText is the most characters of a text, that above quick replies and buttons included.
	MaxText = 2000
	// MaxQuickReplies is the most quick replies of a message, MaxQuickReplyTitle and
	// MaxQuickReplyPayload the most characters of the title and the payload of one.
	MaxQuickReplies      = 13
	MaxQuickReplyTitle   = 20
	MaxQuickReplyPayload = 1000
	// MaxButtons is the most buttons of a message or a card, MaxButtonTitle the most
	// characters of the title of one.
	MaxButtons     = 3
	MaxButtonTitle = 20
	// MaxCards is the most cards of a carousel, MaxCardTitle the most characters of the title
	// and of the subtitle of one.
	MaxCards     = 10
	MaxCardTitle = 80
	// MaxArticles is the most articles of a message of TypeNews.
	MaxArticles = 1
	// MaxFileMegabytes is the most megabytes of a file, in a message or uploaded. A size that
	// is known is compared with so many MiB.
	MaxFileMegabytes = 25
	// MaxMemberTags is the most tags that one user of one Echo account has.
	MaxMemberTags = 20
)
