package conversation

// cast knows to whom an answer goes that names nobody: to who acted last, and before anybody did to the
// first member.
type cast struct{ speaker string }

// acts notes an act.
func (c *cast) acts(act Act) {
	if added, isMember := act.(AddMember); isMember && c.speaker == "" {
		c.speaker = added.Name
	}
	if by := act.by(); by != "" {
		c.speaker = by
	}
}
