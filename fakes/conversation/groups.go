package conversation

import "errors"

func (a JoinsGroup) do(on *Session) error {
	actor := on.Actor(a.By)
	switch {
	case a.By == "":
		return usagef("nobody is named who joins the group: By is a name")
	case actor == nil:
		return usagef("%s is an agent: members join groups", a.By)
	case actor.Scope().GroupExternalID != "":
		return usagef("%s speaks in a group: who joins another one is called by her own name", a.By)
	case a.Group == "":
		return usagef("a group has an id, such as \"family\"")
	}
	if err := on.isFree(a.named()); err != nil {
		return err
	}
	on.join(&person{name: a.named(), actor: actor.InGroup(a.Group)})
	return nil
}

// named returns what a conversation calls the member in the group.
func (a JoinsGroup) named() string { return a.By + inGroup + a.Group }

// inGroup stands between the name of a member and that of a group.
const inGroup = " in "

func (a JoinsGroup) lines() []string {
	return []string{nameOf(a.By) + " joins the group " + idOf(a.Group)}
}

func (a JoinsGroup) code(of *names, _ done) call {
	return call{receiver: of.of[a.By], name: "InGroup", args: []string{quoted(a.Group)}}
}

func (p *reader) joinsGroup(found []string) error {
	by, err := readName(found[0])
	group, badGroup := readID(found[1])
	if err := errors.Join(err, badGroup); err != nil {
		return err
	}
	p.begin(JoinsGroup{By: by, Group: group})
	return nil
}
