package channel

// BotID returns what the bot is called on the channel's platform, as the channel's info says:
// the page's, the bot's or the business's id. "" where it does not say.
func (c *Channel) BotID() string {
	switch info := c.Info.(type) {
	case AlphaInfo:
		return info.PageID
	case BravoInfo:
		return info.WaID
	case CharlieInfo:
		return info.BotID
	case DeltaInfo:
		return info.TbID
	case EchoInfo:
		return info.BotOpenID
	default:
		return ""
	}
}
