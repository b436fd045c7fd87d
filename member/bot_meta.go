package member

import "github.com/botctx/go-sdk/document"

// The fields of botMeta that are known.
const (
	fieldLiveChat        = "liveChat"
	fieldSubscribe       = "subscribe"
	fieldTempData        = "tempData"
	fieldNodeCompositeID = "nodeCompositeId"
	fieldTree            = "tree"
)

// BotMeta is what the bot keeps about a conversation: a document.Object with
// accessors for the fields that are known. Its zero value works. Others are set and
// read as in any object:
//
//	m.BotMeta.Set("tempData.choice", 1)
//	choice := document.Get(m.BotMeta, "tempData.choice", 0)
type BotMeta struct{ document.Object }

// LiveChat reports whether the member is in a live chat.
func (b BotMeta) LiveChat() bool { return document.Get(b, fieldLiveChat, false) }

// Subscribe reports whether the bot may write to the member unasked: true unless
// "subscribe" is false.
func (b BotMeta) Subscribe() bool { return document.Get(b, fieldSubscribe, true) }

// TempData returns the scratch data of the conversation, the zero Object where there
// is none.
func (b BotMeta) TempData() document.Object {
	return document.Get(b, fieldTempData, document.Object{})
}

// NodeCompositeID returns the id of the node at which the conversation stands, or "".
func (b BotMeta) NodeCompositeID() string { return document.Get(b, fieldNodeCompositeID, "") }

// Tree returns the id of the tree in which the conversation stands, or "".
func (b BotMeta) Tree() string { return document.Get(b, fieldTree, "") }

// SetPosition sets the node at which the conversation stands, and its tree.
func (b *BotMeta) SetPosition(nodeCompositeID, tree string) {
	b.Set(fieldNodeCompositeID, nodeCompositeID)
	b.Set(fieldTree, tree)
}

// EncodeValue returns the object.
func (b BotMeta) EncodeValue() (any, error) { return b.Object, nil }

// DecodeValue reads an object.
func (b *BotMeta) DecodeValue(value any) error { return document.DecodeValue(value, &b.Object) }
