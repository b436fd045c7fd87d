package send

// AttachmentType is the kind of a file: TypeImage, TypeAudio, TypeVideo or TypeFile. JSON
// may give it in either case, such as "image", or as an object whose type is that.
type AttachmentType Type

// BroadcastID is Alpha's id of a stored message. JSON may give it as text, as a number, or
// as an object that has it: Alpha's reply, or the element of AlphaCreateBroadcast's result.
type BroadcastID string

// MessageTS is a message's timestamp on the platform, which is its id there, such as
// "1767225600.000100". JSON may give it as text or as a number.
type MessageTS string
